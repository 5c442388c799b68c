package skills_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/skills"
	"jcode/tools"
	"jcode/tools/command"
)

// host plays a conversation: its shell echoes the line, and its files are fixed.
type host struct {
	asker tools.Asker
	ran   []skills.ShellLine
	files map[string]string
}

func (h *host) Session() string    { return "s" }
func (h *host) Asker() tools.Asker { return h.asker }

func (h *host) Shell(_ context.Context, line skills.ShellLine) (string, error) {
	h.ran = append(h.ran, line)
	return "out of $1 !`x` @y\n", nil
}

func (h *host) ReadFile(_ context.Context, path string) (string, error) {
	if text, ok := h.files[path]; ok {
		return text, nil
	}
	return "", os.ErrNotExist
}

func (h *host) HasFile(path string) bool { return h.files[path] != "" }

// person gives the same answer to every question, and counts them.
type person struct {
	answer tools.AnswerScope
	asked  []tools.Question
}

func (p *person) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	p.asked = append(p.asked, q)
	if p.answer == "" {
		return tools.Answer{}, errors.New("nobody")
	}
	return tools.Answer{Scope: p.answer, Option: -1}, nil
}

// trust stores pins in memory.
type trust map[string]bool

func (t trust) Trusted(_ context.Context, i tools.TrustItem) (bool, error) {
	return t[string(i.Kind)+i.Name+i.Hash], nil
}

func (t trust) Unconfined(context.Context, tools.TrustItem) bool { return false }

func (t trust) Accept(_ context.Context, items []tools.TrustItem, _ bool) error {
	for _, i := range items {
		t[string(i.Kind)+i.Name+i.Hash] = true
	}
	return nil
}

// granted records the grants.
type granted struct{ rules []string }

func (g *granted) Allow(_ string, _ int, _ string, rules []string) {
	g.rules = append(g.rules, rules...)
}

func find(t *testing.T, src command.Source, name string) command.Command {
	t.Helper()
	for _, c := range src.List() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no command %s", name)
	return command.Command{}
}

