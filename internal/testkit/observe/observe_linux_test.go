package observe_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"jcode/internal/testkit/observe"
)

func TestWhatAProgramDoesIsSeen(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", "cat /etc/hostname >/dev/null; echo x > made; (mkdir d; rmdir d) & wait; exec ls none")
	cmd.Dir = dir
	events, err := observe.Run(cmd, 30*time.Second)
	if err != nil {
		t.Skipf("programs can't be watched here: %v", err)
	}
	for _, want := range []observe.Event{
		{Call: "open", Path: "/etc/hostname"},
		{Call: "open", Path: filepath.Join(dir, "made"), Write: true},
		{Call: "change", Path: filepath.Join(dir, "d"), Write: true},
	} {
		if !slices.ContainsFunc(events, func(e observe.Event) bool { return e.Call == want.Call && e.Path == want.Path && e.Write == want.Write }) {
			t.Errorf("%v is not seen in %v", want, events)
		}
	}
	for _, program := range []string{"cat", "mkdir", "ls"} {
		if !slices.ContainsFunc(events, func(e observe.Event) bool { return e.Call == "exec" && filepath.Base(e.Path) == program }) {
			t.Errorf("the start of %s is not seen in %v", program, events)
		}
	}
}

func TestWhatDoesNotEndIsEnded(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & sleep 1000")
	start := time.Now()
	if _, err := observe.Run(cmd, 200*time.Millisecond); err != nil {
		t.Skip(err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}
