package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/lsptest"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/lsp"
)

// rig is a manager with the fake server, behind a dispatcher with the file tools.
type rig struct {
	t     testing.TB
	root  string
	m     *lsp.Manager
	d     *tools.Dispatcher
	calls int
	said  chan string
	asked int
}

// open is a gate that allows everything.
type open struct{ plans []tools.Plan }

func (o *open) Check(_ context.Context, r tools.GateRequest) tools.Decision {
	o.plans = append(o.plans, r.Plan)
	return tools.Decision{Allow: true, Silent: true}
}
func (*open) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

func newRig(t testing.TB, mode string, files map[string]string, opts ...func(*lsp.Options)) *rig {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, root: root, said: make(chan string, 100)}
	for name, content := range files {
		r.write(name, content)
	}
	ws, err := builtin.OpenWorkspace(root)
	if err != nil {
		t.Fatal(err)
	}
	list, set := builtin.Files(ws, builtin.Options{})
	argv, env := lsptest.Command(mode)
	o := lsp.Options{
		Root: root, Start: root, Roots: []string{root}, AfterEdit: true, Changes: set,
		Servers: []lsp.Server{lsp.Merge(lsp.Server{Name: "fake", Command: argv, Env: env, Files: []string{".fake"}})},
		Allow:   func(context.Context, tools.Call, lsp.Start) lsp.Permit { r.asked++; return lsp.Permit{OK: true} },
		Notify:  func(_, text string) { r.said <- text },
	}
	if mode == lsptest.Good || mode == lsptest.Watching { // it answers at once; a busy machine may still need longer
		o.Patience = time.Minute
	}
	for _, f := range opts {
		f(&o)
	}
	r.m = lsp.New(o)
	reg := tools.NewRegistry()
	for _, tool := range append(list, r.m.Tools()...) {
		if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, tool); err != nil {
			t.Fatal(err)
		}
	}
	r.d = &tools.Dispatcher{Registry: reg, Gate: &open{}, Changing: r.m.Changing}
	t.Cleanup(func() {
		r.m.Close()
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) write(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

type m = map[string]any

func (r *rig) call(name string, args m, opts ...func(*tools.Call)) tools.Result {
	r.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	r.calls++
	call := tools.Call{ID: fmt.Sprint(r.calls), Name: name, Arguments: raw}
	for _, f := range opts {
		f(&call)
	}
	return r.d.Dispatch(r.t.Context(), call).Result
}

// edit changes a file and returns what the server adds to the result.
func (r *rig) edit(path, old, now string, opts ...func(*tools.Call)) string {
	r.t.Helper()
	res := r.call("edit", m{"path": path, "old_string": old, "new_string": now}, opts...)
	if res.Failed {
		r.t.Fatalf("edit %s: %s", path, res.Text)
	}
	if i := strings.Index(res.Text, "[fake"); i >= 0 {
		return res.Text[i:]
	}
	return ""
}

var project = map[string]string{
	"a.fake": "def one\nerror old trouble\n", "b.fake": "use one\n", "c/d.fake": "use one\nuse lost\n", "note.txt": "text\n",
}

func TestAnEditTellsWhatItBreaksInEveryFile(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{lsptest.Good, lsptest.NoVersion, lsptest.Junk, lsptest.Changing, lsptest.Unopened, lsptest.Loading} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, mode, project)
			got := r.edit("a.fake", "def one", "def two")
			want := "[fake: 2 new errors, 2 older]\nb.fake:1:5 undefined: one [7]\nc/d.fake:1:5 undefined: one [7]"
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := r.edit("a.fake", "def two", "def one"); got != "" {
				t.Errorf("what repairs all says %q", got)
			}
			if got := r.edit("a.fake", "def one\n", "def one\nwarn watch out\nerror fresh\n"); got != "[fake: 1 new error, 1 new warning, 2 older]\na.fake:3:7 fresh [said]\na.fake:2:6 warning: watch out" {
				t.Errorf("%q", got)
			}
			if r.asked != 1 {
				t.Errorf("asked %d times whether it may start", r.asked)
			}
		})
	}
}

