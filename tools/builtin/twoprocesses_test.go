package builtin_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"jcode/tools/builtin"
)

// The number of rounds in which two processes edit one file at the same moment. To run more:
//
//	JCODE_EDIT_ROUNDS=1000 go test ./tools/builtin -run TestTwoProcessesLoseNoEdit
const editRounds = 60

// raceRig is a rig in a folder that another process changes too.
func raceRig(t *testing.T, dir string) *rig {
	t.Helper()
	r := newRig(t, builtin.Options{})
	ws, err := builtin.OpenWorkspace(filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	ws.LockIn(filepath.Join(dir, "locks"))
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	r.serve(fileTools(ws, builtin.Options{}))
	r.dir = filepath.Join(dir, "work")
	return r
}

// TestEditsInAnotherProcess is the other process: each line on its input begins a round.
func TestEditsInAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("JCODE_TEST_EDIT_DIR")
	if dir == "" {
		t.Skip("runs only as a child of TestTwoProcessesLoseNoEdit")
	}
	r := raceRig(t, dir)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("round:", r.count("theirs", n))
	}
}

// count increases one side's counter in the file, and returns what went wrong.
func (r *rig) count(side string, n int) string {
	res := r.call("edit", args{"path": "f.txt", "old_string": fmt.Sprintf("%s=%d\n", side, n-1), "new_string": fmt.Sprintf("%s=%d\n", side, n)})
	if res.Failed {
		return strings.ReplaceAll(res.Text, "\n", " ")
	}
	return "ok"
}

func TestTwoProcessesLoseNoEdit(t *testing.T) {
	t.Parallel()
	rounds := editRounds
	if s := os.Getenv("JCODE_EDIT_ROUNDS"); s != "" {
		var err error
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ size, rounds int }{"a small file": {0, rounds}, "a file of 2 MB": {2 << 20, max(rounds/6, min(rounds, 10))}} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("JCODE_EDIT_ROUNDS") != "" {
				c.rounds = rounds
			}
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "work"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestEditsInAnotherProcess$", "-test.v")
			cmd.Env = append(os.Environ(), "JCODE_TEST_EDIT_DIR="+dir)
			cmd.Stderr = os.Stderr
			begin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			r := raceRig(t, dir)
			filler := strings.Repeat("a line that nobody touches\n", c.size/27)
			r.put("f.txt", "ours=0\n"+filler+"between\n"+filler+"theirs=0\n")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			answers := bufio.NewScanner(out)
			failed := 0
			for n := 1; n <= c.rounds && failed == 0; n++ {
				if _, err := fmt.Fprintln(begin, n); err != nil {
					t.Fatal(err)
				}
				if said := r.count("ours", n); said != "ok" {
					t.Errorf("round %d, ours: %s", n, said)
					failed++
				}
				said := ""
				for said == "" && answers.Scan() {
					_, said, _ = strings.Cut(answers.Text(), "round: ")
				}
				if said != "ok" {
					t.Errorf("round %d, theirs: %s", n, said)
					failed++
				}
			}
			_ = begin.Close() // which ends the other process
			for answers.Scan() {
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if got := r.get("f.txt"); !strings.HasPrefix(got, fmt.Sprintf("ours=%d\n", c.rounds)) || !strings.HasSuffix(got, fmt.Sprintf("theirs=%d\n", c.rounds)) {
				t.Errorf("an edit that was said to be made is lost: %.20q … %.20q", got, got[max(0, len(got)-20):])
			}
		})
	}
}

// A file that is written as a whole keeps what others changed in other lines.
func TestWriteKeepsWhatOthersChangedInOtherLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "one\ntwo\nthree\nfour\n")
	r.ok("read", args{"path": "f"})
	r.put("f", "one\ntwo\nthree\nFOREIGN\n")
	has(t, r.ok("write", args{"path": "f", "content": "MINE\ntwo\nthree\nfour\n"}).Text, "in other lines (+1 -1): that was kept")
	if got := r.get("f"); got != "MINE\ntwo\nthree\nFOREIGN\n" {
		t.Errorf("%q", got)
	}
	r.put("f", "THEIRS\ntwo\nthree\nFOREIGN\n")
	r.refused("write", args{"path": "f", "content": "OURS\ntwo\nthree\nFOREIGN\n"}, "changed on disk", "+THEIRS")
	if got := r.get("f"); got != "THEIRS\ntwo\nthree\nFOREIGN\n" {
		t.Errorf("%q", got)
	}
}

// Only the change that a person saw is written, not over a file that was created since.
func TestWriteIsNotMadeOverAFileThatAppearedAfterItWasPlanned(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.gate.during = func() { r.put("f", "foreign\n") }
	r.refused("write", args{"path": "f", "content": "mine\n"}, "somebody changed it after this call was planned", "it holds now:\nforeign")
	r.holds("f", "foreign\n")
	r.gate.during = nil
	r.ok("write", args{"path": "f", "content": "mine\n"}) // it has seen the file now
	r.gate.during = func() { r.put("f", "foreign\n") }
	r.refused("write", args{"path": "f", "content": "again\n"}, "changed on disk", "+foreign")
	r.holds("f", "foreign\n")
	r.gate.during = nil
	r.ok("write", args{"path": "f", "content": "again\n"})
}
