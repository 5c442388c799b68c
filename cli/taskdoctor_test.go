//go:build linux || darwin

package cli_test

import (
	"os"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestTheDoctorChecksAPostgresOfTasks(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	h.onPostgres()
	far := newTaskRoom(t)
	far.config(read(t, h.home, "config.json"))
	for _, r := range []*taskRoom{h.taskRoom, far} {
		r.srv.Route(func(modeltest.Request) (modeltest.Reply, bool) { return modeltest.Text("ready"), true })
	}
	doctor := func(r *taskRoom, want, not string, flags ...string) {
		t.Helper()
		out, _ := r.run(append([]string{"doctor", "--no-mcp", "--tasks"}, flags...)...) // there may be other faults
		for _, w := range strings.Split(want, "|") {
			if !strings.Contains(out, w) {
				t.Errorf("the report lacks %q:\n%s", w, out)
			}
		}
		if not != "" && strings.Contains(out, not) {
			t.Errorf("the report has %q:\n%s", not, out)
		}
	}
	h.must("tasks", "add", "--mode", "edits", "in a folder")
	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "--repo", h.address, "of an address")
	doctor(h.taskRoom, "2 queued tasks|postgres://|no worker runs|git works in "+h.dir+"|git reads "+h.address+"|was not cloned on this machine", "password")
	doctor(far, "git reads "+h.address, h.dir)
	h.write(".mcp.json", `{"mcpServers":{"x":{"command":"true"}}}`)
	h.commit("a server")
	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "--at", "24h", "--repo", h.address, "of an address, tomorrow")
	trust := jcode(t.Context(), t, far.dir, far.home, far.srv.URL(), "worker", "--trust", h.address)
	trust.Stdin = strings.NewReader("no\n")
	if out, err := trust.CombinedOutput(); err == nil {
		t.Errorf("a no: %s", out)
	}
	doctor(far, "nothing of "+h.address+" is trusted on this machine: jcode worker --trust", "")
	trust = jcode(t.Context(), t, far.dir, far.home, far.srv.URL(), "worker", "--trust", h.address)
	trust.Stdin = strings.NewReader("yes\n")
	if out, err := trust.CombinedOutput(); err != nil {
		t.Errorf("a yes: %v\n%s", err, out)
	}
	doctor(far, "1 answer about trust of "+h.address, "")
	if err := os.RemoveAll(strings.TrimPrefix(h.address, "file://")); err != nil {
		t.Fatal(err)
	}
	doctor(far, "the repository can't be read|check the address", "")
	doctor(far, "1 answer about trust", "can't be read", "--offline")
}
