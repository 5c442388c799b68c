package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"jcode/tools"
	"jcode/tools/builtin"
)

// What another program saves between the look at a file and its removal stays, whichever tool removes it.
func TestASaveOfAnotherProgramBeforeARemovalIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool string
		args args
		save string // what the other program saves
		also string // what else must still be there
	}{
		"a file":               {"remove", args{"path": "f"}, "f", "d/a"},
		"a file of the folder": {"remove", args{"path": "d"}, "d/a", "d/sub/b"},
		"a file that is new":   {"remove", args{"path": "d"}, "d/sub/new", "d/a"},
		"a patch":              {"apply_patch", patched("*** Delete File: f"), "f", "d/a"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &savingRecorder{}
			r := newRig(t, builtin.Options{Recorder: rec})
			for _, file := range []string{"f", "d/a", "d/sub/b"} {
				r.put(file, "one\n")
			}
			rec.save = func() { r.put(c.save, "saved by another\n") }
			r.refused(c.tool, c.args, "at this moment")
			r.holds(c.save, "saved by another\n")
			r.holds(c.also, "one\n")
			rec.save = nil
			r.ok(c.tool, c.args)
			if _, err := os.Lstat(filepath.Join(r.dir, c.save)); !os.IsNotExist(err) {
				t.Errorf("it is not removed the second time: %v", err)
			}
			if left, err := filepath.Glob(filepath.Join(r.dir, ".*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestLinksAndEmptyFoldersAreRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("target/f", "one\n")
	r.link("target", "l")
	r.link("nowhere", "broken")
	if err := os.Mkdir(filepath.Join(r.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"l", "broken", "empty"} {
		r.ok("remove", args{"path": name})
		if _, err := os.Lstat(filepath.Join(r.dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	r.holds("target/f", "one\n")
}

// ann is another agent that changes files.
type ann struct{}

func (ann) Changed(context.Context, tools.Call, string, time.Time) string { return "by the agent ann" }

func TestARemovalNamesWhatOthersHadChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{Others: ann{}})
	for _, name := range []string{"f", "d/a", "d/b", "p"} {
		r.put(name, "one\n")
		r.ok("read", args{"path": name})
	}
	for _, name := range []string{"f", "d/b", "p"} {
		r.put(name, "one\nmore of ann\n")
	}
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"remove", args{"path": "f"}, "f had changed on disk since the model saw it, by the agent ann"},
		{"remove", args{"path": "d"}, "d/b had changed on disk since the model saw it, by the agent ann"},
		{"apply_patch", patched("*** Delete File: p"), "had changed on disk since you last saw it, by the agent ann"},
	} {
		res := r.ok(c.tool, c.args)
		has(t, res.Text, c.want, "/undo restores it")
		if res.Display.Found == "" {
			t.Errorf("%s does not tell the person:\n%s", c.tool, res.Text)
		}
	}
}
