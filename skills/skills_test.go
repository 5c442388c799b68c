package skills_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/leaks"
	"jcode/skills"
	"jcode/tools"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// world is a home, a config folder and a project, all empty.
type world struct {
	t      *testing.T
	places skills.Places
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, places: skills.Places{
		Config: filepath.Join(dir, "config"), Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"),
	}}
	for _, d := range []string{w.places.Config, w.places.Home, w.places.Project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// project writes a SKILL.md into the project's .jcode/skills.
func (w *world) project(folder, text string) string {
	w.t.Helper()
	return write(w.t, text, w.places.Project, ".jcode/skills", folder, "SKILL.md")
}

func (w *world) registry() *skills.Registry { return skills.New(skills.Options{Places: w.places}) }

func skillMD(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s\n", name, description, body)
}

// own leaves out the builtin skills.
func own(list []skills.Skill) []string {
	var names []string
	for _, s := range list {
		if s.Source.Dir != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

func diagnostics(r *skills.Registry) string {
	var b strings.Builder
	for _, d := range r.Diagnostics() {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

func run(t *testing.T, r *skills.Registry, name, args string, caller tools.Caller) tools.Result {
	t.Helper()
	for _, tool := range r.Tools() {
		if tool.Spec().Name != name {
			continue
		}
		res, err := tool.Run(context.Background(), tools.Call{
			ID: "1", Name: name, Arguments: json.RawMessage(args), Caller: caller, Progress: func(tools.Progress) {},
		})
		if err != nil {
			return tools.Failure(err)
		}
		return res
	}
	t.Fatalf("no tool %s", name)
	return tools.Result{}
}

func model(session string) tools.Caller {
	return tools.Caller{Session: session, Turn: 1, Origin: tools.OriginModel}
}

func TestDescriptionWithColonLoadsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", "---\nname: one\ndescription: Use when: the user asks. Triggers: a, b\n---\nBody\n")
	r := w.registry()
	sk, ok := r.Get("one")
	if !ok || sk.Description != "Use when: the user asks. Triggers: a, b" {
		t.Errorf("got %+v", sk)
	}
	if d := diagnostics(r); d != "" {
		t.Errorf("diagnosed: %s", d)
	}
}

func TestValuesOfOtherTypesAreConvertedOrDiagnosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("3000", "---\nname: 3000\ndescription: [a, b]\nmetadata: text\nallowed-tools: {a: 1}\n---\nBody\n")
	r := w.registry()
	sk, ok := r.Get("3000")
	if !ok || sk.Description != "a, b" {
		t.Errorf("got %+v", sk)
	}
	for _, want := range []string{"SKILL.md:3: warning: `description`", "SKILL.md:4: warning: `metadata`", "SKILL.md:5: warning: `allowed-tools`"} {
		if d := diagnostics(r); !strings.Contains(d, want) {
			t.Errorf("no %q in %s", want, d)
		}
	}
	if c := r.Catalogue(nil); !strings.Contains(c, "- 3000: a, b\n") {
		t.Errorf("catalogue: %s", c)
	}
}

func TestOneBadSkillHidesNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("good", skillMD("good", "Fine.", "Body"))
	w.project("silent", "---\nname: silent\n---\nBody\n")
	w.project("folder-name", skillMD("other-name", "Fine too.", "Body"))
	w.project("open", "---\nname: open\ndescription: Never closed.\n")
	w.project("bare", "# Just text\n")
	w.project("latin", "---\nname: latin\ndescription: caf\xe9\n---\nBody\n")
	if err := os.MkdirAll(filepath.Join(w.places.Project, ".jcode/skills/dir/SKILL.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := w.registry()
	if got, want := own(r.List()), []string{"good", "latin", "other-name"}; !slices.Equal(got, want) {
		t.Errorf("in use: %v, want %v", got, want)
	}
	d := diagnostics(r)
	for _, want := range []string{
		"silent/SKILL.md:1: error: there is no `description`; add one",
		"folder-name/SKILL.md:2: warning: the name other-name differs from the folder's",
		"open/SKILL.md:1: error: the front matter is never closed; put a line",
		"bare/SKILL.md:1: error: there is no front matter; begin",
		"latin/SKILL.md:1: warning: the file is not UTF-8 and is read as ISO-8859-1; save it",
	} {
		if !strings.Contains(d, want) {
			t.Errorf("no %q in\n%s", want, d)
		}
	}
}

func TestLaterFolderWinsAndShadowedIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := filepath.Join(w.places.Project, "..", "extra")
	w.places.Folders = []string{config}
	files := []string{
		write(t, skillMD("one", "user", "x"), w.places.Config, "skills/one/SKILL.md"),
		write(t, skillMD("one", "claude", "x"), w.places.Home, ".claude/skills/one/SKILL.md"),
		write(t, skillMD("one", "agents", "x"), w.places.Home, ".agents/skills/one/SKILL.md"),
		write(t, skillMD("one", "config", "x"), config, "one/SKILL.md"),
		write(t, skillMD("one", "project agents", "x"), w.places.Project, ".agents/skills/one/SKILL.md"),
		write(t, skillMD("one", "project claude", "x"), w.places.Project, ".claude/skills/one/SKILL.md"),
		write(t, skillMD("one", "project jcode", "x"), w.places.Project, ".jcode/skills/one/SKILL.md"),
	}
	r := skills.New(skills.Options{Places: w.places, Trust: trustAll{}})
	for i := len(files) - 1; i >= 0; i-- {
		sk, ok := r.Get("one")
		if !ok || filepath.Clean(sk.File) != filepath.Clean(files[i]) {
			t.Fatalf("with %d files: got %s, want %s", i+1, sk.File, files[i])
		}
		shadowed := 0
		for _, e := range r.Entries() {
			if e.State == skills.Shadowed && e.By == sk.File {
				shadowed++
			}
		}
		if shadowed != i {
			t.Errorf("%d shadowed, want %d", shadowed, i)
		}
		if i > 0 && !strings.Contains(diagnostics(r), "shadowed by "+sk.File) {
			t.Error("the shadowed files are not named")
		}
		if err := os.Remove(files[i]); err != nil {
			t.Fatal(err)
		}
		r.Reload()
	}
}

func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("outer", skillMD("outer", "Outer.", "x"))
	w.project("outer/inner", skillMD("inner", "Inner.", "x"))
	w.project("node_modules/dep", skillMD("dep", "Dependency.", "x"))
	w.project(".git/hook", skillMD("hook", "Hook.", "x"))
	w.project("group/member", skillMD("member", "In a group.", "x"))
	w.project("a/b/c/d/e", skillMD("deep", "Too deep.", "x"))
	w.project(".", skillMD("stray", "At the top.", "x"))
	root := filepath.Join(w.places.Project, ".jcode/skills")
	for link, target := range map[string]string{"loop": root, "self": ".", "group/up": "../..", "nowhere": "missing"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skipf("cannot make links: %v", err)
		}
	}
	r := w.registry()
	if got, want := own(r.List()), []string{"member", "outer"}; !slices.Equal(got, want) {
		t.Errorf("in use: %v, want %v", got, want)
	}
	if d := diagnostics(r); !strings.Contains(d, "is directly in a folder of skills") {
		t.Errorf("the stray one is not diagnosed: %s", d)
	}
}

func TestLinkedFolderOfSkillsIsReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, skillMD("one", "One.", "x"), w.places.Project, ".agents/skills/one/SKILL.md")
	if err := os.MkdirAll(filepath.Join(w.places.Project, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../.agents/skills", filepath.Join(w.places.Project, ".claude/skills")); err != nil {
		t.Skipf("cannot make links: %v", err)
	}
	r := w.registry()
	if d := diagnostics(r); d != "" || !slices.Equal(own(r.List()), []string{"one"}) {
		t.Errorf("%v; %s", own(r.List()), d)
	}
}

func TestEditIsLiveAndOnlyItsSkillAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", skillMD("one", "One.", "old text"))
	w.project("two", skillMD("two", "Two.", "text"))
	changes := make(chan skills.Change, 10)
	r := skills.New(skills.Options{Places: w.places, Changed: func(c skills.Change) { changes <- c }})
	r.List()
	stop := skills.Watch(r, nil, nil)
	defer stop()
	session := r.Session("s")
	session.Prompt(nil)
	for d := range 20 {
		for f := range 20 {
			write(t, "x", w.places.Project, ".jcode/skills/two/build", fmt.Sprint(d), fmt.Sprint(f))
		}
	}
	w.project("one", skillMD("one", "One.", "new text"))
	c := <-changes
	if !slices.Equal(c.Changed, []string{"one"}) || len(c.Added)+len(c.Removed)+len(c.Broken) > 0 {
		t.Errorf("changed: %+v", c)
	}
	if line := session.Changes(); line != "Skills: changed one." {
		t.Errorf("announced %q", line)
	}
	if line := session.Changes(); line != "" {
		t.Errorf("announced again: %q", line)
	}
	if res := run(t, r, "skill", `{"name":"one"}`, model("s")); !strings.Contains(res.Text, "new text") {
		t.Errorf("text: %s", res.Text)
	}
}

func TestNewRemovedAndBrokenAreNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	changes := make(chan skills.Change, 10)
	r := skills.New(skills.Options{Places: w.places, Changed: func(c skills.Change) { changes <- c }})
	r.List()
	stop := skills.Watch(r, nil, nil)
	defer stop()
	wait := func(want string) {
		t.Helper()
		deadline := time.After(time.Minute)
		var seen []string
		for {
			select {
			case c := <-changes:
				if s := c.String(); strings.Contains(s, want) {
					return
				} else {
					seen = append(seen, s)
				}
			case <-deadline:
				t.Fatalf("no %q; seen: %q", want, seen)
			}
		}
	}
	file := w.project("one", skillMD("one", "One.", "x"))
	wait("added one")
	if err := os.WriteFile(file, []byte("---\nname: one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	wait("SKILL.md:1: error:")
	if _, ok := r.Get("one"); ok {
		t.Error("the broken skill is still in use")
	}
	w.project("one", skillMD("one", "One.", "healed"))
	wait("added one")
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	wait("removed one")
}

func TestModelIsToldTheFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.project("one", skillMD("one", "One.", "run scripts/a.sh"))
	script := write(t, "#!/bin/sh\n", filepath.Dir(file), "scripts/a.sh")
	res := run(t, w.registry(), "skill", `{"name":"one"}`, model("s"))
	for _, want := range []string{fmt.Sprintf("folder=%q", filepath.Dir(file)), script, "Files of the skill: scripts"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("no %q in %s", want, res.Text)
		}
	}
}

func TestSkillIsGivenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", skillMD("one", "One.", "the body"))
	r := w.registry()
	if res := run(t, r, "skill", `{"name":"One"}`, model("s")); !strings.Contains(res.Text, "the body") {
		t.Fatalf("first: %s", res.Text)
	}
	if res := run(t, r, "skill", `{"name":"one"}`, model("s")); strings.Contains(res.Text, "the body") {
		t.Errorf("injected twice: %s", res.Text)
	}
	if res := run(t, r, "skill", `{"name":"one"}`, model("other")); !strings.Contains(res.Text, "the body") {
		t.Errorf("another session: %s", res.Text)
	}
	if res := run(t, r, "skill", `{"name":"one","again":true}`, model("s")); !strings.Contains(res.Text, "the body") {
		t.Errorf("asked again: %s", res.Text)
	}
	w.project("one", skillMD("one", "One.", "a longer, new body"))
	if line := r.Session("s").Changes(); line != "" { // the session has had no prompt yet: it begins here
		t.Errorf("announced %q", line)
	}
	if res := run(t, r, "skill", `{"name":"one"}`, model("s")); !strings.Contains(res.Text, "new body") {
		t.Errorf("after an edit: %s", res.Text)
	}
}