func TestErrorsOfAServerThatReadTheProjectDuringTheEditAreToldWithADoubt(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.LoadingLong, project, func(o *lsp.Options) { o.Loading = time.Nanosecond })
	got := ""
	for i := 0; !strings.Contains(got, "b.fake:1:5 undefined: one"); i++ { // on a slow machine it is reported with a later edit
		got = r.edit("a.fake", "def one\n", "def two\n") + r.edit("a.fake", "def two\n", "def two\ndef x\n")
		if i == 10 {
			t.Fatal("what broke was never told")
		}
		if !strings.Contains(got, "undefined: one") {
			r.edit("a.fake", "def two\ndef x\n", "def one\n")
		}
	}
	if !strings.Contains(got, "some may be older than this edit") {
		t.Errorf("%q", got)
	}
}

func TestAServerThatIsAskedReportsOpenFiles(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{lsptest.Pull, lsptest.Settings} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, mode, project)
			r.m.Read(filepath.Join(r.root, "b.fake"))
			if got := r.edit("a.fake", "def one", "def two"); got != "[fake: 1 new error, 1 older]\nb.fake:1:5 undefined: one [7]" {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestFaultyServersNeverFailOrHoldUpAnEdit(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{lsptest.Hang, lsptest.Deaf, lsptest.Mute, lsptest.Flood, lsptest.Dies, lsptest.DiesAtStart, lsptest.Huge, lsptest.Late} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, mode, project)
			for i := range 3 {
				began := time.Now()
				r.edit("b.fake", "use one", fmt.Sprintf("use one\ndef x%d", i))
				// Three seconds before the first one, two after; the rest is the machine. A
				// server that is not given up holds an edit up for ever.
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("edit %d took %s", i, took)
				}
			}
			if got := r.read("b.fake"); strings.Count(got, "def x") != 3 {
				t.Errorf("the edits are not there: %q", got)
			}
		})
	}
}

func TestAServerThatKeepsDyingIsLeftAloneWithItsLastWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.DiesAtStart, project)
	deadline := time.After(30 * time.Second)
	for i := 0; ; i++ {
		r.edit("b.fake", "use one", fmt.Sprintf("use one\ndef x%d", i))
		select {
		case <-time.After(5 * time.Millisecond): // until the exit is noticed
		case said := <-r.said:
			if strings.Contains(said, "3 times") && strings.Contains(said, "fatal: no configuration") {
				if r.asked != 3 {
					t.Errorf("it was started %d times", r.asked)
				}
				return
			}
		case <-deadline:
			t.Fatal("nobody was told")
		}
	}
}

func TestFiftyEditsLoseNoDiagnostic(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, project)
	for i := range 50 {
		fault := fmt.Sprintf("error fault %d", i)
		if got := r.edit("b.fake", "use one\n", "use one\n"+fault+"\n"); !strings.Contains(got, fmt.Sprintf("fault %d [said]", i)) || strings.Count(got, "\n") != 1 {
			t.Fatalf("edit %d: %q", i, got)
		}
	}
}

func TestSeveralEditsOfOneStepShareOneWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, project)
	followed := func(c *tools.Call) { c.Followed = true }
	if got := r.edit("a.fake", "def one", "def two", followed); got != "" {
		t.Errorf("the first one says %q", got)
	}
	if got := r.edit("b.fake", "use one", "use two"); got != "[fake: 1 new error, 2 older]\nc/d.fake:1:5 undefined: one [7]" {
		t.Errorf("%q", got)
	}
}

// A server that diagnoses in passes may repeat the report on the old text as one on the new text.
func TestAReportThatRepeatsTheOneBeforeIsNotTheAnswer(t *testing.T) {
	t.Parallel()
	for mode, edits := range map[string]int{lsptest.Stale: 5, lsptest.StaleSlow: 2} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, mode, map[string]string{"a.fake": "error fault\n"})
			for i := range edits {
				fault := fmt.Sprintf("error fault %d", i)
				if got := r.edit("a.fake", "error fault\n", "error fault\n"+fault+"\n"); !strings.Contains(got, fmt.Sprintf("fault %d [said]", i)) {
					t.Fatalf("edit %d: %q", i, got)
				}
			}
		})
	}
}

func TestWhatComesLateComesWithTheNextResult(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Late, map[string]string{"a.fake": "def one\n", "b.fake": "use one\n"})
	first := r.edit("a.fake", "def one", "def two")
	if !strings.Contains(first, "has not answered yet") {
		t.Fatalf("%q", first)
	}
	deadline := time.Now().Add(60 * time.Second)
	for i := 0; ; i++ {
		if got := r.edit("a.fake", "def two\n", fmt.Sprintf("def two\ndef x%d\n", i)); strings.Contains(got, "undefined: one") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it was lost")
		}
	}
}

