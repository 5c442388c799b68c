package commandline_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"jcode/internal/commandline"
)

type line struct {
	Loud bool     `short:"l" help:"Say more."`
	Name string   `env:"COMMANDLINE_TEST_NAME" default:"nobody" help:"Who."`
	Tags []string `help:"Which."`
	Raw  []string `sep:"none"`

	Show showCmd `cmd:"" default:"withargs" help:"Show them."`
	Copy copyCmd `cmd:"" help:"Copy it."`
}

type showCmd struct {
	Words []string `arg:"" optional:"" help:"What."`
}

type copyCmd struct {
	How  string   `enum:"fast,slow" default:"slow" help:"One of ${enum}."`
	From string   `arg:"" help:"Whence."`
	To   string   `arg:"" optional:"" default:"here" help:"Where."`
	Rest []string `dash:""`
}

func read(t *testing.T, words ...string) (line, *commandline.Command, error) {
	t.Helper()
	var l line
	root, err := commandline.Of("prog", &l)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := root.Parse(words)
	return l, chosen, err
}

func TestWordsFillTheStruct(t *testing.T) {
	l, c, err := read(t, "-l", "copy", "--how=fast", "a", "--tags", "x,y", "--raw", "p,q", "b", "--tags=z", "--", "-l", "--", "end")
	if err != nil || c.Path() != "prog copy" || c.Target == nil {
		t.Fatalf("%v, %v", c, err)
	}
	if !l.Loud || l.Name != "nobody" || l.Copy.How != "fast" || l.Copy.From != "a" || l.Copy.To != "b" ||
		!slices.Equal(l.Tags, []string{"x", "y", "z"}) || !slices.Equal(l.Raw, []string{"p,q"}) || !slices.Equal(l.Copy.Rest, []string{"-l", "--", "end"}) {
		t.Errorf("%+v", l)
	}
	t.Setenv("COMMANDLINE_TEST_NAME", "somebody")
	if l, c, err = read(t, "what", "-l", "--", "copy"); err != nil || c.Name != "show" || l.Name != "somebody" || !slices.Equal(l.Show.Words, []string{"what", "copy"}) {
		t.Errorf("%+v %v", l, err)
	}
	if l, _, err = read(t, "copy", "a", "--name", "me"); err != nil || l.Name != "me" || l.Copy.How != "slow" || l.Copy.To != "here" || l.Copy.Rest != nil {
		t.Errorf("%+v %v", l, err)
	}
}

func TestHelpIsOfTheCommandThatWasNamed(t *testing.T) {
	for words, want := range map[string]string{
		"-h":               "Usage: prog <command> [flags]",
		"copy --help":      "Usage: prog copy <from> [<to>] [flags]",
		"copy -lh a":       "Usage: prog copy <from> [<to>] [flags]",
		"show --help what": "Usage: prog show [<words> ...] [flags]",
	} {
		_, c, err := read(t, strings.Fields(words)...)
		if !errors.Is(err, commandline.ErrHelp) {
			t.Fatalf("%s: %v", words, err)
		}
		var b bytes.Buffer
		if err := c.PrintHelp(&b, "the end"); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), want+"\n") || !strings.HasSuffix(b.String(), "\n\nthe end\n") {
			t.Errorf("%s:\n%s", words, b.String())
		}
	}
}

// A command that takes no words is no command where words follow: they are a sentence that begins with its name.
func TestASentenceMayBeginWithTheNameOfACommand(t *testing.T) {
	type bare struct {
		JSON bool `name:"json"`
	}
	for words, want := range map[string]string{
		"check": "check", "check --json": "check", "-v check": "check", "check this please": "show check this please", "-v check this": "show check this", "copy this": "copy",
	} {
		var l struct {
			V     bool    `short:"v"`
			Show  showCmd `cmd:"" default:"withargs"`
			Copy  copyCmd `cmd:""`
			Check bare    `cmd:""`
		}
		root, err := commandline.Of("prog", &l)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := root.Parse(strings.Fields(words))
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if got := strings.Join(append([]string{chosen.Name}, l.Show.Words...), " "); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
	if _, _, err := read(t, "copy"); err == nil {
		t.Error("a missing word is no error")
	}
}
