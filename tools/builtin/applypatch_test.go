package builtin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// patched returns the arguments of a patch with these parts.
func patched(parts ...string) args {
	return args{"input": "*** Begin Patch\n" + strings.Join(parts, "\n") + "\n*** End Patch\n"}
}

func (r *rig) absent(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(r.dir, name)); !errors.Is(err, os.ErrNotExist) {
			r.t.Errorf("%s is there (%v)", name, err)
		}
	}
}

func TestAPatchChangesAddsMovesAndRemovesFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a.go", "package a\r\n\r\nvar x = 1\r\n")
	r.put("run.sh", "#!/bin/sh\necho one")
	r.put("gone.txt", "old\n")
	r.put("latin.txt", "caf\xe9\nb\n")
	if err := os.Chmod(filepath.Join(r.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	res := r.ok("apply_patch", patched(
		"*** Update File: a.go\n@@\n-var x = 1\n+var x = 2",
		"*** Add File: new/deep/b.txt\n+one\n+\n+two",
		"*** Delete File: gone.txt",
		"*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n #!/bin/sh\n-echo one\n+echo two",
		"*** Update File: latin.txt\n@@\n-b\n+c"))
	r.holds("a.go", "package a\r\n\r\nvar x = 2\r\n")
	r.holds("new/deep/b.txt", "one\n\ntwo\n")
	r.holds("bin/run.sh", "#!/bin/sh\necho two")
	r.holds("latin.txt", "caf\xe9\nc\n")
	r.absent("gone.txt", "run.sh")
	if info, err := os.Stat(filepath.Join(r.dir, "bin/run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("the mode of the file that moved: %v %v", info.Mode(), err)
	}
	has(t, res.Text, "edited a.go (+1 -1)", "created new/deep/b.txt (+3 -0)", "deleted gone.txt", "moved run.sh to bin/run.sh (+1 -1)")
	has(t, res.Display.Diff, "a.go", "-var x = 1", "+var x = 2", "+two", "-old", "+echo two")
	if res.Display.Summary != "5 files, +6 -4" {
		t.Errorf("summary %q", res.Display.Summary)
	}
	plan := r.gate.plans[0]
	has(t, plan.Diff, "-var x = 1", "+two", "-old")
	has(t, plan.Summary, "Apply patch")
	var touched []string
	for _, a := range plan.Accesses {
		rel, err := filepath.Rel(r.dir, a.Path)
		if err != nil {
			t.Fatal(err)
		}
		touched = append(touched, string(a.Kind)+" "+filepath.ToSlash(rel))
	}
	for _, want := range []string{"write a.go", "write new/deep/b.txt", "delete gone.txt", "delete run.sh", "write bin/run.sh"} {
		if !slices.Contains(touched, want) {
			t.Errorf("the plan lacks %q: %q", want, touched)
		}
	}
}

func TestAFileMayBeNamedSeveralTimesInAPatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a", "one\ntwo\n")
	r.put("b", "x\n")
	r.ok("apply_patch", patched(
		"*** Update File: a\n@@\n-one\n+1", "*** Update File: ./a\n@@\n-two\n+2",
		"*** Delete File: b", "*** Add File: b\n+fresh",
		"*** Add File: c\n+c", "*** Update File: c\n@@\n-c\n+C", "*** Update File: c\n*** Move to: d"))
	r.holds("a", "1\n2\n")
	r.holds("b", "fresh\n")
	r.holds("d", "C\n")
	r.absent("c")
}

func TestAPatchOfWhichAPartFailsChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a", "one\n")
	r.put("b", "func two() {\n\treturn 2\n}\n")
	r.put("dir/inside", "x")
	r.put("wide", "\xff\xfea")
	const first = "*** Update File: a\n@@\n-one\n+1\n*** Add File: n\n+n"
	for bad, want := range map[string][]string{
		"*** Update File: b\n@@\n func two() {\n-\treturn 3\n+\treturn 4": {"b: hunk 1 of 1 (line 9 of the patch)", "return 2", "nearest"},
		"*** Update File: absent\n@@\n-x\n+y":                             {"absent does not exist"},
		"*** Delete File: absent":                                         {"absent does not exist"},
		"*** Delete File: dir":                                            {"dir"},
		"*** Update File: dir\n@@\n-x\n+y":                                {"dir"},
		"*** Add File: b\n+x":                                             {"b exists", "Update File"},
		"*** Add File: n\n+x":                                             {"n exists"},
		"*** Update File: a\n*** Move to: b":                              {"b exists", "another name"},
		"*** Delete File: b\n*** Update File: b\n@@\n-x\n+y":              {"b does not exist"},
		"*** Update File: wide\n@@\n-a\n+b":                               {"UTF-16"},
		"*** Add File: b/below\n+x":                                       {"b"},
		"*** Add File: dir/\n+x":                                          {"names a folder"},
		"*** Update File: b\n*** Move to: dir\n@@\n-}\n+)":                {"dir"},
		"*** Delete File: .":                                              {"the project"},
		"*** Add File: a\x00b\n+x":                                        {"NUL"},
		"*** Add File: " + strings.Repeat("n", 5000) + "\n+x":             {""},
		"*** Add File: x\nno plus":                                        {"begins with no +"},
	} {
		r.refused("apply_patch", patched(first, bad), want...)
		r.holds("a", "one\n")
		r.holds("b", "func two() {\n\treturn 2\n}\n")
		r.holds("dir/inside", "x")
		r.absent("n", "x")
	}
	for _, input := range []string{"", "x", "*** Begin Patch", "*** Begin Patch\n*** Update File: a\n@@\n-one"} {
		r.refused("apply_patch", args{"input": input}, "*** ")
	}
	r.holds("a", "one\n")
}

