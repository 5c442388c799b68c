package role_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jcode/session"
	"jcode/session/role"
)

const reviewer = `---
description: Reviews a change: and never writes
model: openai/gpt-5.2            # optional
temperature: 0.2
tools: [read, grep, mcp:github:*]
mcp_servers: [github]
skills: code-review, tests
mode: plan
capabilities: [READ]
x-color: "blue: dark"
x-list:
  - a
  - b
---
You review changes.

Second paragraph.
`

func TestRoleFileIsReadWhole(t *testing.T) {
	t.Parallel()
	r := role.Parse("reviewer", []byte(reviewer))
	if err := r.Usable(); err != nil {
		t.Fatal(err)
	}
	if r.Description != "Reviews a change: and never writes" || r.Model != "openai/gpt-5.2" || *r.Temperature != 0.2 ||
		!slices.Equal(r.Tools, []string{"read", "grep", "mcp:github:*"}) || !slices.Equal(r.Servers, []string{"github"}) ||
		!slices.Equal(r.Skills, []string{"code-review", "tests"}) || r.Mode != "plan" || !slices.Equal(r.Capabilities, []string{"READ"}) ||
		r.Body != "You review changes.\n\nSecond paragraph." {
		t.Errorf("got %+v", r)
	}
	if len(r.Unknown) != 2 || r.Unknown[0].Raw != `x-color: "blue: dark"` || r.Unknown[1].Raw != "x-list:\n  - a\n  - b" {
		t.Errorf("unknown keys %+v", r.Unknown)
	}
	var said []string
	for _, p := range r.Problems {
		said = append(said, p.String())
	}
	if len(said) != 2 || !strings.Contains(said[0], `line 10: unknown key "x-color"`) {
		t.Errorf("problems %q", said)
	}
}

func TestRoleFileWithBOMAndCRLFReadsTheSame(t *testing.T) {
	t.Parallel()
	plain := role.Parse("r", []byte(reviewer))
	windows := role.Parse("r", []byte("\xef\xbb\xbf"+strings.ReplaceAll(reviewer, "\n", "\r\n")))
	if !plain.SameAs(windows) || !reflect.DeepEqual(plain.Unknown, windows.Unknown) {
		t.Errorf("got %+v", windows)
	}
}

func TestRoleLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
	}{
		{"description: x", nil},
		{"tools:", nil},
		{"tools: all", nil},
		{"tools: '*'", nil},
		{"tools: [all]", nil},
		{"tools: none", []string{}},
		{"tools: []", []string{}},
		{"tools: ''", []string{}},
		{"tools: read", []string{"read"}},
		{"tools: read,  grep,read", []string{"read", "grep"}},
		{"tools:\n  - read\n  - mcp:a:*", []string{"read", "mcp:a:*"}},
		{"tools: {a: b}", []string{}}, // refused, and nothing is allowed
	} {
		r := role.Parse("r", []byte("---\n"+c.line+"\n---\nx"))
		if !reflect.DeepEqual(r.Tools, c.want) {
			t.Errorf("%q: got %#v, want %#v", c.line, r.Tools, c.want)
		}
	}
}

func TestFaultyRolesSayLineAndCure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"---\ntemperature: hot\n---\n", `line 2: temperature: "hot" is not a number from 0 to 2`},
		{"---\ndescription: x\nmode: paln\n---\n", `line 3: mode: there is no mode "paln" (use plan, ask`},
		{"---\nmax_output_tokens: -1\n---\n", "line 2: max_output_tokens"},
		{"---\ndescription: x\nYou review.", "never closed"},
		{"---\ntools: {a: b}\n---\n", "line 2: tools is a map"},
		{strings.Repeat("x", 300<<10), "at most"},
	} {
		err := role.Parse("r", []byte(c.text)).Usable()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: got %v, want %q", c.text, err, c.want)
		}
	}
	for _, name := range []string{"", "off", "a b", "../x", "-x", ".x", strings.Repeat("a", 65), "a/b", "\xff"} {
		if role.Parse(name, []byte("x")).Usable() == nil {
			t.Errorf("name %q is accepted", name)
		}
	}
	for _, name := range []string{"coder", "コーダー", "a.b-c_1"} {
		if err := role.Parse(name, []byte("x")).Usable(); err != nil {
			t.Error(err)
		}
	}
}