func TestLoadedSkillSurvivesCompactionAndItsEditIsAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", skillMD("one", "One.", "the body"))
	r := w.registry()
	s := r.Session("s")
	s.Prompt(nil)
	run(t, r, "skill", `{"name":"one"}`, model("s"))
	if p := s.Prompt(nil); strings.Contains(p, "the body") {
		t.Errorf("twice, in the history and the prompt: %s", p)
	}
	s.Compacted([]string{"one"}) // its text is in the part that was kept
	if p := s.Prompt(nil); strings.Contains(p, "the body") {
		t.Errorf("still in the history: %s", p)
	}
	s.Compacted(nil)
	for range 2 {
		if p := s.Prompt(nil); !strings.Contains(p, "the body") {
			t.Errorf("after a compaction: %s", p)
		}
	}
	if res := run(t, r, "skill", `{"name":"one"}`, model("s")); strings.Contains(res.Text, "the body") {
		t.Errorf("injected twice: %s", res.Text)
	}
	w.project("one", skillMD("one", "One.", "the new, longer body"))
	if line := s.Changes(); !strings.Contains(line, "load them again") || !strings.Contains(line, "one") {
		t.Errorf("announced %q", line)
	}
}

func TestResumedAndRewoundSessionsKnowWhatTheyHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", skillMD("one", "One.", "body one"))
	w.project("two", skillMD("two", "Two.", "body two"))
	r := w.registry()
	s := r.Session("s")
	s.Restore([]string{"One"}, []string{"two", "one", "gone"})
	if p := s.Prompt(nil); strings.Contains(p, "body one") || !strings.Contains(p, "body two") {
		t.Errorf("resumed: %s", p)
	}
	if got := s.Loaded(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("loaded %v", got)
	}
	w.project("three", skillMD("three", "Three.", "x"))
	for range 2 { // a rewind removes the announcement from the history, so it is made again
		if line := s.Changes(); !strings.Contains(line, "added three") {
			t.Errorf("announced %q", line)
		}
		s.Restore(nil, nil)
	}
	if res := run(t, r, "skill", `{"name":"one"}`, model("s")); !strings.Contains(res.Text, "body one") {
		t.Errorf("after the rewind: %s", res.Text)
	}
}

func TestSkillWrittenByTheAgentIsToldInTheNextStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.registry()
	s := r.Session("s")
	s.Prompt(nil)
	w.project("fresh", skillMD("fresh", "Just written.", "x"))
	if line := s.Changes(); line != "Skills: added fresh (Just written.)." {
		t.Errorf("announced %q", line)
	}
}

func TestScopeLimitsSkills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", skillMD("one", "One.", "x"))
	w.project("two", skillMD("two", "Two.", "x"))
	r := w.registry()
	scope := &tools.Scope{Name: "reviewer", Skills: []string{"two"}}
	if c := r.Catalogue(scope); strings.Contains(c, "- one") || !strings.Contains(c, "- two") {
		t.Errorf("catalogue: %s", c)
	}
	caller := model("s")
	caller.Scope = scope
	if res := run(t, r, "skill", `{"name":"one"}`, caller); !res.Failed || res.Kind != tools.KindPermission {
		t.Errorf("loaded outside its scope: %+v", res)
	}
}

func TestUnknownSkillNamesThoseThereAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("one", skillMD("one", "One.", "x"))
	w.project("off", skillMD("off", "Off.", "x"))
	w.project("bad", "---\nname: bad\n---\n")
	r := skills.New(skills.Options{Places: w.places, Disabled: []string{"off"}})
	for name, want := range map[string]string{"oen": "one", "off": "disabled by the user", "bad": "SKILL.md:1"} {
		res := run(t, r, "skill", fmt.Sprintf(`{"name":%q}`, name), model("s"))
		if !res.Failed || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %s", name, res.Text)
		}
	}
	if c := r.SetEnabled("off", true); !slices.Equal(c.Added, []string{"off"}) {
		t.Errorf("enabled: %+v", c)
	}
}

func TestReloadReportsEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("stays", skillMD("stays", "x", "x"))
	edited := w.project("edited", skillMD("edited", "x", "a"))
	gone := w.project("gone", skillMD("gone", "x", "x"))
	r := w.registry()
	r.List()
	// Size and time stamp are the same: only a full reload detects the edit.
	info, err := os.Stat(edited)
	if err != nil {
		t.Fatal(err)
	}
	w.project("edited", skillMD("edited", "x", "b"))
	if err := os.Chtimes(edited, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	w.project("new", skillMD("new", "x", "x"))
	w.project("bad", "---\nname: bad\n---\nx")
	res := run(t, r, "reload_skills", `{}`, model("s"))
	for _, want := range []string{"added: new\n", "changed: edited\n", "removed: gone\n", "broken: ", "bad/SKILL.md:1: error: there is no `description`", "skills in use: ", "edited, "} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("no %q in %s", want, res.Text)
		}
	}
}

func TestCatalogueIsBoundedAndStable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 50 {
		name := fmt.Sprintf("skill-%02d", i)
		w.project(name, skillMD(name, strings.Repeat("A long description of what it does, 日本語. ", 20), "x"))
	}
	r := w.registry()
	c := r.Catalogue(nil)
	if n := len(c) / 4; n > 4000 {
		t.Errorf("50 skills take %d tokens", n)
	}
	if strings.Count(c, "\n- ") < 50 || strings.Contains(c, "\uFFFD") {
		t.Errorf("not all are in: %s", c)
	}
	if again := w.registry().Catalogue(nil); again != c {
		t.Error("the bytes differ from run to run")
	}
	for i := range 900 {
		name := fmt.Sprintf("more-%03d-%s", i, strings.Repeat("x", 40))
		w.project(name, skillMD(name, "x", "x"))
	}
	r.Reload()
	if c := r.Catalogue(nil); len(c)/4 > 4000 || !strings.Contains(c, " more, which `reload_skills` lists") {
		t.Errorf("950 skills take %d tokens", len(c)/4)
	}
}

func TestCreateFromTemplate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, err := w.places.Create("My Skill", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.places.Create("my-skill", true); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("created twice: %v", err)
	}
	r := w.registry()
	sk, ok := r.Get("my-skill")
	if !ok || sk.File != file || diagnostics(r) != "" {
		t.Errorf("%+v %s", sk, diagnostics(r))
	}
}

func TestBuiltinSkillsAreWellFormed(t *testing.T) {
	t.Parallel()
	r := skills.New(skills.Options{})
	if d := diagnostics(r); d != "" {
		t.Errorf("diagnosed: %s", d)
	}
	names := 0
	for _, sk := range r.List() {
		names++
		l, err := r.Load(sk.Name)
		if err != nil || strings.TrimSpace(l.Body) == "" || sk.Source.Label != "builtin" {
			t.Errorf("%s: %v", sk.Name, err)
		}
	}
	if dirs, _ := os.ReadDir("builtin"); len(dirs) != names {
		t.Errorf("%d folders, %d skills", len(dirs), names)
	}
}

func BenchmarkDiscover500(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		name := fmt.Sprintf("skill-%03d", i)
		file := filepath.Join(dir, ".jcode/skills", name, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(skillMD(name, "Does a thing. Use when: somebody asks for it.", strings.Repeat("text\n", 100))), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			if n := len(skills.New(skills.Options{Places: skills.Places{Project: dir}}).List()); n < 500 {
				b.Fatal(n)
			}
		}
	})
	r := skills.New(skills.Options{Places: skills.Places{Project: dir}})
	b.Run("step", func(b *testing.B) {
		s := r.Session("s")
		s.Prompt(nil)
		b.ReportAllocs()
		for b.Loop() {
			s.Changes()
		}
	})
	b.Run("catalogue", func(b *testing.B) {
		for b.Loop() {
			r.Catalogue(nil)
		}
	})
}