// A path in a patch is judged by where it really leads.
func TestAPatchIsJudgedByWhereItsFilesReallyAre(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("token = hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.link(outside, "out")
	r.link(secret, "innocent.txt")
	r.put("a", "one\n")
	real, err := filepath.EvalSymlinks(outside)
	if err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(r.dir, real)
	if err != nil {
		t.Fatal(err)
	}
	r.disp.Gate = &noGate{}
	reached := &planGate{}
	for _, path := range []string{filepath.ToSlash(secret), "out/secret.txt", "innocent.txt", filepath.ToSlash(up) + "/secret.txt"} {
		part := "*** Update File: " + path + "\n@@\n-token = hunter\n+x"
		if res := r.call("apply_patch", patched(part)); res.Text != "no" {
			t.Errorf("%s tells %q", path, res.Text)
		}
		r.disp.Gate = reached
		r.call("apply_patch", patched(part))
		if last := reached.plans[len(reached.plans)-1]; !slices.ContainsFunc(last.Accesses, func(a tools.Access) bool {
			return a.Kind == tools.AccessWrite && a.Path == filepath.Join(real, "secret.txt")
		}) {
			t.Errorf("%s is judged as %+v", path, last.Accesses)
		}
		r.disp.Gate = &noGate{}
	}
	r.disp.Gate = r.gate
	// Links are removed or moved by remove and mv.
	r.refused("apply_patch", patched("*** Delete File: innocent.txt"), "is a link")
	r.refused("apply_patch", patched("*** Update File: innocent.txt\n*** Move to: moved"), "is a link")
	r.refused("apply_patch", patched("*** Update File: a\n*** Move to: "+filepath.ToSlash(secret)), "exists")
	if data, err := os.ReadFile(secret); err != nil || string(data) != "token = hunter2\n" {
		t.Errorf("%q %v", data, err)
	}
}

// planGate refuses everything and records the plans.
type planGate struct{ allowAll }

func (g *planGate) Check(_ context.Context, req tools.GateRequest) tools.Decision {
	g.plans = append(g.plans, req.Plan)
	return tools.Decision{By: tools.ByPolicy, Reason: "no"}
}

func TestAFolderThatBecomesALinkBeforeAPatchIsWritten(t *testing.T) {
	t.Parallel()
	rec := &swapRecorder{}
	r := newRig(t, builtin.Options{Recorder: rec})
	outside := t.TempDir()
	r.put("d/f", "one\n")
	r.put("e", "one\n")
	r.gate.during = func() {
		if err := os.Rename(filepath.Join(r.dir, "d"), filepath.Join(r.dir, "d2")); err != nil {
			t.Fatal(err)
		}
		r.link(outside, "d")
	}
	rec.swap = func() {}
	r.refused("apply_patch", patched("*** Update File: e\n@@\n-one\n+1", "*** Add File: d/new\n+x"), "")
	r.holds("e", "one\n")
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
}

func TestAPatchIsMadeToWhatIsThereWhenItIsAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a", "one\ntwo\n")
	r.ok("read", args{"path": "a"})
	r.gate.during = func() { r.put("a", "zero\none\ntwo\n") }
	has(t, r.ok("apply_patch", patched("*** Update File: a\n@@\n one\n-two\n+2")).Text, "had changed on disk")
	r.holds("a", "zero\none\n2\n")
	r.gate.during = func() { r.put("a", "other\n") }
	r.refused("apply_patch", patched("*** Update File: a\n@@\n one\n-2\n+3"), "changed on disk since you last saw it")
	r.holds("a", "other\n")
}

