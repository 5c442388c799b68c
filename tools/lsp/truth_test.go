package lsp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/proc"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/lsptest"
	"jcode/internal/testkit/programs"
	"jcode/tools"
	"jcode/tools/lsp"
)

func inSession(name string) func(*tools.Call) {
	return func(c *tools.Call) { c.Caller.Session = name }
}

func TestASilentServerIsNeverTakenForOneThatFindsNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{lsptest.Mute, lsptest.Deaf, lsptest.Hang} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, mode, project, func(o *lsp.Options) { o.Patience = 50 * time.Millisecond })
			if mode == lsptest.Mute {
				r.call("diagnostics", m{"path": "b.fake"}) // waits for its start; it reports on what it opens
			}
			for i := range 4 {
				got := r.edit("b.fake", "use one", fmt.Sprintf("use one\ndef x%d", i))
				if !strings.Contains(got, "has not answered yet") {
					t.Errorf("edit %d: %q", i, got)
				}
			}
			if mode != lsptest.Mute {
				return // the tool would wait for its start
			}
			if got := r.call("diagnostics", m{"path": "b.fake"}).Text; strings.Contains(got, "nothing") || !strings.Contains(got, "no report on the present text of b.fake") {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestWhatAServerFindsLaterIsToldOnceAtTheNextStepOfItsSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Waiting, project, func(o *lsp.Options) { o.Patience = 50 * time.Millisecond })
	got := r.edit("a.fake", "def one", "def two", inSession("mine"))
	if !strings.Contains(got, "fake is still loading and has not answered yet") {
		t.Fatalf("%q", got)
	}
	if got := r.m.Late("mine"); got != "" {
		t.Errorf("too early: %q", got)
	}
	r.write("signal", "")
	got = ""
	eventually.True(t, "it answers", func() bool { // it reports file by file
		got += r.m.Late("mine") + "\n"
		return strings.Contains(got, "b.fake:1:5 undefined: one [7]")
	})
	if !strings.Contains(got, "[fake on the edit of a.fake: ") {
		t.Errorf("%q", got)
	}
	eventually.True(t, "it has reported the last file, too", func() bool {
		return strings.Contains(r.call("diagnostics", m{"path": "c/d.fake"}).Text, "undefined: lost")
	})
	if again, other := r.m.Late("mine"), r.m.Late("other"); strings.Contains(again, "one [7]") || other != "" {
		t.Errorf("again %q, in another session %q", again, other)
	}
	if got := r.edit("a.fake", "def two", "def one", inSession("mine")); strings.Contains(got, "error") {
		t.Errorf("the repair: %q", got)
	}
}

// A server whose cache is cold says that it reads the project: what the first edit broke is in its own result, told
// apart from what was there before.
func TestTheFirstEditWaitsForAServerThatReadsTheProject(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Reading, project, func(o *lsp.Options) { o.Patience = time.Minute })
	result := make(chan string)
	go func() {
		result <- r.edit("a.fake", "def one", "def two", func(c *tools.Call) {
			c.Progress = func(p tools.Progress) {
				if strings.Contains(p.Text, "what the edit breaks is known then") {
					r.write("signal", "")
				}
			}
		})
	}()
	got := <-result
	if want := "[fake: 2 new errors, 2 older]\nb.fake:1:5 undefined: one [7]\nc/d.fake:1:5 undefined: one [7]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// One that never gets ready is waited for once, not before each edit.
func TestAServerThatReadsTheProjectForEverIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Reading, project, func(o *lsp.Options) { o.Patience, o.Loading = 50*time.Millisecond, 100*time.Millisecond })
	waits := 0
	for i := range 5 {
		got := r.edit("b.fake", "use one", fmt.Sprintf("use one\ndef x%d", i), func(c *tools.Call) {
			c.Progress = func(p tools.Progress) {
				if strings.Contains(p.Text, "what the edit breaks is known then") {
					waits++
				}
			}
		})
		if !strings.Contains(got, "is still loading and has not answered yet") {
			t.Errorf("edit %d: %q", i, got)
		}
	}
	if waits == 0 || waits > 2 { // its start is waited for apart
		t.Errorf("it is waited for %d times", waits)
	}
}

