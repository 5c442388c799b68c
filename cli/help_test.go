package cli

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"jcode/cli/console"
	"jcode/internal/commandline"
)

// wholeLine is the command line.
func wholeLine(t *testing.T) *commandline.Command {
	t.Helper()
	line, err := commandLine(&grammar{})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestHelpFitsOneScreenAndNamesEverything(t *testing.T) {
	var out, errs bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, Streams{Streams: console.Streams{Out: &out, Err: &errs, Getenv: func(string) string { return "" }}}); err != nil {
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
	app := wholeLine(t)
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
	if err := run(t.Context(), []string{"doctor", "--help"}, Streams{Streams: console.Streams{Out: &out, Err: &errs, Getenv: func(string) string { return "" }}}); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "--offline") || strings.Contains(s, "--max-steps") {
		t.Errorf("%s", s)
	}
}

func TestManPageIsThatOfTheGrammar(t *testing.T) {
	const page = "../docs/jcode.1"
	want := manPage(wholeLine(t))
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
func manPage(app *commandline.Command) string {
	var b strings.Builder
	b.WriteString(".TH JCODE 1\n.SH NAME\njcode \\- a coding agent in the terminal\n.SH SYNOPSIS\n.B jcode\n[\\fIoptions\\fR] [\\fIprompt\\fR ...]\n.br\n.B jcode\n\\fIcommand\\fR [\\fIoptions\\fR]\n" +
		".SH DESCRIPTION\nWithout a command jcode chats in the current folder; with \\fB\\-p\\fR it answers one prompt on standard output.\n.SH OPTIONS\n")
	manFlags(&b, app.Flags)
	b.WriteString(".SH COMMANDS\n")
	manCommands(&b, app)
	b.WriteString(".SH EXIT STATUS\n0 done; 1 the model or provider failed; 2 usage or configuration; 3 stopped at a limit; 4 the answer does not fit the schema; 5 no whole answer; 6 jcode review \\-\\-fail\\-on found something; 129 SIGHUP; 130 SIGINT; 143 SIGTERM.\n" +
		".SH ENVIRONMENT\n" + manList(
		"JCODE_HOME", "One folder for configuration and data.",
		"XDG_CONFIG_HOME, XDG_DATA_HOME", "Otherwise, the parents of the two folders; ~/.config and ~/.local/share by default.",
		"JCODE_MODEL", "The model, as with --model.",
		"ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ...", "Keys of providers.",
		"OPENAI_BASE_URL", "An OpenAI-compatible endpoint.",
		"JCODE_RECORD", "A file that the session is written to as a script.",
		"VISUAL, EDITOR, PAGER", "Programs for writing a prompt and for jcode help.",
		"HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS", "Proxy and certificates.",
		"NO_COLOR", "No colours.",
	) + ".SH FILES\n" + manList(
		"~/.config/jcode/config.json", "Settings. jcode config path prints where it is.",
		"~/.config/jcode/{skills,commands,roles,themes,lua}", "Skills, commands, roles, themes and Lua of your own.",
		"~/.local/share/jcode/jcode.db", "Sessions, answers, and what is known of trust.",
		"~/.local/share/jcode/snapshots", "What undo of commands needs.",
		".jcode/", "Settings, skills, commands, roles and Lua of a project.",
		"AGENTS.md, CLAUDE.md, .mcp.json", "Instructions and MCP servers of a project.",
	) + ".SH EXAMPLES\n" + manList(
		"jcode", "Chat in this folder.",
		"jcode -c", "Continue the last session of this folder.",
		"jcode -p \"why does TestParse fail?\"", "Answer once, on standard output.",
		"git diff | jcode -p \"review this\" --output-format json", "Answer about piped input, as JSON.",
		"jcode -p --mode edits --allow 'exec(go test *)' \"make the tests pass\"", "Work without asking, within limits.",
		"jcode help permissions", "Read a page of the manual.",
	) + ".SH SEE ALSO\njcode help TOPIC shows the manual, jcode help manual its contents. git(1), less(1).\n")
	return b.String()
}

// manList writes terms, each with its meaning.
func manList(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(pairs[i]), roff(pairs[i+1]))
	}
	return b.String()
}

