package skills

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Whatever an argument contains and whichever quotes the line puts around it, a shell reads it as
// one word, and the line stays one simple command.
func FuzzShellLineKeepsArgumentsAsWords(f *testing.F) {
	for _, args := range []string{"a b", "; rm x", "$(x) `y`", `"it's" \ "`, "'a", "$1 $ARGUMENTS", "*.go ~ {a,b} !x", "\\", "漢 \t\n x"} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if strings.ContainsRune(args, 0) || !utf8.ValidString(args) {
			return // neither is possible in a command line
		}
		if strings.ContainsRune(args, '\r') {
			return // the parser of this test drops it, shells do not
		}
		g := parseArguments(args)
		for line, want := range map[string][]string{
			"cmd $1":             {"cmd", g.word(1)},
			`cmd "$1" '$2'`:      {"cmd", g.word(1), g.word(2)},
			"cmd $ARGUMENTS end": slices.Concat([]string{"cmd"}, g.words, []string{"end"}),
			`cmd "x$1y" z'$1'`:   {"cmd", "x" + g.word(1) + "y", "z" + g.word(1)},
			`cmd "$ARGUMENTS"`:   {"cmd", g.all},
		} {
			text, err := shellText(line, g)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
			if err != nil {
				t.Fatalf("%s with %q: %q: %v", line, args, text, err)
			}
			if len(file.Stmts) != 1 {
				t.Fatalf("%s with %q: %q is %d commands", line, args, text, len(file.Stmts))
			}
			call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
			if !ok || len(file.Stmts[0].Redirs) > 0 || len(call.Assigns) > 0 {
				t.Fatalf("%s with %q: %q is not a simple command", line, args, text)
			}
			got, err := expand.Fields(&expand.Config{Env: expand.ListEnviron()}, call.Args...)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s with %q: %q: got %q, want %q (%v)", line, args, text, got, want, err)
			}
		}
	})
}

// Arguments never add a command to a line.
func FuzzArgumentsAddNoCommand(f *testing.F) {
	f.Add(`a "$1" '$2' $ARGUMENTS`, "'; x; '")
	f.Add("a \\\"$1 'b\"$1'", "\"; x; \"")
	f.Add("a <<E $1\nx\nE", "\nE\nx")
	commands := func(text string) (n int, ok bool) {
		file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
		if err != nil {
			return 0, false
		}
		syntax.Walk(file, func(node syntax.Node) bool {
			switch node.(type) {
			case *syntax.Stmt, *syntax.CmdSubst, *syntax.ParamExp, *syntax.ProcSubst:
				n++
			}
			return true
		})
		return n, true
	}
	f.Fuzz(func(t *testing.T, line, args string) {
		if strings.ContainsAny(line+args, "\x00\r") || !utf8.ValidString(line) || !utf8.ValidString(args) {
			return
		}
		text, err := shellText(line, parseArguments(args))
		if err != nil || text == line {
			return
		}
		plain, err := shellText(line, parseArguments("a b c d"))
		if err != nil {
			t.Fatal(err)
		}
		want, ok := commands(plain)
		if !ok {
			return
		}
		if got, ok := commands(text); !ok || got != want {
			t.Errorf("%q with %q: %q holds %d commands, want %d", line, args, text, got, want)
		}
	})
}

func TestArgumentsStandOnlyWhereTheyAreWords(t *testing.T) {
	t.Parallel()
	g := parseArguments("'; touch hacked; '")
	for _, line := range []string{
		`echo "$(echo '$1')"`, "echo $(cat $1)", "echo ok # $1", "cat <<E\n$1\nE", "cat <<'E'\n$ARGUMENTS\nE", "echo ${x:-$1}", "echo $((1+$1))",
		"[[ $1 ]]", "echo $'$1'", `echo $"$1"`, "diff <(ls $1) x", "f() { rm $1; }", "echo 'open $1", "echo \\\n$1",
	} {
		text, err := shellText(line, g)
		if err == nil && line != "echo \\\n$1" {
			t.Errorf("%q became %q", line, text)
		}
	}
	for _, line := range []string{"a $1 | b '$1' && c \"$1\"", "x=$1 cmd", "cmd > $1", "(cd x; ls $1)", "if a; then b $1; fi", "for f in $ARGUMENTS; do a $f; done", "$(date) plain"} {
		if _, err := shellText(line, g); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// A template inserts arguments unchanged and does not expand them again.
func FuzzTemplate(f *testing.F) {
	f.Add("a $ARGUMENTS b", "x")
	f.Add("$1 \\$1 @x !`y` $12 $0 $", "$1 $ARGUMENTS !`z`")
	f.Fuzz(func(t *testing.T, body, args string) {
		tpl := parseTemplate(body)
		var back strings.Builder
		for _, p := range tpl {
			switch p.kind {
			case shell:
				back.WriteString("!`" + p.text + "`")
			case file:
				back.WriteString("@" + p.raw)
			case arguments:
				back.WriteString("$ARGUMENTS")
			case word, literal:
				back.WriteString(p.text)
			}
		}
		if !strings.ContainsAny(body, `\$`) && back.String() != body {
			t.Errorf("%q came apart as %q", body, back.String())
		}
		g := parseArguments(args)
		got := parseTemplate("<$ARGUMENTS>").plain(g)
		if got != "<"+strings.TrimSpace(args)+">" {
			t.Errorf("%q became %q", args, got)
		}
	})
}

// Every item of an allowed-tools list is a rule, or is left out with a reason.
func FuzzRules(f *testing.F) {
	f.Add("Bash(git log:*), Read exec(a (b) c) mcp__x__y__z")
	f.Fuzz(func(t *testing.T, text string) {
		for _, item := range splitTools(text) {
			if rule, why := toolRule(item); (rule == "") == (why == "") {
				t.Errorf("%q: %q, %q", item, rule, why)
			}
		}
	})
}

// A SKILL.md of any bytes is read, or refused with a reason. A skill in use has a description and
// a name that can follow a slash.
func FuzzSkillFile(f *testing.F) {
	f.Add([]byte("---\nname: One Two\ndescription: [a, b]\nallowed-tools: Bash(x)\nmetadata: {a: b}\n---\nBody"))
	f.Add([]byte("---\nname: \"\x00\"\ndescription: >\n  x\n---"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := parse(data, "/skills/one/SKILL.md", Source{Label: "test", Dir: "/skills"})
		switch e.State {
		case Active:
			if again, changed := slug(e.Name); e.Name == "" || changed || again != e.Name || strings.TrimSpace(e.Description) == "" {
				t.Errorf("name %q, description %q", e.Name, e.Description)
			}
		case Broken:
			if firstOf(e.Diagnostics, "").Text == "cannot be used" {
				t.Error("no reason")
			}
		default:
			t.Errorf("state %s", e.State)
		}
		for _, d := range e.Diagnostics {
			if d.Text == "" || d.Cure == "" || strings.Contains(d.String(), "\n") {
				t.Errorf("diagnostic %q", d)
			}
		}
		for _, line := range strings.Split(catalogueLine(e.Skill, 240), "\n")[1:] {
			t.Errorf("a second line: %q", line)
		}
	})
}
