//go:build linux || darwin

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/session"
)

// Killing jcode while agents work loses no result that was reported, and leaves no process behind and no
// worktree that doctor does not list. To run it by hand with more rounds:
//
//	JCODE_AGENT_KILLS=50 go test ./cli -run TestKillsWithAgentsAtWorkLoseNothing -v
func TestKillsWithAgentsAtWorkLoseNothing(t *testing.T) {
	t.Parallel()
	rounds := 3
	if s := os.Getenv("JCODE_AGENT_KILLS"); s != "" {
		var err error
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	c := newChat(t)
	c.write("a.txt", "one\n")
	gitRepository(t, c.dir)
	pids := t.TempDir()
	var script strings.Builder
	line := func(agent string, cmd string) {
		call := []map[string]any{{"name": "exec", "arguments": map[string]any{"cmd": cmd}}}
		b, err := json.Marshal(map[string]any{"agent": agent, "tool_calls": call})
		if err != nil {
			t.Fatal(err)
		}
		script.Write(append(b, '\n'))
	}
	script.WriteString(`{"tool_calls":[{"name":"task","arguments":{"prompt":"x","name":"ann","background":true,"isolation":"worktree"}},{"name":"task","arguments":{"prompt":"x","name":"ben","background":true,"isolation":"worktree"}},{"name":"task","arguments":{"prompt":"x","name":"cat","background":true}}]}` + "\n")
	for _, agent := range []string{"ann", "ben", "cat"} {
		for i := range 5 {
			line(agent, fmt.Sprintf("echo $$ > %s/%s-$$; echo %s step %d > %s.txt", pids, agent, agent, i, agent))
		}
		line(agent, fmt.Sprintf("sleep 300 & echo $! > %s/%s-$!; wait", pids, agent))
	}
	script.WriteString(`{"text":"All are at work."}` + "\n")
	file := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	told, worktrees := 0, 0
	for round := range rounds {
		at := 8 + round*29%60
		if round == rounds-1 {
			at = 0 // when all agents are working
		}
		results := killedRun(t, c, file, at)
		told += len(results)
		checkKept(t, c, results)
		awaitEnd(t, pids)
		worktrees = checkListed(t, c)
	}
	if told == 0 || worktrees == 0 {
		t.Errorf("%d results were told, and %d worktrees are left: nothing was tried", told, worktrees)
	}
	t.Logf("%d kills: %d results told and kept, %d worktrees left and listed", rounds, told, worktrees)
	// The last session continues, and says which agents were running.
	if err := os.WriteFile(file, []byte(`{"text":"Went on."}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), "-p", "-c", "--mode", "yolo", "-m", "replay:"+file, "go on").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Went on.") || !strings.Contains(string(out), "was running when jcode ended: /agents resumes it") {
		t.Errorf("after the kill: %v\n%s", err, out)
	}
}

// toldResult is the result of a call as a run reported it.
type toldResult struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Session string `json:"agent_session"`
}

// killedRun kills a run after a number of lines of output, or when its three agents wait for their last command.
// It returns the results that the run reported.
func killedRun(t *testing.T, c *chat, script string, lines int) (told []toldResult) {
	t.Helper()
	cmd := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), "-p", "--mode", "yolo", "-m", "replay:"+script, "--output-format", "stream-json", "go")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	main, waiting := "", 0
	in := bufio.NewScanner(out)
	for n := 1; in.Scan(); n++ {
		var line struct {
			toldResult
			Main string `json:"session_id"`
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			break // cut off by the kill
		}
		if line.Type == "init" {
			main = line.Main
		}
		if line.Type == "tool_result" {
			if line.Session == "" {
				line.Session = main
			}
			told = append(told, line.toldResult)
		}
		if line.Type == "tool_call" && bytes.Contains(in.Bytes(), []byte("sleep 300")) {
			waiting++
		}
		if n == lines || waiting == 3 {
			waiting = 0
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	return told
}

// checkKept checks that the sessions contain the reported results.
func checkKept(t *testing.T, c *chat, told []toldResult) {
	t.Helper()
	store, err := session.Open(t.Context(), filepath.Join(c.home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, r := range told {
		rows, err := store.History().All(t.Context(), r.Session)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, row := range rows {
			for _, call := range row.Calls {
				found = found || call.ID == r.ID && call.Status != ""
			}
		}
		if !found {
			t.Errorf("the result of %s in session %s is lost", r.ID, r.Session)
		}
	}
}

// awaitEnd waits until every process that wrote its ID has ended.
func awaitEnd(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		_, number, _ := strings.Cut(f.Name(), "-")
		pid, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		gone(t, pid)
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// checkListed checks that doctor lists each worktree that git knows, and returns their number. A git process
// that was creating one may still be running.
func checkListed(t *testing.T, c *chat) (n int) {
	t.Helper()
	var err error
	eventually.True(t, "doctor lists each worktree", func() bool { n, err = listed(t, c); return err == nil }, func() string { return err.Error() })
	return n
}

func listed(t *testing.T, c *chat) (n int, err error) {
	t.Helper()
	cmd := exec.Command("git", "worktree", "list", "--porcelain")
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("git worktree list: %w: %s", err, out)
	}
	said, _ := jcode(t.Context(), t, c.dir, c.home, "http://127.0.0.1:1", "doctor").CombinedOutput() // it reports other findings too
	for line := range strings.Lines(string(out)) {
		dir, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		if !ok || !strings.Contains(dir, "worktrees") {
			continue
		}
		n++
		if !strings.Contains(string(said), filepath.Base(dir)) {
			return 0, fmt.Errorf("the worktree %s is not listed:\n%s", dir, said)
		}
	}
	return n, nil
}
