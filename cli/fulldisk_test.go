//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/session"
)

// A full disk ends the run with an error that says so, leaves no session without a message, and loses nothing
// that was stored before.
func TestFullDiskIsSaidAndCostsNothing(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh, whose ulimit plays the full disk")
	}
	dir, home := t.TempDir(), t.TempDir()
	srv := modeltest.New(t, modeltest.Text("one"), modeltest.Text("two"))
	if out, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "first").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	log, err := os.Stat(filepath.Join(home, "jcode.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "jcode") // the name under which the test binary acts as jcode
	if exe, err := os.Executable(); err != nil || os.Symlink(exe, program) != nil {
		t.Skipf("the test binary can't be found: %v", err)
	}
	for _, args := range [][]string{{"-c", "second"}, {"another"}} {
		full := jcode(t.Context(), t, dir, home, srv.URL(), append([]string{"-p", "--output-format", "json"}, args...)...)
		// No file may grow beyond the log's present size; the signal for it is ignored.
		script := fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; exec "$0" "$@"`, log.Size()/512)
		full.Path, full.Args = sh, append([]string{sh, "-c", script, program}, full.Args[1:]...)
		out, err := full.Output()
		var result struct {
			OK    bool   `json:"ok"`
			Error string `json:"error"`
		}
		if json.Unmarshal(out, &result) != nil || result.OK || err == nil || !strings.Contains(result.Error, "full") {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	if n := len(srv.Requests()); n != 1 {
		t.Errorf("%d requests were sent for what could not be kept", n-1)
	}
	out, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "-c", "third").Output()
	if err != nil || strings.TrimSpace(string(out)) != "two" {
		t.Errorf("with room again: %q, %v", out, err)
	}
	s, err := session.Open(t.Context(), filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	all, err := s.List(t.Context(), session.Filter{All: true})
	if err != nil || len(all) != 1 || all[0].Messages != 4 {
		t.Errorf("%+v, %v", all, err)
	}
}