func use(t *testing.T, src command.Source, name, args string) command.Outcome {
	t.Helper()
	out, err := find(t, src, name).Run(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestArgumentsAreTextNotTemplate(t *testing.T) {
	t.Parallel()
	const args = "$1 $ARGUMENTS !`date` @etc"
	w := newWorld(t)
	write(t, "First $1, all: $ARGUMENTS; !`echo $1 \"$2\"` end\n", w.places.Project, ".jcode/commands/cmd.md")
	write(t, "No place for them.\n", w.places.Project, ".jcode/commands/none.md")
	w.project("plain", skillMD("plain", "x", "Awk: {print $1}"))
	w.project("with", skillMD("with", "x", "Do: $ARGUMENTS"))
	h := &host{asker: &person{answer: tools.AnswerOnce}}
	files := skills.NewCommandFiles(w.places, trust{}, h)
	if out := use(t, files, "cmd", args); out.Prompt != "First $1, all: "+args+"; out of $1 !`x` @y end" || out.Shown != "/cmd "+args {
		t.Errorf("command: %+v", out)
	}
	if line := h.ran[0].Text; line != `echo '$1' "\$ARGUMENTS"` || h.ran[0].Approved {
		t.Errorf("ran %+v", h.ran[0])
	}
	if out := use(t, files, "none", args); out.Prompt != "No place for them.\n\nThe user's request: "+args {
		t.Errorf("command: %q", out.Prompt)
	}
	src := w.registry().Commands(h)
	if out := use(t, src, "plain", args); !strings.Contains(out.Prompt, "Awk: {print $1}") || !strings.HasSuffix(out.Prompt, "The user's request: "+args) {
		t.Errorf("skill: %q", out.Prompt)
	}
	if out := use(t, src, "with", args); !strings.Contains(out.Prompt, "Do: "+args+"\n") {
		t.Errorf("skill: %q", out.Prompt)
	}
	if len(h.ran) != 1 {
		t.Errorf("ran %+v", h.ran)
	}
}

func TestShellLineGetsArgumentsAsText(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, args, want string }{
		{"git log $1", "; rm x", "git log ';'"},
		{"git log $ARGUMENTS", `a "b c" $(x)`, "git log 'a' 'b c' '$(x)'"},
		{`echo "$1"`, "a`b\"c$d\\", "echo \"a\\`b\\\"c\\$d\\\\\""},
		{"echo '$1'", "it's", `echo 'it'\''s'`},
		{`echo "x" $1`, "a", `echo "x" 'a'`},
		{`echo \" $1`, "a b", `echo \" 'a'`},
		{"echo $HOME $$ $1x $ARGUMENTSx", "a", "echo $HOME $$ 'a'x $ARGUMENTSx"},
		{"echo $3", "a", "echo ''"},
		{`echo \$1 \\$1 '\$1'`, "a", `echo \$1 \\'a' '\a'`},
	}
	for _, tt := range tests {
		w := newWorld(t)
		write(t, "!`"+tt.line+"`", w.places.Config, "commands/c.md")
		h := &host{asker: &person{answer: tools.AnswerOnce}}
		if strings.Contains(tt.line, "`") {
			t.Fatal("no backtick can stand in a line")
		}
		use(t, skills.NewCommandFiles(w.places, trust{}, h), "c", tt.args)
		if h.ran[0].Text != tt.want {
			t.Errorf("%s with %s: ran %s, want %s", tt.line, tt.args, h.ran[0].Text, tt.want)
		}
	}
}

func TestCommandFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, "---\ndescription: Review: one file\nargument-hint: <file>\nmodel: openai/x\nallowed-tools: Bash(git log:*), Read\nother: 1\n---\n\nLook at @$1, and mail a@b.c. \\$1 \\@x\n",
		w.places.Project, ".claude/commands/group/Review.md")
	write(t, "# Say hello\n", w.places.Config, "commands/hello.md")
	write(t, "---\ndescription: x\n", w.places.Config, "commands/open.md")
	h := &host{files: map[string]string{"src/a.go": "package a"}, asker: &person{answer: tools.AnswerProject}}
	src := skills.NewCommandFiles(w.places, trust{}, h)
	c := find(t, src, "review")
	if c.Description != "Review: one file" || c.Hint != "<file>" || c.Origin != "command (project .claude)" {
		t.Errorf("%+v", c)
	}
	out := use(t, src, "review", "src/a.go")
	if out.Prompt != "Look at src/a.go, and mail a@b.c. $1 @x\n\n<file path=\"src/a.go\">\npackage a\n</file>" || out.Model != "openai/x" {
		t.Errorf("%+v", out)
	}
	if !slices.Equal(out.Allow, []string{"exec(git log *)", "read"}) {
		t.Errorf("allows %v", out.Allow)
	}
	if _, err := find(t, src, "review").Run(context.Background(), "missing.go"); err == nil || !strings.Contains(err.Error(), "@missing.go") {
		t.Errorf("missing file: %v", err)
	}
	if d := find(t, src, "hello").Description; d != "Say hello" {
		t.Errorf("description %q", d)
	}
	var all []string
	for _, d := range src.Diagnostics() {
		all = append(all, d.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"Review.md: warning: the file's name is read as /review", "Review.md:6: warning: the key `other`", "open.md:1: error: the front matter"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

func TestShellLineThatCanNeverRunIsDiagnosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := write(t, "---\ndescription: x\n---\nfine: !`ls $1`\n\nbad: !`ls $(echo $1)`\n", w.places.Project, ".jcode/commands/odd.md")
	c := skills.NewCommandFiles(w.places, nil, &host{})
	list := c.Diagnostics()
	if len(list) != 1 || list[0].File != file || list[0].Line != 6 || list[0].Level != skills.Fault || !strings.Contains(list[0].Text, "ls $(echo $1)") {
		t.Errorf("diagnosed %v", list)
	}
	if len(c.List()) != 0 {
		t.Error("it is offered all the same")
	}
}

func TestCommandOfTheNearerFolderWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range [][]string{
		{w.places.Config, "commands/c.md"},
		{w.places.Home, ".claude/commands/c.md"},
		{w.places.Project, ".claude/commands/c.md"},
		{w.places.Project, ".jcode/commands/sub/c.md"},
		{w.places.Project, ".jcode/commands/c.md"},
	} {
		file := write(t, "text of "+filepath.Join(f...), f...)
		src := skills.NewCommandFiles(w.places, trustAll{}, &host{})
		if out := use(t, src, "c", ""); out.Prompt != "text of "+file {
			t.Errorf("got %q, want that of %s", out.Prompt, file)
		}
	}
}

func TestEditedCommandRunsItsNewText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := write(t, "old", w.places.Project, ".jcode/commands/c.md")
	src := skills.NewCommandFiles(w.places, nil, &host{})
	c := find(t, src, "c")
	write(t, "quite new", file)
	if out, err := c.Run(context.Background(), ""); err != nil || out.Prompt != "quite new" {
		t.Errorf("%+v %v", out, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(context.Background(), ""); err == nil {
		t.Error("a removed command ran")
	}
}

func TestCommandFilesAreWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	src := skills.NewCommandFiles(w.places, nil, &host{})
	src.List()
	changes := make(chan skills.Change, 10)
	stop := skills.Watch(w.registry(), src, func(c skills.Change) { changes <- c })
	defer stop()
	write(t, "x", w.places.Project, ".jcode/commands/c.md")
	select {
	case c := <-changes:
		if !slices.Equal(c.Added, []string{"c"}) {
			t.Errorf("%+v", c)
		}
	case <-time.After(time.Minute):
		t.Fatal("not noticed")
	}
	find(t, src, "c")
}

func TestShellLinesWaitForApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := write(t, "State: !`git status`", w.places.Project, ".jcode/commands/c.md")
	h := &host{}
	pins := trust{}
	src := skills.NewCommandFiles(w.places, pins, h)
	ask := func() error {
		_, err := find(t, src, "c").Run(context.Background(), "")
		return err
	}
	if err := ask(); err == nil || !strings.Contains(err.Error(), "nobody has approved") || len(h.ran) > 0 {
		t.Fatalf("headless: %v, ran %v", err, h.ran)
	}
	no := &person{answer: tools.AnswerNo}
	h.asker = no
	if err := ask(); err == nil || len(h.ran) > 0 {
		t.Fatalf("refused: %v, ran %v", err, h.ran)
	}
	if q := no.asked[0]; !strings.Contains(strings.Join(q.Details, "\n"), "  git status") {
		t.Errorf("the question shows %v", q.Details)
	}
	yes := &person{answer: tools.AnswerProject}
	h.asker = yes
	if err := ask(); err != nil || len(h.ran) != 1 || !h.ran[0].Approved {
		t.Fatalf("approved: %v, ran %v", err, h.ran)
	}
	h.asker = nil
	if err := ask(); err != nil || len(h.ran) != 2 {
		t.Fatalf("approved before: %v, ran %v", err, h.ran)
	}
	write(t, "State: !`git status -s`", file)
	if err := ask(); err == nil || len(h.ran) != 2 {
		t.Fatalf("after an edit: %v, ran %v", err, h.ran)
	}
}

func TestAllowedToolsArePinnedToTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", "---\nname: one\ndescription: x\nallowed-tools: exec(git log *) Bash(rm:*) mcp__github__list_issues Unheard Task(x) WebFetch(domain:a.b)\n---\nBody\n")
	grants := &granted{}
	pins := trust{}
	r := skills.New(skills.Options{Places: w.places, Trust: pins, Grants: grants})
	want := []string{"exec(git log *)", "exec(rm *)", "mcp(github:list_issues)", "fetch(domain:a.b)"}
	if sk, _ := r.Get("one"); !slices.Equal(sk.Rules, want) {
		t.Fatalf("rules %v", sk.Rules)
	}
	for _, s := range []string{`"Unheard" in`, `"Task(x)" in`} {
		if d := diagnostics(r); !strings.Contains(d, s) {
			t.Errorf("no %s in %s", s, d)
		}
	}
	load := func(p *person) string {
		caller := model("s")
		if p != nil {
			caller.Asker = p
		}
		return run(t, r, "skill", `{"name":"one","again":true}`, caller).Text
	}
	if text := load(nil); !strings.Contains(text, "not approved") || grants.rules != nil {
		t.Errorf("headless: %s %v", text, grants.rules)
	}
	no := &person{answer: tools.AnswerNo}
	load(no)
	if load(no); len(no.asked) != 1 || grants.rules != nil {
		t.Errorf("refused: asked %d times, granted %v", len(no.asked), grants.rules)
	}
	yes := &person{answer: tools.AnswerProject}
	caller := model("another")
	caller.Asker = yes
	run(t, r, "skill", `{"name":"one"}`, caller)
	if !slices.Equal(grants.rules, want) {
		t.Errorf("granted %v", grants.rules)
	}
	if out := use(t, r.Commands(&host{}), "one", ""); !slices.Equal(out.Allow, want) {
		t.Errorf("by command: %+v", out)
	}
	grants.rules = nil
	w.project("one", "---\nname: one\ndescription: x\nallowed-tools: exec\n---\nBody\n")
	if text := load(nil); !strings.Contains(text, "not approved") || grants.rules != nil {
		t.Errorf("after an edit: %s %v", text, grants.rules)
	}
	if out := use(t, r.Commands(&host{}), "one", ""); out.Allow != nil || out.Notice == "" {
		t.Errorf("by command, after an edit: %+v", out)
	}
}

func TestSkillByCommandIsInjectedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", skillMD("one", "x", "the body"))
	r := w.registry()
	src := r.Commands(&host{})
	out := use(t, src, "one", "go")
	if !strings.Contains(out.Prompt, "the body") || out.Shown != "/one go" {
		t.Errorf("first: %+v", out)
	}
	// The command can still be withdrawn: the text counts once it is sent.
	if again := use(t, src, "one", "go"); !strings.Contains(again.Prompt, "the body") {
		t.Errorf("before the first was sent: %+v", again)
	}
	r.Session("s").Given(out.Skill)
	if out := use(t, src, "one", "go on"); strings.Contains(out.Prompt, "the body") || !strings.Contains(out.Prompt, "go on") {
		t.Errorf("second: %+v", out)
	}
	if got := r.Session("s").Loaded(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("loaded %v", got)
	}
	again := w.registry() // as after a resume
	again.Session("s").Restore([]string{out.Skill}, nil)
	if out := use(t, again.Commands(&host{}), "one", "go on"); strings.Contains(out.Prompt, "the body") {
		t.Errorf("resumed: %+v", out)
	}
	w.project("one", skillMD("one", "x", "the new body"))
	if out := use(t, again.Commands(&host{}), "one", "go on"); !strings.Contains(out.Prompt, "the new body") {
		t.Errorf("resumed and changed: %+v", out)
	}
}
