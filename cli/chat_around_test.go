//go:build linux || darwin

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/programs"
	"jcode/internal/testkit/terminal"
)

// The steps of a story that concern the surroundings of the chat: files, repositories, processes and MCP
// servers. Those of the chat itself are in chat_test.go.

// gitRepository turns a folder into a repository and commits everything in it.
func gitRepository(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
}

// scriptOf writes a script for the replayed model and returns its file.
func scriptOf(t *testing.T, lines string) string {
	t.Helper()
	script := filepath.Join(shortDir(t), "script.jsonl")
	if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return script
}

// put writes an executable file, and creates the folders above it.
func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	programs.File(t, file, text, 0o700)
}

// answered returns the result of a call in the request that followed it.
func (c *chat) answered(n int, id string) string {
	c.t.Helper()
	m, ok := c.request(n).Result(id)
	if !ok {
		c.t.Fatalf("request %d has no result of %s", n, id)
	}
	return m.Content
}

// received waits until a server has received this many messages of a method.
func received(t *testing.T, log, method string, n int) {
	t.Helper()
	eventually.Within(t, patience, fmt.Sprintf("the server gets %d of %s", n, method), func() bool {
		events, err := mcptest.ReadLog(log)
		if err != nil {
			t.Fatal(err)
		}
		return len(mcptest.Received(events, method)) >= n
	})
}

// roleFile writes a role into the person's configuration.
func (c *chat) roleFile(name, text string) string {
	c.t.Helper()
	dir := filepath.Join(c.home, "roles")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	file := filepath.Join(dir, name+".md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return file
}

// servers are MCP servers in the person's configuration that log when they start and end.
type servers struct {
	*chat
	logs map[string]string
}

// withServers configures servers by name and fault mode. A server whose name ends in "-" is not started
// automatically.
func withServers(c *chat, modes map[string]string) *servers {
	c.t.Helper()
	s := &servers{chat: c, logs: map[string]string{}}
	entries := map[string]any{}
	for name, mode := range modes {
		name, off := strings.CutSuffix(name, "-")
		cmd, log := mcptest.Server(mode).Logging(c.t.TempDir())
		s.logs[name] = log
		entries[name] = map[string]any{"command": cmd.Path, "args": cmd.Args, "env": cmd.Env, "enabled": !off}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.home, "mcp.json"), b, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (s *servers) role(name, text string) {
	s.t.Helper()
	dir := filepath.Join(s.home, "roles")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// counted waits until a server has started and ended this many times according to its log, and returns its
// process IDs.
func (s *servers) counted(name string, starts, ends int) []int {
	s.t.Helper()
	var pids []int
	ended := 0
	eventually.Within(s.t, patience, fmt.Sprintf("%s was started %d times and ended %d times", name, starts, ends), func() bool {
		events, err := mcptest.ReadLog(s.logs[name])
		if err != nil {
			s.t.Fatal(err)
		}
		ended = 0
		for _, e := range events {
			if e.Kind == "eof" {
				ended++
			}
		}
		pids = mcptest.Pids(events)
		return len(pids) == starts && ended == ends
	}, func() string { return fmt.Sprintf("it was started as %v and ended %d times", pids, ended) })
	return pids
}

// gone waits until a process has ended; a zombie counts as ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	if !eventually.Holds(patience, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
	}) {
		t.Errorf("process %d lives", pid)
	}
}

// nobodyKnows waits until no process has a folder of the test in its environment or on its command line: those that are
// confined count their process IDs by themselves.
func nobodyKnows(t *testing.T, dir string) {
	t.Helper()
	lives := ""
	if !eventually.Holds(patience, func() bool {
		places, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			t.Fatal(err)
		}
		lives = ""
		for _, place := range places {
			for _, file := range []string{"environ", "cmdline"} {
				if data, err := os.ReadFile(filepath.Join(place, file)); err == nil && bytes.Contains(data, []byte(dir)) {
					lives += strings.ReplaceAll(string(data), "\x00", " ") + "\n"
				}
			}
		}
		return lives == ""
	}) {
		t.Errorf("processes live:\n%s", lives)
	}
}

// pids waits for the process IDs that a command writes into a file.
func (c *chat) pids(name string, n int) []int {
	c.t.Helper()
	var out []int
	eventually.Within(c.t, patience, name+" is written", func() bool {
		data, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			return false
		}
		out = nil
		for f := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(f); err == nil {
				out = append(out, pid)
			}
		}
		return len(out) >= n
	})
	return out
}

// editor sets $EDITOR to a program that shows the file's name, waits for a line from the terminal, and runs a
// sed command on the file, with that line as $line.
func (c *chat) editor(sed string) {
	c.t.Helper()
	script := "echo editing \"$1\"\nread line\nsed \"" + sed + "\" \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"\n"
	bin := programs.Write(c.t, map[string]string{"test-editor": script}) // found by PATH, since its own path may contain blanks
	c.env = append(c.env, "PATH="+programs.First(bin), "VISUAL=", "EDITOR=test-editor")
}

// folderAsks waits until the question about the folder accepts keys.
func (c *chat) folderAsks(texts ...string) {
	c.t.Helper()
	_, err := c.Wait(patience, func(s terminal.Screen) bool {
		for _, text := range texts {
			if !s.Contains(text) {
				return false
			}
		}
		return s.Contains("n  no, work without it") && !s.Contains(strings.Repeat("─", s.Cols))
	})
	if err != nil {
		c.t.Fatal(err)
	}
}