func manCommands(b *strings.Builder, node *commandline.Command) {
	for _, c := range node.Children {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(c.Path()), roff(c.Help))
		for _, p := range c.Args {
			fmt.Fprintf(b, ".TP\n%s\n%s\n", roff(p.Summary()), roff(p.Help))
		}
		manFlags(b, c.Flags)
		manCommands(b, c)
	}
}

func manFlags(b *strings.Builder, list []*commandline.Flag) {
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
			value = "=\\fI" + roff(f.Metavar()) + "\\fR"
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

// parse fills g from arguments.
func parse(g *grammar, args []string) (*commandline.Command, error) {
	line, err := commandLine(g)
	if err != nil {
		return nil, err
	}
	return line.Parse(prepare(args))
}

func TestWordsArePromptsOrCommands(t *testing.T) {
	for _, c := range []struct {
		args, command string
		prompt        []string
	}{
		{"", "chat", nil},
		{"fix the tests", "chat", []string{"fix", "the", "tests"}},
		{"-m ID fix -p it", "chat", []string{"fix", "it"}},
		{"-p hi", "chat", []string{"hi"}},
		{"-pm a/b x", "chat", []string{"x"}},
		{"-- doctor", "chat", []string{"doctor"}},
		{"-p -- mcp list", "chat", []string{"mcp", "list"}},
		{"-p what -- -x", "chat", []string{"what", "-x"}},
		{"-C . doctor", "doctor", nil},
		{"--model tools doctor --offline", "doctor", nil},
		{"mcp --json", "list", nil},
		{"models gpt-5", "show", nil},
		{"--resume=? -C . go", "chat", []string{"go"}},
	} {
		var g grammar
		chosen, err := parse(&g, strings.Fields(c.args))
		if err != nil || chosen.Name != c.command || !slices.Equal(g.Chat.Prompt, c.prompt) {
			t.Errorf("%q: %v, prompt %q, %v", c.args, chosen.Path(), g.Chat.Prompt, err)
		}
	}
}

func TestFaultsOfTheCommandLineSayWhatToDo(t *testing.T) {
	for args, want := range map[string]string{
		"--nonsense":          "unknown flag --nonsense",
		"--prnt":              `unknown flag --prnt, did you mean "--print"?`,
		"-pZ":                 "unknown flag -Z",
		"--max-steps x":       `--max-steps: "x" is not a whole number`,
		"--max-steps=0":       "--max-steps: a limit is a number above 0",
		"--output-format xml": `--output-format must be one of "text","json","stream-json" but got "xml"`,
		"--model":             "--model needs a value",
		"-p -m":               "-m needs a value",
		"-m -p hi":            "-m needs a value; if -p is meant, write --model=-p",
		"--print=maybe":       `--print: is on or off: true, 1, yes, false, 0 or no, not "maybe"`,
		"mcp nonsense":        "unexpected argument nonsense",
		"mcp get a b":         "unexpected argument b",
		"mcp get":             `expected "<name>"`,
		"sessions rm":         `expected "<sessions> ..."`,
		"sessions list -n x":  `--limit: "x" is not a whole number`,
		"lua":                 `expected one of "new", "check", "run", "stubs"`,
		"lua chek":            `unexpected argument chek, did you mean "check"?`,
		"completion foo":      `<shell> must be one of "bash","zsh","fish" but got "foo"`,
	} {
		var g grammar
		if _, err := parse(&g, strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
}

func TestTheServersFolderIsNotThatOfTheRun(t *testing.T) {
	var g grammar
	words := []string{"--cwd", "here", "mcp", "add", "x", "--cwd=there", "-e", "A=a,b", "-eB=c", "--", "run", "--cwd", "other"}
	if _, err := parse(&g, words); err != nil {
		t.Fatal(err)
	}
	add := g.MCP.Add
	if g.Cwd != "here" || add.Dir != "there" || !slices.Equal(add.Env, []string{"A=a,b", "B=c"}) || !slices.Equal(add.Command, []string{"run", "--cwd", "other"}) {
		t.Errorf("run in %q, server in %q, env %q, command %q", g.Cwd, add.Dir, add.Env, add.Command)
	}
}