// BenchmarkSavedToLive measures from the end of a save to the moment at which the registry
// has the new text.
func BenchmarkSavedToLive(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, ".jcode/skills/one/SKILL.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.Fatal(err)
	}
	save := func(i int) {
		if err := os.WriteFile(file, []byte(skillMD("one", "One.", fmt.Sprint("text ", i))), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	save(-1)
	live := make(chan skills.Change, 1)
	r := skills.New(skills.Options{Places: skills.Places{Project: dir}, Changed: func(c skills.Change) { live <- c }})
	r.List()
	stop := skills.Watch(r, nil, nil)
	defer stop()
	i := 0
	for b.Loop() {
		save(i)
		<-live
		i++
	}
}

// BenchmarkCommandSavedToLive does the same for a command file.
func BenchmarkCommandSavedToLive(b *testing.B) {
	places := skills.Places{Project: b.TempDir()}
	file := filepath.Join(places.Project, ".jcode/commands/one.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.Fatal(err)
	}
	save := func(i int) {
		if err := os.WriteFile(file, fmt.Appendf(nil, "text %d", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	save(-1)
	live := make(chan skills.Change, 1)
	src := skills.NewCommandFiles(places, nil, nil)
	src.List()
	stop := skills.Watch(skills.New(skills.Options{Places: places}), src, func(c skills.Change) { live <- c })
	defer stop()
	i := 0
	for b.Loop() {
		save(i)
		<-live
		i++
	}
}

// BenchmarkCatalogue50 reports the tokens of a catalogue of 50 skills with long descriptions.
func BenchmarkCatalogue50(b *testing.B) {
	dir := b.TempDir()
	for i := range 50 {
		name := fmt.Sprintf("skill-%02d", i)
		file := filepath.Join(dir, ".jcode/skills", name, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(skillMD(name, strings.Repeat("What it does and when to use it. ", 25), "x")), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	r := skills.New(skills.Options{Places: skills.Places{Project: dir}})
	for b.Loop() {
		r.Catalogue(nil)
	}
	b.ReportMetric(float64(len(r.Catalogue(nil)))/4, "tokens")
}

func TestCheckTakesSkillsAndFoldersOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project("good", skillMD("good", "x", "y"))
	bad := w.project("group/bad", "---\nname: bad\n---\ny\n")
	all := filepath.Join(w.places.Project, ".jcode/skills")
	for _, path := range []string{all, filepath.Dir(bad), bad} {
		if list := skills.Check(path); len(list) != 1 || list[0].File != bad {
			t.Errorf("%s: %v", path, list)
		}
	}
	if list := skills.Check(filepath.Join(all, "good")); len(list) != 0 {
		t.Errorf("good: %v", list)
	}
	for _, path := range []string{w.places.Home, filepath.Join(all, "nothing")} {
		if list := skills.Check(path); len(list) != 1 || list[0].Level != skills.Fault {
			t.Errorf("%s: %v", path, list)
		}
	}
}

// Hooks in the front matter of a skill may guard what it does: that they are not run is said when it is used, once.
func TestHooksOfASkillAreSaidNotToRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.project("guarded", "---\nname: guarded\ndescription: Guarded.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./guard.sh\n---\n\nbody\n")
	w.project("plain", skillMD("plain", "Plain.", "body"))
	var said []string
	r := skills.New(skills.Options{Places: w.places, Notice: func(text string) { said = append(said, text) }})
	for _, name := range []string{"plain", "guarded", "guarded"} {
		if res := run(t, r, "skill", fmt.Sprintf(`{"name":%q}`, name), model("s")); res.Failed {
			t.Fatal(res.Text)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "the skill guarded has hooks, which are not run here") || !strings.Contains(said[0], file) {
		t.Errorf("%q", said)
	}
	if got := diagnostics(r); !strings.Contains(got, "SKILL.md:4") || !strings.Contains(got, "hooks of a skill are not run") {
		t.Errorf("%s", got)
	}
}