func TestALateAnswerWithoutProblemsIsToldToo(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Waiting, map[string]string{"a.fake": "def one\n"}, func(o *lsp.Options) { o.Patience = 50 * time.Millisecond })
	r.edit("a.fake", "def one", "def two", inSession("mine"))
	r.write("signal", "")
	got := ""
	eventually.True(t, "it answers", func() bool { got = r.m.Late("mine"); return got != "" })
	if got != "[fake on the edit of a.fake: nothing new]" {
		t.Errorf("%q", got)
	}
}

func TestAReportOnTheTextBeforeIsNotToldAsNew(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Behind, map[string]string{"a.fake": "def one\n"}, func(o *lsp.Options) { o.Patience = 100 * time.Millisecond })
	r.edit("a.fake", "def one\n", "def one\nerror bad\n")
	for i := range 3 {
		got := r.edit("a.fake", "def one\n", fmt.Sprintf("def one\ndef x%d\n", i)) + r.edit("a.fake", "error bad\n", "")
		if strings.Contains(got, "bad") || !strings.Contains(got, "has not answered yet") {
			t.Errorf("%q", got)
		}
		r.edit("a.fake", "def one\n", "def one\nerror bad\n")
	}
}

func TestAServerThatDiesDuringAnEditIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Dies, project)
	if got := r.edit("a.fake", "def one", "def two"); !strings.Contains(got, "fake can't be asked") || !strings.Contains(got, "is not known") {
		t.Errorf("%q", got)
	}
}

func TestFoldersWithoutAMarkerShareTheServerOfTheProject(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, map[string]string{"a/x.fake": "def one\n"})
	for i := range 6 {
		path := fmt.Sprintf("new%d/deep/y.fake", i)
		if res := r.call("write", m{"path": path, "content": "error in a new folder\n"}); !strings.Contains(res.Text, path+":1:7 in a new folder") {
			t.Errorf("%s", res.Text)
		}
	}
	if list := r.m.Servers(); len(list) != 1 || list[0].Root != r.root || r.asked != 1 {
		t.Errorf("%+v, asked %d times", list, r.asked)
	}
}

func TestTheNearestMarkerOfTheFirstKindIsTheRoot(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, root string }{
		{"app/src/Core/a.fake", "app"}, {"lib/b.fake", "lib"}, {"loose/c.fake", "."},
	} {
		r := newRig(t, lsptest.Good, map[string]string{
			"app/All.sln": "", "app/src/Core/Core.proj": "", "app/src/Core/a.fake": "def a\n", "lib/Lib.proj": "", "lib/b.fake": "def b\n", "loose/c.fake": "def c\n",
		}, func(o *lsp.Options) { o.Servers[0].Roots = []string{"*.sln", "*.proj"} })
		r.edit(tc.file, "def", "error found\ndef")
		if list := r.m.Servers(); len(list) != 1 || list[0].Root != filepath.Join(r.root, tc.root) {
			t.Errorf("%s: %+v", tc.file, list)
		}
	}
}

func TestAServerThatCanHoldSeveralFoldersIsStartedOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("%d/mark", i)] = ""
		files[fmt.Sprintf("%d/a.fake", i)] = "def a\n"
	}
	r := newRig(t, lsptest.Telling, files, func(o *lsp.Options) { o.Servers[0].Roots = []string{"mark"} })
	for i := range 6 {
		r.edit(fmt.Sprintf("%d/a.fake", i), "def a", "def b")
	}
	got := r.call("hover", m{"symbol": "b", "path": "0/a.fake"}).Text
	if list := r.m.Servers(); len(list) != 1 || !strings.Contains(got, filepath.Join(r.root, "5")) {
		t.Errorf("%+v; %s", list, got)
	}
}

