package outputs_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/cli/outputs"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/permission"
)

// A server's tool may have any name; the file for its whole result must have a safe one.
func TestWholeResultsHaveFileNamesForEverySystem(t *testing.T) {
	data := t.TempDir()
	s := outputs.NewSpills(data, func() error { return nil })
	for name, want := range map[string]string{
		"grep": "grep-*.txt", "mcp:files:repo/search": "mcp-files-repo-search-*.txt", "../../x": "------x-*.txt", "漢": "----*.txt", "": "-*.txt",
	} {
		path, err := s.Keep(tools.Call{Name: name}, "the whole")
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if ok, err := filepath.Match(want, filepath.Base(path)); !ok || err != nil {
			t.Errorf("%q is kept as %s", name, filepath.Base(path))
		}
		if got, err := os.ReadFile(path); string(got) != "the whole" || filepath.Dir(path) != filepath.Join(data, "logs", "results") {
			t.Errorf("%q: %s holds %q, %v", name, path, got, err)
		}
	}
}

func TestOnlyTheSessionThatWasOfferedAFileMayReadIt(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	store, err := session.Open(t.Context(), filepath.Join(data, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	kept := filepath.Join(data, "logs", "exec")
	o := outputs.New(store, data, t.TempDir())
	gate, err := permission.New(permission.Options{Places: permission.Places{Roots: []string{t.TempDir()}, Data: data}, Offered: o.Named})
	if err != nil {
		t.Fatal(err)
	}
	one, two, outside := filepath.Join(kept, "one.log"), filepath.Join(kept, "two.log"), filepath.Join(data, "jcode.db")
	o.AfterCall(tools.Call{Caller: tools.Caller{Session: "s"}}, tools.Outcome{Result: tools.Result{Display: tools.Display{Log: one, Files: []string{outside}}}})
	for _, tc := range []struct {
		id, path string
		kind     tools.AccessKind
		want     bool
	}{
		{"s", one, tools.AccessRead, true},
		{"s", one, tools.AccessWrite, false},
		{"s", two, tools.AccessRead, false},
		{"s", kept, tools.AccessRead, false},
		{"s", outside, tools.AccessRead, false},
		{"other", one, tools.AccessRead, false},
		{"", one, tools.AccessRead, false},
	} {
		d := gate.Check(t.Context(), tools.GateRequest{
			Spec: tools.Spec{Name: "read", ReadOnly: true},
			Call: tools.Call{Caller: tools.Caller{Session: tc.id}},
			Plan: tools.Plan{Accesses: []tools.Access{{Kind: tc.kind, Path: tc.path}}},
		})
		if d.Allow != tc.want {
			t.Errorf("session %q, %s of %s: %v (%s)", tc.id, tc.kind, tc.path, d.Allow, d.Reason)
		}
	}
}