// failingRecorder makes the last write fail: it puts a folder where the last file belongs.
type failingRecorder struct{ dir string }

func (failingRecorder) Found(context.Context, tools.Call, string, []byte, []byte) error { return nil }

func (f failingRecorder) Track(context.Context, tools.Call, []string) (func(context.Context, builtin.Written) error, error) {
	return func(context.Context, builtin.Written) error { return nil }, os.MkdirAll(filepath.Join(f.dir, "z", "full"), 0o755)
}

func TestFilesThatWereWrittenArePutBackWhenALaterOneFails(t *testing.T) {
	t.Parallel()
	rec := &failingRecorder{}
	r := newRig(t, builtin.Options{Recorder: rec})
	rec.dir = r.dir
	r.put("a", "one\n")
	r.put("gone", "g\n")
	r.refused("apply_patch", patched("*** Update File: a\n@@\n-one\n+1", "*** Delete File: gone", "*** Add File: b\n+b", "*** Add File: z\n+z"), "nothing was changed")
	r.holds("a", "one\n")
	r.holds("gone", "g\n")
	r.absent("b")
}

func TestWhoMayNotRemoveFilesCannotDoItByAPatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a", "one\n")
	caps := tools.CapRead | tools.CapWrite
	caller := tools.Caller{Session: "s", Origin: tools.OriginModel, Scope: &tools.Scope{Capabilities: &caps}}
	for _, part := range []string{"*** Delete File: a", "*** Update File: a\n*** Move to: b"} {
		if res := r.callAs(caller, "apply_patch", patched(part)); !res.Failed || !strings.Contains(res.Text, "DELETE") {
			t.Errorf("%+v", res)
		}
	}
	r.holds("a", "one\n")
	if res := r.callAs(caller, "apply_patch", patched("*** Update File: a\n@@\n-one\n+1")); res.Failed {
		t.Errorf("%s", res.Text)
	}
	r.holds("a", "1\n")
}

// A model may leave the @@ before the first hunk out, as it was trained to: the grammar that holds its text allows what
// the tool reads.
func TestTheFirstHunkNeedsNoPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a.txt", "one\ntwo\nthree\n")
	r.ok("apply_patch", patched("*** Update File: a.txt\n-one\n+1\n@@\n-three\n+3"))
	r.holds("a.txt", "1\ntwo\n3\n")
	lark, err := os.ReadFile("applypatch.lark") // it is embedded
	grammar := strings.Join(strings.Fields(string(lark)), " ")
	if err != nil || !strings.Contains(grammar, "(first hunk*)?") || !strings.Contains(grammar, "first: place* line+") || !strings.Contains(grammar, " hunk: place+ line+") {
		t.Errorf("%s", grammar)
	}
}
