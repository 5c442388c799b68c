package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

func TestHostilePathsAreErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "x")
	for _, p := range []string{"a\x00b", strings.Repeat("d/", 3000) + "f", strings.Repeat("n", 5000), "f/below", "f/../../../../../../nowhere/x", "\xff\xfe", "-rf", "a\nb", "~nobody/x"} {
		for tool, a := range map[string]args{
			"read": {"path": p}, "edit": {"path": p, "old_string": "a", "new_string": "b"}, "grep": {"pattern": "x", "path": p},
			"glob": {"pattern": "*", "dir": p}, "ls": {"path": p}, "remove": {"path": p}, "mv": {"src": p, "dst": "g"},
		} {
			if res := r.call(tool, a); !res.Failed || res.Text == "" {
				t.Errorf("%s %q: %q", tool, p, res.Text)
			}
		}
	}
	r.holds("f", "x")
	r.link("b", "a")
	r.link("a", "b")
	r.refused("read", args{"path": "a"}, "links")
	r.refused("write", args{"path": "a", "content": "x"}, "links")
}

// noGate refuses everything.
type noGate struct {
	allowAll
	hides
}

// hides is a gate's rule on what may not be read; nil hides nothing.
type hides func(path string) bool

func (h hides) Denied(kind tools.AccessKind, path string) string {
	if kind == tools.AccessRead && h != nil && h(path) {
		return "read"
	}
	return ""
}

func (*noGate) Check(context.Context, tools.GateRequest) tools.Decision {
	return tools.Decision{By: tools.ByPolicy, Reason: "no"}
}

func TestRefusedCallsTellNothingOfWhatIsOutsideOrDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	outside := t.TempDir()
	for _, p := range []string{filepath.Join(outside, "secret.txt"), filepath.Join(r.dir, ".env")} {
		if err := os.WriteFile(p, []byte("token = hunter2\nx = 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.disp.Gate = &noGate{hides: func(path string) bool { return filepath.Base(path) == ".env" }}
	out := filepath.ToSlash(outside)
	for _, c := range []struct {
		tool string
		args args
	}{
		{"edit", args{"path": out + "/secret.txt", "old_string": "token = hunter", "new_string": "y"}},
		{"edit", args{"path": out + "/secret.txt", "old_string": "token = hunter2x\nx = 1", "new_string": "y"}},
		{"edit", args{"path": ".env", "old_string": "token = hunter2x\nx = 1", "new_string": "y"}},
		{"edit", args{"path": out + "/secret", "old_string": "a", "new_string": "y"}},
		{"write", args{"path": out + "/secret.txt", "content": "// ... rest of code unchanged ..."}},
		{"remove", args{"path": out + "/secret"}},
		{"mv", args{"src": out + "/secret", "dst": "x"}},
		{"mv", args{"src": ".env", "dst": out + "/secret.txt"}},
	} {
		if res := r.call(c.tool, c.args); res.Text != "no" {
			t.Errorf("%s %v tells %q", c.tool, c.args, res.Text)
		}
	}
	// With the right to write but not to read, the diff is shown to the person only.
	r.disp.Gate = &hidingGate{hides: func(path string) bool { return filepath.Base(path) == ".env" }}
	if res := r.ok("write", args{"path": ".env", "content": "new\n"}); strings.Contains(res.Text, "hunter2") || !strings.Contains(res.Display.Diff, "hunter2") {
		t.Errorf("write tells %q", res.Text)
	}
}

func TestNamesThatLookLikeFlagsAndBlanksWork(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	for _, p := range []string{"-rf", "a b", "$HOME", "*", "a\nb", "#x", "é", "`id`"} {
		r.ok("write", args{"path": "d/" + p, "content": "word\n"})
		r.holds("d/"+p, "word\n")
		has(t, r.ok("read", args{"path": "d/" + p}).Text, "word")
	}
	if got := r.ok("grep", args{"pattern": "word"}).Text; strings.Count(got, ":1:word") != 8 {
		t.Errorf("grep: %q", got)
	}
	r.ok("remove", args{"path": "d/*"})
	has(t, r.ok("read", args{"path": "d/a b"}).Text, "word")
}

// FuzzArgumentsNeverPanic plans every file tool with any arguments, and runs those that
// only read.
func FuzzArgumentsNeverPanic(f *testing.F) {
	for _, seed := range []string{
		`{"path":"f","offset":-1,"limit":99999999}`, `{"pattern":"**/[","dir":".."}`, `{"pattern":"(","path":"f"}`, `{"path":"f","edits":[{}]}`,
		`{"path":"f","old_string":"","new_string":null}`, `{"src":".","dst":"~"}`, `{"path":{}}`, `[]`, `{"pattern":"(?i)é|x*","path":"f","context":-3,"limit":1}`,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("a\r\nb\xff\n\u202e\n"), 0o644); err != nil {
		f.Fatal(err)
	}
	ws, err := builtin.OpenWorkspace(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = ws.Close() })
	list := fileTools(ws, builtin.Options{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var a struct{ Path, Dir, Pattern string }
		_ = json.Unmarshal(raw, &a) // any bytes are arguments
		for _, p := range []string{a.Path, a.Dir, a.Pattern} {
			if filepath.IsAbs(p) || strings.Contains(p, "..") || strings.HasPrefix(p, "~") {
				return // no searches of the whole machine
			}
		}
		for _, tool := range list {
			call := tools.Call{Name: tool.Spec().Name, Arguments: raw, Progress: func(tools.Progress) {}}
			plan, err := tool.(tools.Planner).Plan(context.Background(), call)
			if err != nil || !tool.Spec().ReadOnly {
				continue
			}
			call.Plan = plan
			res, err := tool.Run(context.Background(), call)
			if err == nil && len(res.Text) > 200<<10 {
				t.Fatalf("%s gave %d bytes", call.Name, len(res.Text))
			}
		}
	})
}