func TestRoleSurvivesFormatting(t *testing.T) {
	t.Parallel()
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ09:*-_/.#\"'{}[],& é漢\\")), 1, 20, -1)
	item := rapid.Map(rapid.StringMatching(`[a-z][a-z:*_-]{0,12}[a-z]`), func(s string) string {
		if s == "all" || s == "none" {
			return "x" + s
		}
		return s
	})
	list := rapid.OneOf(rapid.Just([]string(nil)), rapid.Just([]string{}), rapid.SliceOfNDistinct(item, 1, 4, rapid.ID))
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.Float64Range(0, 1).Draw(rt, "x")
		r := role.Role{
			Name:        "r",
			Description: strings.TrimSpace(word.Draw(rt, "description")),
			Model:       strings.TrimSpace(word.Draw(rt, "model")),
			Mode:        rapid.SampledFrom([]string{"", "plan", "yolo"}).Draw(rt, "mode"),
			Temperature: rapid.SampledFrom([]*float64{nil, &x}).Draw(rt, "temperature"),
			TopP:        rapid.SampledFrom([]*float64{nil, &x}).Draw(rt, "top_p"),
			Tools:       list.Draw(rt, "tools"), Servers: list.Draw(rt, "servers"), Skills: list.Draw(rt, "skills"), Capabilities: list.Draw(rt, "capabilities"),
			MaxOutputTokens: rapid.IntRange(0, 5000).Draw(rt, "max"),
			Unknown:         rapid.SampledFrom([][]role.Field{nil, {{Key: "x-a", Raw: "x-a:\n  - 1\n  - b: c"}}}).Draw(rt, "unknown"),
			Body:            strings.Trim(rapid.StringMatching(`([a-z#-]{0,8}\n?){0,6}`).Draw(rt, "body"), "\n"),
		}
		text := role.Format(r)
		got := role.Parse("r", []byte(text))
		if err := got.Usable(); err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		if !got.SameAs(r) || got.Description != r.Description || !reflect.DeepEqual(got.Unknown, r.Unknown) {
			rt.Fatalf("got  %+v\nwant %+v\n%s", got, r, text)
		}
	})
}

func FuzzParseRole(f *testing.F) {
	for _, s := range []string{reviewer, "", "---", "---\n---", "---\r\ntools: [\r\n---\r\n", "\xef\xbb\xbf---\nx: |\n  a\n---\n### INPUT:\na\n### OUTPUT:\nb", "---\n- a\n: b\n---\n\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := role.Parse("r", data)
		if r.Text != string(data) {
			t.Error("the file's bytes are not kept")
		}
		r.Render(role.Vars{}).Prompt("x")
		if r.Usable() != nil {
			return
		}
		again := role.Parse("r", []byte(role.Format(r)))
		if err := again.Usable(); err != nil {
			t.Errorf("formatted, it is refused: %v\n%s", err, role.Format(r))
		}
		if !again.SameAs(r) {
			t.Errorf("formatted, it became another role:\n%+v\n%+v\n%s", r, again, role.Format(r))
		}
	})
}