func TestServersGetTheSettingsThatTheyNeed(t *testing.T) {
	t.Parallel()
	argv, env := lsptest.Command(lsptest.Telling)
	for _, tc := range []struct {
		name, file string
		own        any
		want       []string
	}{
		{"vscode-json-language-server", "a.json", nil, []string{`"json":{"validate":{"enable":true}}`, `"configuration":[{"validate":{"enable":true}},null,null,null]`}},
		{"vscode-json-language-server", "a.json", m{"json": m{"schemas": []any{}}}, []string{`"json":{"schemas":[],"validate":{"enable":true}}`}},
		{"vscode-css-language-server", "a.css", nil, []string{`"css":{"lint":{},"validate":true}`, `"configuration":[null,{"lint":{},"validate":true},null,null]`}},
		{"pyright", "sub/a.py", nil, []string{`"python":{"pythonPath":"ROOT/sub/.venv/bin/python"}`, `"environment":"ROOT/sub/.venv"`, `"language":"python"`}},
		{"pyright", "sub/a.py", m{"python": m{"pythonPath": "mine"}}, []string{`"python":{"pythonPath":"mine"}`}},
		{"ruff", "sub/a.py", nil, []string{`"environment":"ROOT/sub/.venv"`}},
		{"terraform-ls", "a.tfvars", nil, []string{`"language":"terraform-vars"`}},
		{"clangd", "a.mm", nil, []string{`"language":"objective-cpp"`}},
	} {
		r := newRig(t, lsptest.Good, map[string]string{
			tc.file: "def one\n", "sub/pyproject.toml": "", "sub/.venv/pyvenv.cfg": "", "sub/.venv/bin/python": "",
		}, func(o *lsp.Options) {
			o.Servers = []lsp.Server{lsp.Merge(lsp.Server{Name: tc.name, Command: argv, Env: env, Settings: tc.own})}
		})
		got := r.call("hover", m{"symbol": "one", "path": tc.file}).Text
		for _, want := range tc.want {
			if !strings.Contains(got, strings.ReplaceAll(want, "ROOT", r.root)) {
				t.Errorf("%s: no %s in %s", tc.name, want, got)
			}
		}
	}
}

func TestRenameCountsCharactersAsTheServerDoes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{lsptest.Good, lsptest.UTF32} {
		r := newRig(t, mode, map[string]string{"a.fake": "def 👍👍one\nuse 👍👍one\n"})
		r.call("rename", m{"symbol": "👍👍one", "path": "a.fake", "new_name": "two"})
		if got := r.read("a.fake"); got != "def two\nuse two\n" {
			t.Errorf("%s: %q", mode, got)
		}
	}
}

func TestNothingOfAFileThatARuleKeepsFromBeingReadIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, map[string]string{"a.fake": "def one\nuse secret\nuse key\n", "hidden.fake": "def secret\nuse one\nerror hunter2\n", "key.fake": "def key\n"}, func(o *lsp.Options) {
		o.Denied = func(path string) bool { return filepath.Base(path) == "hidden.fake" }
	})
	all := ""
	for _, tc := range []struct {
		name string
		args m
	}{
		{"definition", m{"symbol": "secret", "path": "a.fake"}},
		{"definition", m{"symbol": "secret"}},
		{"references", m{"symbol": "one", "path": "a.fake"}},
		{"hover", m{"symbol": "secret", "path": "a.fake"}},
		{"symbols", m{"query": "secret"}},
		{"symbols", m{"path": "hidden.fake"}},
		{"diagnostics", m{}},
		{"diagnostics", m{"path": "hidden.fake"}},
		{"rename", m{"symbol": "one", "path": "a.fake", "new_name": "two"}},
		{"code_action", m{"path": "hidden.fake", "line": 3}},
	} {
		all += r.call(tc.name, tc.args).Text + "\n"
	}
	all += r.edit("a.fake", "def one", "def eins")
	for _, kept := range []string{"def secret", "use one\n", "hunter2", "hidden.fake:", "function secret", "the name secret", "Make it"} {
		if strings.Contains(all, kept) {
			t.Errorf("%q is shown:\n%s", kept, all)
		}
	}
	if got := r.read("hidden.fake"); !strings.Contains(got, "use one") {
		t.Errorf("it was changed: %q", got)
	}
	if got := r.call("definition", m{"symbol": "key", "path": "a.fake"}).Text; !strings.Contains(got, "key.fake:1: def key") {
		t.Errorf("what may be read is missing: %q", got)
	}
}

