package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/paths"
	"jcode/tools/permission/repository"
	"jcode/tools/permission/shell"
)

// places is the workspace in which lines are judged.
type places struct{ root, home string }

func (p places) Roots() []string         { return []string{p.root} }
func (p places) Start() string           { return p.root }
func (p places) Home() string            { return p.home }
func (p places) Inside(path string) bool { return paths.Within(p.root, path) }
func (p places) Show(path string) string { return path }

func scene(t testing.TB) shell.Scene {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := places{filepath.Join(base, "project"), filepath.Join(base, "home")}
	for _, dir := range []string{p.root, p.home, filepath.Join(p.root, "sub")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return shell.Scene{Places: p, Dir: p.root, Look: func(string) repository.Finding { return repository.Finding{} }}
}

func TestLineIsTakenApart(t *testing.T) {
	at := scene(t)
	for line, want := range map[string]string{
		"ls -l && cat 'a b'; echo $X": "ls -l | cat 'a b' | echo $X",
		"sh -c 'make x; rm y'":        "sh -c 'make x; rm y' | make x | rm y",
		"echo $(date)":                "date | echo $(date)",
		"X=1 make > out":              "X=1 make >out",
		"if a; then b; else c; fi":    "a | b | c",
		"env A=b c":                   "env A=b c",
	} {
		var got []string
		for _, c := range shell.Analyse(line, at).Commands {
			got = append(got, c.Text)
		}
		if strings.Join(got, " | ") != want {
			t.Errorf("%s is taken apart into %q, want %q", line, got, want)
		}
	}
}

func TestFilesOfALineAreNamed(t *testing.T) {
	at := scene(t)
	for line, want := range map[string]struct{ opens, changes string }{
		"cat a.go":               {"a.go", ""},
		"cat < a.go > b":         {"a.go", "b"},
		"cp a b":                 {"a b", "a b"},
		"echo a":                 {"", ""},
		"cd sub && cat $PWD/x":   {"", ""}, // which folder that is depends on the cd
		"cat $PWD/x \"${HOME}\"": {"x ~", ""},
		"grep -e x -f list a":    {"list a", ""},
		"egrep -- --recursive a": {"a", ""}, // after the two dashes it is the text to search for
		"grep -e x -- -f":        {"-f", ""},
		"grep a b --regexp x":    {"b a", ""}, // a later flag names the text
		"grep a b -nex":          {"b a", ""},
		"rg a b -e x":            {"b a", ""},
		"{ cat; } < a":           {"a", ""},
		"dd if=a of=b":           {"if=a a of=b b", "if=a a of=b b"},
	} {
		rel := func(list []string) string {
			var out []string
			for _, p := range list {
				if p == at.Places.Home() {
					p = "~"
				} else if r, err := filepath.Rel(at.Dir, p); err == nil {
					p = r
				}
				out = append(out, filepath.ToSlash(p))
			}
			return strings.Join(out, " ")
		}
		var opens, changes []string
		for _, c := range shell.Analyse(line, at).Commands {
			if strings.HasPrefix(c.Text, "cd ") {
				continue
			}
			opens, changes = append(opens, c.Opens...), append(changes, c.Changes...)
		}
		if rel(opens) != want.opens || rel(changes) != want.changes {
			t.Errorf("%s opens %q and changes %q, want %+v", line, rel(opens), rel(changes), want)
		}
	}
}

// FuzzLines checks that no text makes the analysis panic, and that a line that is considered
// read-only has no doubt.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"ls | head", "git log -S/x a", "cat <<E\n$x\nE", "for x in a; do cat \"$x\"; done", "a[$(b)]=c", "rg -nfx", "{ a; } 2>&1 <x", "$'\\x00'", "test -f $HOME/x", "sh -c \"sh -c 'a'\""} {
		f.Add(s)
	}
	at := scene(f)
	f.Fuzz(func(t *testing.T, line string) {
		l := shell.Analyse(line, at)
		if l.OnlyReads() && (l.Doubt != "" || l.Opaque) {
			t.Errorf("%q: %+v", line, l)
		}
		for i, c := range l.Commands {
			if c.Why == "" {
				t.Errorf("%q: %q has no reason", line, c.Text)
			}
			if l.PinOf(i).Unknown && c.ReadOnly {
				t.Errorf("%q: %q only reads and has a pin", line, c.Text)
			}
		}
	})
}

// A wrapper's words may be a command themselves, at each level of nesting. What they name is looked
// up once, so that the cost of a long line grows with its words, not with words times depth.
func TestNestedWrappersAskForEachFileOnce(t *testing.T) {
	at := scene(t)
	asked := func(line string) int {
		_, n := shell.AnalyseAsking(line, at)
		return n
	}
	words := " a b* ./c sub/d /etc/e"
	one := asked("eval" + words)
	for name, line := range map[string]string{
		"an eval in an eval":      strings.Repeat("eval ", 100) + words,
		"quotes in quotes":        strings.Repeat("eval '", 100) + words,
		"quotes that close":       strings.Repeat("eval '", 101) + words + strings.Repeat("'", 101),
		"the same words again":    "eval" + strings.Repeat(words, 100),
		"other wrappers between":  strings.Repeat("eval nice env ", 100) + words,
		"commands beside another": strings.Repeat("eval"+words+"; ", 100),
	} {
		if n := asked(line); n > 4*one {
			t.Errorf("%s: the file system is asked %d times, and %d times for the words alone", name, n, one)
		}
	}
}