func TestToolsFindSymbolsByName(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, map[string]string{"a.fake": "  def öne\n", "b.fake": "use öne\n", "c.fake": "use öne\ndef other\n"})
	for _, tc := range []struct {
		name string
		args m
		want string
	}{
		{"definition", m{"symbol": "öne", "path": "b.fake"}, "a.fake:1: def öne"},
		{"definition", m{"symbol": "öne"}, "a.fake:1: def öne"},
		{"references", m{"symbol": "öne"}, "a.fake:1: def öne\nb.fake:1: use öne\nc.fake:1: use öne"},
		{"hover", m{"symbol": "other", "path": "c.fake", "line": 2}, "c.fake:2\nthe name other"},
		{"symbols", m{"path": "c.fake"}, "c.fake\n2: function other"},
		{"symbols", m{"query": "n"}, "a.fake:1: function öne"},
		{"definition", m{"symbol": "nothing"}, "no symbol nothing in the project"},
		{"definition", m{"symbol": "nothing", "path": "a.fake"}, "nothing does not occur in a.fake"},
		{"definition", m{"symbol": "x", "path": "absent.fake"}, "absent.fake"},
		{"diagnostics", m{"path": "a.fake"}, "fake reports nothing"},
		{"symbols", m{}, "give path for the outline"},
		{"hover", m{"symbol": "x", "path": "x.txt"}, "no language server is installed for x.txt"},
	} {
		if got := r.call(tc.name, tc.args).Text; !strings.Contains(got, tc.want) {
			t.Errorf("%s %v: %q, want %q", tc.name, tc.args, got, tc.want)
		}
	}
}

func TestRenameIsOneChangeOfAllFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.fake": "def one\n"}
	for i := range 4 {
		files[fmt.Sprintf("%d.fake", i)] = "use one\r\n漢👍 text\r\n"
	}
	r := newRig(t, lsptest.Good, files)
	res := r.call("rename", m{"symbol": "one", "new_name": "zwei"})
	if res.Failed || !strings.Contains(res.Text, "changed 5 files") {
		t.Fatal(res.Text)
	}
	if got := r.read("3.fake"); got != "use zwei\r\n漢👍 text\r\n" {
		t.Errorf("%q", got)
	}
	gate, ok := r.d.Gate.(*open)
	if !ok {
		t.Fatal("no gate")
	}
	plan := gate.plans[len(gate.plans)-1]
	if len(plan.Accesses) != 5 || strings.Count(plan.Diff, "+use zwei") != 4 || plan.Summary != "Rename one to zwei in 5 files" {
		t.Errorf("what was approved: %+v", plan)
	}
	// If one file can't be written, none is.
	if err := os.Chmod(filepath.Join(r.root, "3.fake"), 0o444); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	if res := r.call("rename", m{"symbol": "zwei", "new_name": "three"}); !res.Failed || r.read("a.fake") != "def zwei\n" {
		t.Errorf("%s\n%q", res.Text, r.read("a.fake"))
	}
}

func TestActionsAreListedAndAppliedByNumber(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, map[string]string{"a.fake": "def one\nerror bad\n"})
	if got := r.call("code_action", m{"path": "a.fake", "line": 2}).Text; got != "1. Make it a warning (quickfix)" {
		t.Errorf("%q", got)
	}
	if got := r.call("code_action", m{"path": "a.fake", "line": 2, "apply": 7}).Text; !strings.Contains(got, "there is no action 7") {
		t.Errorf("%q", got)
	}
	if got := r.call("code_action", m{"path": "a.fake", "line": 2, "apply": 1}).Text; !strings.Contains(got, "changed 1 file") || r.read("a.fake") != "def one\nwarn bad\n" {
		t.Errorf("%q: %q", got, r.read("a.fake"))
	}
}

func TestChangesFromOutsideAreSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, project)
	r.edit("b.fake", "use one", "use one\n")
	r.write("b.fake", "use one\nerror from a command\n")
	if got := r.call("diagnostics", m{"path": "b.fake"}).Text; !strings.Contains(got, "b.fake:2:7 from a command") {
		t.Errorf("%q", got)
	}
}

func TestAServerHearsOfFilesThatItWatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Watching, project)
	r.write(".gitignore", "made/\n")
	r.edit("a.fake", "def one", "def one\n") // starts the server
	has := func(what string, want bool) {
		t.Helper()
		got := ""
		eventually.True(t, fmt.Sprintf("%q is there: %v", what, want), func() bool {
			got = r.call("diagnostics", m{}).Text
			return strings.Contains(got, what) == want
		}, func() string { return got })
	}
	has("c/d.fake:2:5 undefined: lost", true)
	// A command writes a new file in a new folder, changes one and removes one.
	r.write("made/f.fake", "error in an ignored folder\n")
	r.write("new/deep/e.fake", "def lost\nerror in a new file\n")
	r.write("b.fake", "error in a changed file\n")
	has("new/deep/e.fake:2:7 in a new file", true)
	has("b.fake:1:7 in a changed file", true)
	has("undefined: lost", false)
	if err := os.RemoveAll(filepath.Join(r.root, "new")); err != nil {
		t.Fatal(err)
	}
	has("undefined: lost", true)
	has("ignored folder", false)
}

func TestNoServerStartsWithoutLeaveOrNeed(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, project, func(o *lsp.Options) {
		o.Allow = func(context.Context, tools.Call, lsp.Start) lsp.Permit { return lsp.Permit{Why: "nobody may"} }
	})
	r.m.Look()
	if got := r.edit("note.txt", "text", "words"); got != "" || len(r.m.Servers()) != 0 {
		t.Errorf("%q, %v", got, r.m.Servers())
	}
	if got := r.edit("a.fake", "def one", "def two"); got != "" || len(r.m.Servers()) != 0 {
		t.Errorf("%q, %v", got, r.m.Servers())
	}
	if said := <-r.said; !strings.Contains(said, "fake was not started: nobody may") {
		t.Errorf("%q", said)
	}
	if got := r.call("definition", m{"symbol": "two", "path": "a.fake"}).Text; !strings.Contains(got, "nobody may") {
		t.Errorf("%q", got)
	}
}

// In a container, jcode is often started at the top of the file system.
func TestProgramsAreLookedForInAProjectAtTheTopOfTheFileSystem(t *testing.T) {
	top := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	room := lsp.New(lsp.Options{
		Root: top, Start: top, Roots: []string{top}, Trusted: func() bool { return true },
		Servers: []lsp.Server{{Name: "fake", Command: []string{"jcode-no-such-program"}, Files: []string{".fake"}}},
	})
	t.Cleanup(room.Close)
	list := make(chan []lsp.Installed, 1)
	go func() { list <- room.Installed() }()
	select {
	case got := <-list:
		if len(got) == 0 || got[0].Name != "fake" || got[0].Program != "" {
			t.Errorf("got %+v, want a server without a program first", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("the search does not end")
	}
}

func TestUnusedServersEndAndComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, project, func(o *lsp.Options) { o.Idle = 200 * time.Millisecond })
	r.edit("a.fake", "def one", "def two")
	eventually.True(t, "it ends", func() bool { return len(r.m.Servers()) == 0 })
	// On a busy machine the next one may count as unused before it has answered.
	was := "use one"
	for i, deadline := 0, time.Now().Add(time.Minute); ; i++ {
		next := fmt.Sprintf("use three%d", i)
		got := r.edit("b.fake", was, next)
		if strings.Contains(got, fmt.Sprintf("undefined: three%d", i)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q", got)
		}
		was = next
	}
}

func TestThePersonSeesAndStopsServers(t *testing.T) {
	t.Parallel()
	r := newRig(t, lsptest.Good, project)
	lsp := r.m.List()[0]
	run := func(args string) string {
		out, err := lsp.Run(t.Context(), args)
		if err != nil {
			return "error: " + err.Error()
		}
		return out.Notice
	}
	r.edit("a.fake", "def one", "def two")
	for _, tc := range []struct{ args, want string }{
		{"", "fake  ready  .  1 file open, 1 error"},
		{"log fake", "fake has said nothing"},
		{"restart fake", "it starts again"},
		{"off fake", "fake is off"},
		{"", "fake  off"},
		{"on fake", "fake is on"},
		{"nonsense", "error: /lsp knows"},
		{"log other", "error: name a server"},
	} {
		if got := run(tc.args); !strings.Contains(got, tc.want) {
			t.Errorf("/lsp %s: %q, want %q", tc.args, got, tc.want)
		}
	}
	if r.m.StatusLine() != "" {
		t.Errorf("errors of a server that ended: %q", r.m.StatusLine())
	}
}