func TestTheProjectsOwnProgramComesAfterPATHAndIsNamedByItsPath(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.MkdirTemp(".", "path") // programs in folders for temporary files are passed over
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	if other, err = filepath.Abs(other); err != nil {
		t.Fatal(err)
	}
	if paths.Within(paths.Real(os.TempDir()), other) {
		t.Skip("the checkout lies in a temporary folder, where no program is taken from")
	}
	planted := filepath.Join(root, "node_modules", ".bin")
	if err := os.MkdirAll(planted, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{planted, other} {
		programs.File(t, filepath.Join(dir, "gopls"), "#!/bin/sh\n", 0o755)
	}
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	started := func(path string, trusted bool) (programs []string) {
		t.Setenv("PATH", path)
		room := lsp.New(lsp.Options{
			Programs: launch.Programs{Roots: func() []string { return []string{root} }},
			Root:     root, Start: root, Roots: []string{root}, AfterEdit: true, Trusted: func() bool { return trusted },
			Allow: func(_ context.Context, _ tools.Call, s lsp.Start) lsp.Permit {
				programs = append(programs, s.Program, s.Command)
				return lsp.Permit{Why: "no"}
			},
		})
		defer room.Close()
		call := tools.Call{Progress: func(tools.Progress) {}}
		room.Changing(t.Context(), call, tools.Plan{Accesses: []tools.Access{{Kind: tools.AccessWrite, Path: filepath.Join(root, "a.go")}}})
		return programs
	}
	list := string(filepath.ListSeparator)
	for _, tc := range []struct {
		path    string
		trusted bool
		want    []string
	}{
		{planted + list + other, true, []string{filepath.Join(other, "gopls"), "gopls"}},
		{planted, true, []string{filepath.Join(planted, "gopls"), filepath.Join(planted, "gopls")}},
		{planted, false, nil},
	} {
		if got := started(tc.path, tc.trusted); !slices.Equal(got, tc.want) {
			t.Errorf("PATH=%s, trusted %v: %q, want %q", tc.path, tc.trusted, got, tc.want)
		}
	}
}

func TestProtectedFilesThatAServerMakesAreTold(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	r := newRig(t, lsptest.Steering, project, func(o *lsp.Options) {
		root := o.Root
		prepare := func(spec proc.Spec) (proc.Spec, func() []string, error) {
			return spec, func() (made []string) {
				for _, name := range []string{"AGENTS.md", "mine.fake"} {
					if _, err := os.Stat(filepath.Join(root, name)); err == nil {
						made = append(made, filepath.Join(root, name))
					}
				}
				return made
			}, nil
		}
		o.Allow = func(context.Context, tools.Call, lsp.Start) lsp.Permit { return lsp.Permit{OK: true, Prepare: prepare} }
		o.Steered = func(server string, paths []string) { told <- server + ": " + strings.Join(paths, " ") }
		o.Idle = time.Second
	})
	r.call("write", m{"path": "mine.fake", "content": "def mine\n"}) // a call's own file is not the server's
	if got := <-told; got != "fake: "+filepath.Join(r.root, "AGENTS.md") {
		t.Errorf("%q", got)
	}
}
