package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// commandLine is the parser's model of the command line.
func commandLine(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := newParser(&grammar{}, Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

func TestHelpFitsOneScreenAndNamesEverything(t *testing.T) {
	var out, errs bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, Streams{Out: &out, Err: &errs, Getenv: func(string) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if len(lines) < 24 || len(lines) > 40 {
		t.Errorf("it has %d lines", len(lines))
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("longer than 80 columns: %s", l)
		}
	}
	app := commandLine(t)
	for _, f := range app.Flags {
		if !f.Hidden && !regexp.MustCompile(`--`+f.Name+`\b`).Match(out.Bytes()) {
			t.Errorf("--%s is missing", f.Name)
		}
	}
	for _, c := range app.Children {
		if !c.Hidden && !regexp.MustCompile(`(^|\s)`+c.Name+`\s\s`).Match(out.Bytes()) {
			t.Errorf("%s is missing", c.Name)
		}
	}
	known := map[string]bool{}
	for _, f := range app.Flags {
		known[f.Name] = true
	}
	for _, m := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(out.String(), -1) {
		if !known[m[1]] {
			t.Errorf("there is no --%s", m[1])
		}
	}
}

func TestHelpOfACommandShowsItsOwnFlags(t *testing.T) {
	var out, errs bytes.Buffer
	if err := run(t.Context(), []string{"doctor", "--help"}, Streams{Out: &out, Err: &errs, Getenv: func(string) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "--offline") || strings.Contains(s, "--max-steps") {
		t.Errorf("%s", s)
	}
}

func TestManPageIsThatOfTheGrammar(t *testing.T) {
	const page = "../docs/jcode.1"
	want := manPage(commandLine(t))
	got, err := os.ReadFile(page)
	if err == nil && string(got) == want {
		return
	}
	if !*updateDocs {
		t.Fatalf("%s is old: run go test ./cli -run ManPage -update-docs (%v)", page, err)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// manPage returns the manual page of the program.
func manPage(app *kong.Application) string {
	var b strings.Builder
	b.WriteString(".TH JCODE 1\n.SH NAME\njcode \\- a coding agent in the terminal\n.SH SYNOPSIS\n.B jcode\n[\\fIoptions\\fR] [\\fIprompt\\fR ...]\n.br\n.B jcode\n\\fIcommand\\fR [\\fIoptions\\fR]\n" +
		".SH DESCRIPTION\nWithout a command jcode chats in the current folder; with \\fB\\-p\\fR it answers one prompt on standard output.\n.SH OPTIONS\n")
	manFlags(&b, app.Flags)
	b.WriteString(".SH COMMANDS\n")
	manCommands(&b, app.Node)
	b.WriteString(".SH EXIT STATUS\n0 done; 1 the model or provider failed; 2 usage or configuration; 3 stopped at a limit; 129 SIGHUP; 130 SIGINT; 143 SIGTERM.\n" +
		".SH ENVIRONMENT\n\\fBJCODE_HOME\\fR, \\fBXDG_CONFIG_HOME\\fR, \\fBXDG_DATA_HOME\\fR, \\fBJCODE_MODEL\\fR, \\fBJCODE_RECORD\\fR, \\fBOPENAI_API_KEY\\fR, \\fBOPENAI_BASE_URL\\fR, \\fBNO_COLOR\\fR.\n")
	return b.String()
}

func manCommands(b *strings.Builder, node *kong.Node) {
	for _, c := range node.Children {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(c.Path()), roff(c.Help))
		for _, p := range c.Positional {
			fmt.Fprintf(b, ".TP\n%s\n%s\n", roff(p.Summary()), roff(p.Help))
		}
		manFlags(b, c.Flags)
		manCommands(b, c)
	}
}

func manFlags(b *strings.Builder, list []*kong.Flag) {
	for _, f := range list {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		value := ""
		if !f.IsBool() {
			value = "=\\fI" + roff(strings.Trim(f.FormatPlaceHolder(), `"`)) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR%s\n%s\n", roff(name), value, roff(f.Help))
	}
}

// roff escapes one line of text for the manual's markup.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// A chat is parsed with a part of the grammar: the result must be the same, and no command may be taken for a
// prompt.
func TestChatIsParsedAsByTheWholeGrammar(t *testing.T) {
	for _, c := range commandLine(t).Children {
		if !namesCommand([]string{"-m", "x", c.Name}) {
			t.Errorf("%s is not known as a command", c.Name)
		}
	}
	std := Streams{Out: io.Discard, Err: io.Discard}
	for _, args := range [][]string{
		{},
		{"fix", "the tests"},
		{"-p", "hi"},
		{"-c", "--fork", "--mode", "plan"},
		{"--resume=?", "-C", ".", "go"},
		{"--allow", "exec(a, b)", "--deny=fetch", "--add-dir", "x", "--add-dir", "y"},
		{"-p", "--output-format", "json", "--max-steps=3", "--max-cost", "0.5", "x"},
		{"-pm", "a/b", "x"},
		{"--version"},
		{"--debug", "explain", "this"},
	} {
		var whole grammar
		parser, err := newParser(&whole, std)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(args); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		var chat chatGrammar
		if parser, err = parserOf(&chat, &chat.flags, std); err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(args); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		if !reflect.DeepEqual(whole.flags, chat.flags) || !slices.Equal(whole.Chat.Prompt, chat.Chat.Prompt) {
			t.Errorf("%v: %+v and %+v", args, whole.flags, chat)
		}
	}
	for _, args := range [][]string{{"--", "doctor"}, {"-p", "--", "mcp", "list"}} {
		if _, parsed, err := parse(t.Context(), args, std); err != nil || !strings.HasPrefix(parsed.Command(), "chat") {
			t.Errorf("%v: is not a prompt: %v", args, err)
		}
	}
	for _, args := range [][]string{{"--nonsense"}, {"--max-steps", "x"}, {"--output-format", "xml"}} {
		if _, _, err := parse(t.Context(), args, std); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