func TestRoleBodyIsRendered(t *testing.T) {
	t.Parallel()
	vars := role.Vars{Cwd: "/w", OS: "linux", Shell: "bash", Date: "2026-01-02", Project: "/p"}
	for _, c := range []struct {
		name, body string
		want       role.Rendered
	}{
		{"plain", "You are in {{cwd}} on {{ os }}, {{__shell__}}, {{date}}, {{project}}. {{other}} {{", role.Rendered{System: "You are in /w on linux, bash, 2026-01-02, /p. {{other}} {{"}},
		{"template", "Explain __INPUT__ twice: __INPUT__", role.Rendered{Template: []string{"Explain ", " twice: ", ""}}},
		{"few-shot", "Translate.\n### INPUT:\nhello\n### OUTPUT:\nhallo\n\n### INPUT: bye\n### OUTPUT:\ntschüss\n", role.Rendered{System: "Translate.", Shots: []role.Shot{{"hello", "hallo"}, {"bye", "tschüss"}}}},
		{"unpaired", "Do.\n### INPUT:\nhello", role.Rendered{System: "Do.\n### INPUT:\nhello"}},
		{"wrong order", "### OUTPUT:\nx", role.Rendered{System: "### OUTPUT:\nx"}},
	} {
		got := role.Role{Body: c.body}.Render(vars)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestInputOfATemplateStaysText(t *testing.T) {
	t.Parallel()
	r := role.Role{Body: "A {{cwd}} B __INPUT__ C"}.Render(role.Vars{Cwd: "/w"})
	if got := r.Prompt("__INPUT__ {{cwd}} $1"); got != "A /w B __INPUT__ {{cwd}} $1 C" {
		t.Error(got)
	}
}

func TestBuiltinRolesAreSound(t *testing.T) {
	t.Parallel()
	all, err := role.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
		if len(r.Problems) > 0 || r.Description == "" || r.Body == "" {
			t.Errorf("%s: %+v", r.Name, r.Problems)
		}
	}
	if !slices.Equal(names, []string{"coder", "explain", "planner", "reviewer", "shell"}) {
		t.Error(names)
	}
}

func writeRole(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name+".md")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T) *session.Store {
	t.Helper()
	s, err := session.Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestRoleLayers(t *testing.T) {
	t.Parallel()
	s := open(t)
	roles := &role.Layers{Rows: s.Roles(), ProjectDir: filepath.Join(t.TempDir(), "p"), UserDir: filepath.Join(t.TempDir(), "u")}
	source := func() role.Source {
		t.Helper()
		r, err := roles.Get(t.Context(), "coder")
		if err != nil {
			t.Fatal(err)
		}
		return r.Source
	}
	if got := source(); got != role.Builtin {
		t.Error(got)
	}
	writeRole(t, roles.UserDir, "coder", "user's")
	if got := source(); got != role.UserFile {
		t.Error(got)
	}
	if err := s.Roles().Save(t.Context(), "coder", "row's"); err != nil {
		t.Fatal(err)
	}
	if got := source(); got != role.Database {
		t.Error(got)
	}
	writeRole(t, roles.ProjectDir, "coder", "project's")
	writeRole(t, roles.ProjectDir, "broken", "---\nnever closed")
	all, err := roles.List(t.Context())
	if err != nil || len(all) != 6 {
		t.Fatalf("%d roles, %v", len(all), err)
	}
	for _, l := range all {
		switch l.Role.Name {
		case "coder":
			if l.Source != role.Project || l.Body != "project's" || len(l.Shadowed) != 3 || l.Shadowed[0].Source != role.Database || l.Shadowed[2].Source != role.Builtin {
				t.Errorf("%+v", l)
			}
		case "broken":
			if l.Usable() == nil || !strings.Contains(l.Usable().Error(), l.Path) {
				t.Error(l.Usable())
			}
		}
	}
	if _, err := roles.Get(t.Context(), "codr"); !errors.Is(err, role.ErrUnknown) || !strings.Contains(err.Error(), "coder") {
		t.Error(err)
	}
}

func TestUntrustedProjectRoleDoesNotCount(t *testing.T) {
	t.Parallel()
	trusted := false
	roles := &role.Layers{ProjectDir: t.TempDir(), Trusted: func(role.Role) bool { return trusted }}
	writeRole(t, roles.ProjectDir, "coder", "---\nmodel: evil/model\n---\n")
	writeRole(t, roles.ProjectDir, "narrow", "---\ntools: [read]\n---\n")
	writeRole(t, roles.ProjectDir, "wide", "---\nmcp_servers: [x]\n---\n")
	if r, err := roles.Get(t.Context(), "coder"); err != nil || r.Source != role.Builtin {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := roles.Get(t.Context(), "narrow"); err != nil || r.Source != role.Project {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := roles.Get(t.Context(), "wide"); err == nil || !strings.Contains(err.Error(), "trust") {
		t.Error(err)
	}
	trusted = true
	if r, err := roles.Get(t.Context(), "coder"); err != nil || r.Source != role.Project {
		t.Errorf("%+v, %v", r, err)
	}
}

// A project's role that only narrows needs no trust, but without trust it must not take the name of
// another role: otherwise the plan-only reviewer could edit from then on.
func TestProjectRoleTakesNoNameBeforeTrust(t *testing.T) {
	t.Parallel()
	trusted := false
	roles := &role.Layers{ProjectDir: t.TempDir(), UserDir: t.TempDir(), Trusted: func(role.Role) bool { return trusted }}
	writeRole(t, roles.ProjectDir, "reviewer", "theirs")
	writeRole(t, roles.ProjectDir, "mine", "theirs")
	writeRole(t, roles.UserDir, "mine", "---\nmode: plan\n---\nmine")
	for _, name := range []string{"reviewer", "mine"} {
		if r, err := roles.Get(t.Context(), name); err != nil || r.Source == role.Project || r.Mode != "plan" {
			t.Errorf("%s before trust: %+v, %v", name, r, err)
		}
	}
	trusted = true
	for _, name := range []string{"reviewer", "mine"} {
		if r, err := roles.Get(t.Context(), name); err != nil || r.Source != role.Project {
			t.Errorf("%s after trust: %+v, %v", name, r, err)
		}
	}
}

func TestRoleFilesThatLeadOutOfTheProjectCountAsAbsent(t *testing.T) {
	t.Parallel()
	project, outside := t.TempDir(), t.TempDir()
	writeRole(t, outside, "secret", "canary")
	roles := &role.Layers{Project: project, ProjectDir: filepath.Join(project, "roles")}
	writeRole(t, project, "denied", "canary")
	writeRole(t, roles.ProjectDir, "sound", "sound")
	for name, target := range map[string]string{"out": filepath.Join(outside, "secret.md"), "env": "../denied.md", "coder": filepath.Join(outside, "secret.md")} {
		if err := os.Symlink(target, filepath.Join(roles.ProjectDir, name+".md")); err != nil {
			t.Skipf("links can't be made here: %v", err)
		}
	}
	roles.Denied = func(path string) bool { return filepath.Base(path) == "denied.md" }
	all, err := roles.List(t.Context())
	for _, l := range all {
		if strings.Contains(l.Text, "canary") || l.Name == "out" || l.Name == "env" {
			t.Errorf("%+v", l)
		}
	}
	if r, err := roles.Get(t.Context(), "coder"); err != nil || r.Source != role.Builtin {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := roles.Get(t.Context(), "sound"); err != nil || r.Body != "sound" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, name := range []string{"out.md", "env.md", "coder.md"} {
		if err == nil || !strings.Contains(err.Error(), name+" leads out of the project") {
			t.Errorf("%s is not reported: %v", name, err)
		}
	}
	if err := os.RemoveAll(roles.ProjectDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, roles.ProjectDir); err != nil {
		t.Fatal(err)
	}
	if all, err = roles.List(t.Context()); len(all) != 5 || err == nil {
		t.Errorf("%d roles through a linked folder, %v", len(all), err)
	}
}

func TestRoleImportAndExportLoseNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	roles := &role.Layers{Rows: s.Roles()}
	odd := "\xef\xbb\xbf---\r\ndescription: x\r\n# a comment\r\nx-unknown: {a: [1, 2]}\r\n---\r\nbody \r\n\r\n"
	path := writeRole(t, t.TempDir(), "odd", odd)
	if _, err := roles.Import(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	r, err := roles.Get(t.Context(), "odd")
	if err != nil || r.Text != odd || r.Source != role.Database {
		t.Errorf("%q, %v", r.Text, err)
	}
	if _, err := roles.Import(t.Context(), writeRole(t, t.TempDir(), "bad", "---\nmode: x\n---\n")); err == nil {
		t.Error("a faulty role was imported")
	}
	if err := s.Roles().Delete(t.Context(), "odd"); err != nil {
		t.Fatal(err)
	}
	if err := s.Roles().Delete(t.Context(), "odd"); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

func TestRoleSnapshotKeepsNilAndEmptyApart(t *testing.T) {
	t.Parallel()
	r := role.Parse("r", []byte("---\ntools: none\nx: 1\n---\nbody"))
	back, err := role.FromSnapshot(r.Snapshot())
	if err != nil || !back.SameAs(r) || back.Tools == nil || back.Skills != nil {
		t.Errorf("%+v, %v", back, err)
	}
	changed := role.Parse("r", []byte("---\ntools: none\n---\nother body"))
	if changed.SameAs(r) {
		t.Error("a changed role looks the same")
	}
}

func TestRolesInTheHandbookAreSound(t *testing.T) {
	t.Parallel()
	var pages strings.Builder
	for _, name := range []string{"roles.md", "documents.md"} {
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		pages.Write(page)
	}
	parts := strings.Split(strings.ReplaceAll(pages.String(), "\r\n", "\n"), "```markdown role\n")
	for _, part := range parts[1:] {
		text, _, _ := strings.Cut(part, "\n```")
		r := role.Parse("example", []byte(text))
		if len(r.Problems) > 0 || r.Body == "" {
			t.Errorf("%v in\n%s", r.Problems, text)
		}
	}
	if len(parts) != 5 {
		t.Errorf("%d examples", len(parts)-1)
	}
}
