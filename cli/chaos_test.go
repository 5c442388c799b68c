package cli_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
	"jcode/session"
)

// toiler is a model that works endlessly: every answer writes a new file and runs a new command. It stops when
// told to.
type toiler struct {
	n    atomic.Int64
	stop atomic.Bool
}

func (m *toiler) answer(modeltest.Request) (modeltest.Reply, bool) {
	if m.stop.Load() {
		return modeltest.Text("All done."), true
	}
	n := m.n.Add(1)
	return modeltest.Text("Working ", "on ", "it.").WithCalls(
		modeltest.Call{ID: fmt.Sprint("w", n), Name: "write", Args: fmt.Sprintf(`{"path":"f%d.txt","content":"content %d"}`, n%7, n)},
		modeltest.Call{ID: fmt.Sprint("e", n), Name: "exec", Args: fmt.Sprintf(`{"cmd":"echo %d"}`, n)},
		modeltest.Call{ID: fmt.Sprint("r", n), Name: "read", Args: fmt.Sprintf(`{"path":"f%d.txt"}`, n%7)},
	).ArgPieces(9).Rate(1000), true
}

// jcode starts the program in a folder, with a home of its own.
func jcode(ctx context.Context, t *testing.T, dir, home, url string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skipf("the test binary can't be found: %v", err)
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Args = append([]string{"jcode"}, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "JCODE_HOME="+home, "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=sk-test-key", "JCODE_MODEL=test-model")
	return cmd
}

// TestKilledRunsGoOn repeatedly kills a run at random points, and each time continues the session of the killed
// run. The model server rejects what a real one would: a history that a kill made invalid fails the test.
func TestKilledRunsGoOn(t *testing.T) {
	t.Parallel()
	rounds := 50
	if testing.Short() {
		rounds = 8
	}
	if runtime.GOOS == "windows" {
		t.Skip("the test binary is started by another name")
	}
	dir, home := t.TempDir(), t.TempDir()
	model := &toiler{}
	srv := modeltest.New(t)
	srv.Route(model.answer)
	random := rand.New(rand.NewPCG(5, 6))
	for round := range rounds {
		prompt := fmt.Sprintf("round %02d.", round)
		args := []string{"-p", "--mode", "yolo", prompt}
		if round > 0 {
			args = append(args, "-c")
		}
		cmd := jcode(t.Context(), t, dir, home, srv.URL(), args...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		before := len(srv.Requests())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The kill comes a random time after a random request of this run. A request of the previous run may
		// still arrive late: it does not contain this prompt.
		at := before
		for left := 1 + random.IntN(3); left > 0; at++ {
			r, ok := srv.Wait(at+1, time.Minute)
			if !ok {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				t.Fatalf("round %d: no request came: %s", round, stderr.String())
			}
			if strings.Contains(string(r.Raw), prompt) {
				left--
			}
		}
		timer := time.NewTimer(time.Duration(random.IntN(60_000)) * time.Microsecond)
		<-timer.C
		if err := cmd.Process.Kill(); err != nil {
			t.Fatalf("round %d ended by itself: %v: %s", round, err, stderr.String())
		}
		_ = cmd.Wait() // it was killed
	}

	model.stop.Store(true)
	out, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "-c", "finish").Output()
	if err != nil || !strings.Contains(string(out), "All done.") {
		t.Fatalf("the last run gave %q, %v", out, err)
	}
	s, err := session.Open(t.Context(), filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	all, err := s.List(t.Context(), session.Filter{All: true})
	if err != nil || len(all) != 1 || len(s.Notices()) > 0 {
		t.Fatalf("%d sessions, %v, %v", len(all), s.Notices(), err)
	}
	history, err := s.History().All(t.Context(), all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	prompts := 0
	for _, m := range history {
		if m.Role == session.RoleUser {
			prompts++
		}
		for _, c := range m.Calls {
			if c.Status == session.StatusPending || c.Status == session.StatusRunning {
				t.Errorf("call %s is still %s", c.ID, c.Status)
			}
		}
	}
	if prompts != rounds+1 {
		t.Errorf("%d prompts are kept, want %d", prompts, rounds+1)
	}
}

// TestTwoRunsShareOneFolder lets processes work on one database at once.
func TestTwoRunsShareOneFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the test binary is started by another name")
	}
	home := t.TempDir()
	const runs, steps = 3, 25
	errs := make(chan error, runs)
	for i := range runs {
		dir := t.TempDir()
		model := &toiler{}
		srv := modeltest.New(t)
		srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
			if model.n.Load() >= steps {
				model.stop.Store(true)
			}
			return model.answer(r)
		})
		cmd := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "--mode", "yolo", fmt.Sprint("work ", i))
		go func() {
			out, err := cmd.CombinedOutput()
			if err == nil && !strings.Contains(string(out), "All done.") {
				err = fmt.Errorf("it printed %q", out)
			}
			if err != nil {
				err = fmt.Errorf("run %d: %w: %s", i, err, out)
			}
			errs <- err
		}()
	}
	for range runs {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	s, err := session.Open(t.Context(), filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	all, err := s.List(t.Context(), session.Filter{All: true})
	if err != nil || len(all) != runs {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for _, v := range all {
		if v.Messages != steps+2 { // the prompt, the steps, the last answer
			t.Errorf("session %s has %d messages", v.ID, v.Messages)
		}
	}
}
