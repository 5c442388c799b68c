package undo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
)

// everything is what a folder holds: kinds, modes and contents by name, .git left out.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" || d.Name() == besideFolder {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			out[name] = fmt.Sprint("folder ", info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[name] = "link to " + target
			return err
		default:
			data, err := os.ReadFile(path)
			out[name] = fmt.Sprintf("file %v %x", info.Mode().Perm(), sha256.Sum256(data))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// besideFolder is where another process writes all the time.
const besideFolder = "beside"

// writesBeside writes files in a folder of its own until the test ends, whatever commands do to them.
func writesBeside(t *testing.T, dir string) {
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			_ = os.Mkdir(filepath.Join(dir, besideFolder), 0o755) // a command may have removed it
			_ = os.WriteFile(filepath.Join(dir, besideFolder, fmt.Sprint(n%7)), fmt.Append(nil, n), 0o644)
		}
	})
	t.Cleanup(func() { cancel(); work.Wait() })
}

// holdsRepository reports whether a folder, or one below it, is a repository of its own.
func holdsRepository(dir string) (found bool) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// differs describes the first differences of two states.
func differs(is, want map[string]string) string {
	var out []string
	for name, w := range want {
		if is[name] != w {
			out = append(out, fmt.Sprintf("%s is %q, was %q", name, is[name], w))
		}
	}
	for name := range is {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is new")
		}
	}
	slices.Sort(out)
	return strings.Join(out[:min(len(out), 10)], "\n")
}

// shellLines are what a turn may do in a tree; %s are names of it.
var shellLines = [...]string{
	"mv %s %s.moved", "rm -rf %s", "sed -i s/a/bb/g %s 2>/dev/null", "echo more >> %s", "chmod 600 %s", "chmod 755 %s", "ln -sf %s link", "rm -f link; ln -s nowhere link",
	"mkdir -p empty/deep/er", "rmdir empty/deep/er", "printf 'a\\r\\nb\\r\\n' > crlf.txt", "cp -a %s copy", "rm -rf copy", "tar cf - %s | (mkdir -p un && cd un && tar xf -)",
	"git checkout -q -- . 2>/dev/null", "git clean -qfd", "git stash -q 2>/dev/null", "git stash pop -q 2>/dev/null", "touch %s", "dd if=/dev/urandom of=binary bs=1000 count=3 2>/dev/null",
	"find . -name '*.txt' -newer crlf.txt -delete", "for f in *.txt; do tr a-z A-Z < $f > t.tmp && mv t.tmp $f; done", "echo x > %s; sleep 0.01; echo x > %s", "git add -A; git commit -qm x",
	"rm -rf nested/inner; echo hi > nested/new", "mv nested/inner nested/outer", "mv nested elsewhere", "mv elsewhere nested", "mv un nowhere; mv nowhere un", "chmod 500 empty; chmod 755 empty", "sh -c 'rm %s; mkdir %s'",
}

// rigOfCommands are snapshots with a store and a tree of every kind of thing.
func rigOfCommands(t *testing.T) (s *Follower, store *session.Store, id, dir string, run func(line string)) {
	t.Helper()
	for _, name := range []string{"git", "tar", "sed"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "project")
	canary := filepath.Join(base, "ran")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run = func(line string) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		_ = cmd.Run()         // many lines fail: what they did until then counts
		_ = os.Remove(canary) // git itself runs it, when a line is one of git
	}
	run(`git init -q; for i in 1 2 3 4 5; do echo "a line $i" > f$i.txt; mkdir -p d$i/e; echo "deep a $i" > d$i/e/g.txt; done
		printf '*.txt text=auto ident\n' > .gitattributes; echo '$Id$' > id.txt; printf 'a\r\n' > crlf.txt; echo ignored > .gitignore; echo secretless > ignored
		mkdir nested; (cd nested; git init -q; echo inner > inner; git add inner; git commit -qm i; git config core.fsmonitor "touch ` + canary + `")
		git add -A 2>/dev/null; git commit -qm first`)
	data := filepath.Join(base, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	contents := NewContents(data)
	if store, err = session.Open(t.Context(), filepath.Join(data, "jcode.db"), session.Options{Contents: contents.Read}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Leave() })
	s = New(Options{
		Store: store, Contents: contents, Dir: filepath.Join(data, "snapshots", "trees"), Home: filepath.Join(base, "home"),
		Say:   func(level event.Level, format string, args ...any) { t.Logf(format, args...) },
		Roots: func() []string { return []string{dir} }, Current: func() string { return "" }, Private: func() bool { return false },
	})
	s.patience, s.limit = time.Minute, time.Minute // whatever the machine has to do
	t.Cleanup(func() {
		s.Close()
		if _, err := os.Stat(canary); err == nil {
			t.Error("a program that a repository names has run")
		}
	})
	v, err := store.Create(t.Context(), session.Session{})
	if err != nil {
		t.Fatal(err)
	}
	return s, store, v.ID, dir, run
}

// Whatever commands of a conversation and of a sub-agent do to files, an undo restores byte for byte what was before,
// and a redo what was after, while another process writes beside them.
func TestWhatCommandsDoIsUndoneAndRedone(t *testing.T) {
	t.Parallel()
	s, store, id, dir, run := rigOfCommands(t)
	rounds := 100
	if n, err := strconv.Atoi(os.Getenv("JCODE_UNDO_ROUNDS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 15
	}
	writesBeside(t, dir)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	pick := func() string {
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range everything(t, dir) {
				if name != "." && holdsRepository(filepath.Join(dir, name)) {
					continue // a copy of it would stay behind
				}
				if !strings.ContainsAny(name, " '") && name != "." && !yield(name) {
					return
				}
			}
		})
		return names[rng.IntN(len(names))]
	}
	agent, err := store.Create(t.Context(), session.Session{Kind: session.KindTask, ParentID: id})
	if err != nil {
		t.Fatal(err)
	}
	for range rounds {
		prompt, err := store.History().Append(t.Context(), session.Message{Session: id, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: "go on"}}})
		if err != nil {
			t.Fatal(err)
		}
		turn := int(prompt)
		before := everything(t, dir)
		if len(before) < 6 {
			run("git checkout -q -f HEAD~0 2>/dev/null; for i in 1 2 3 4 5; do echo again a $i > f$i.txt; mkdir -p d$i; echo a > d$i/x; done")
			before = everything(t, dir)
		}
		var lines []string
		for range 1 + rng.IntN(4) {
			line := shellLines[rng.IntN(len(shellLines))]
			for strings.Contains(line, "%s") {
				line = strings.Replace(line, "%s", pick(), 1)
			}
			lines = append(lines, line)
			caller := tools.Caller{Session: id, Turn: turn, Origin: tools.OriginModel}
			if rng.IntN(3) == 0 { // a sub-agent's is undone with the turn that it works for
				caller = tools.Caller{Session: agent.ID, Root: id, Label: "ann", Turn: 1, Origin: tools.OriginModel}
			}
			after := s.Around(caller, line)
			run(line)
			after()
		}
		then := everything(t, dir)
		if diff := differs(then, before); diff == "" {
			continue
		}
		told := func(report session.UndoReport, err error) string {
			return fmt.Sprintf("%v\n%s", err, Lines(report, filepath.Base))
		}
		report, err := store.Checkpoints().Undo(t.Context(), id)
		if diff := differs(everything(t, dir), before); diff != "" || err != nil || report.Turn != turn {
			t.Fatalf("seed %d, turn %d (%d undone): %q\n%s\n%s", seed, turn, report.Turn, lines, diff, told(report, err))
		}
		report, err = store.Checkpoints().Redo(t.Context(), id)
		if diff := differs(everything(t, dir), then); diff != "" || err != nil {
			t.Fatalf("seed %d, redo of turn %d: %q\n%s\n%s", seed, turn, lines, diff, told(report, err))
		}
		if rng.IntN(2) == 0 { // half of them stay undone
			if _, err := store.Checkpoints().Undo(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestWhatOthersChangedSinceACommandIsLeftAlone(t *testing.T) {
	t.Parallel()
	s, store, id, dir, run := rigOfCommands(t)
	after := s.Around(tools.Caller{Session: id, Turn: 1, Origin: tools.OriginModel}, "sed -i s/a/b/ *.txt")
	run("sed -i s/a/b/ *.txt")
	after()
	run("echo mine > f1.txt")
	report, err := store.Checkpoints().Undo(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	said := Lines(report, filepath.Base)
	if !strings.Contains(said, "changed by sed -i s/a/b/ *.txt:") || !strings.Contains(said, "f1.txt left alone: it was changed since") || !strings.Contains(said, "f2.txt (restored)") {
		t.Errorf("%s", said)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f1.txt")); err != nil || string(data) != "mine\n" {
		t.Errorf("%q %v", data, err)
	}
}

func TestADeletedFileThatIsNotKeptIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	s, _, id, dir, run := rigOfCommands(t)
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("KEY=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	after := s.Around(tools.Caller{Session: id, Turn: 1, Origin: tools.OriginModel}, "rm .env")
	run("rm .env")
	if said := after(); said != "rm .env deleted .env (a secret is not kept), which /undo can't restore" {
		t.Errorf("%q", said)
	}
}

func TestBuildFoldersAreNamedOnce(t *testing.T) {
	t.Parallel()
	s, store, id, _, run := rigOfCommands(t)
	line := "mkdir -p node_modules d1/__pycache__ d2/__pycache__ && touch node_modules/x d1/__pycache__/y"
	after := s.Around(tools.Caller{Session: id, Turn: 1, Origin: tools.OriginModel}, line)
	run(line + "; echo a > made.txt")
	after()
	report, err := store.Checkpoints().Undo(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	said := Lines(report, filepath.Base)
	if strings.Count(said, "is not kept") != 2 || !strings.Contains(said, "what is in 2 folders __pycache__ is not kept") || !strings.Contains(said, "what is in node_modules is not kept") || !strings.Contains(said, "made.txt (removed)") {
		t.Errorf("%s", said)
	}
}

func TestABranchThatACommandMovedIsNamed(t *testing.T) {
	t.Parallel()
	s, store, id, _, run := rigOfCommands(t)
	for turn, line := range []string{"git checkout -q -b other && echo x > new.txt", "echo y > new.txt; git add -A; git commit -qm y", "echo z > f1.txt; git stash -q; echo z > f1.txt"} {
		after := s.Around(tools.Caller{Session: id, Turn: turn + 1, Origin: tools.OriginModel}, line)
		run(line)
		after()
	}
	for _, want := range []string{"the stash changed; files are restored, not branches", "the branch other moved;", "HEAD went from "} {
		report, err := store.Checkpoints().Undo(t.Context(), id)
		if said := Lines(report, filepath.Base); err != nil || !strings.Contains(said, want) {
			t.Errorf("%v: %s\nwant %s", err, said, want)
		}
	}
}

// A repository in the project that a command moves is a repository again where it was after an undo, and where it went
// after a redo.
func TestARepositoryThatACommandMovedIsMovedBack(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"renamed":           {"mv nested other"},
		"moved deeper":      {"mkdir -p d1/deep && mv nested d1/deep/again"},
		"moved twice":       {"mv nested other", "mv other d2/other"},
		"with its parent":   {"mkdir parent && mv nested parent/", "mv parent elsewhere"},
		"in a moved parent": {"mkdir parent && mv nested parent/ && mv parent elsewhere && echo more > elsewhere/nested/inner"},
		"there and back":    {"mv nested other", "mv other nested; echo x > nested/new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, store, id, dir, run := rigOfCommands(t)
			repositories := func() (out []string) {
				err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
					if err == nil && d.Name() == ".git" {
						out = append(out, path)
						return fs.SkipDir
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			before, where := everything(t, dir), repositories()
			for _, line := range lines {
				after := s.Around(tools.Caller{Session: id, Turn: 1, Origin: tools.OriginModel}, line)
				run(line)
				after()
			}
			then, there := everything(t, dir), repositories()
			report, err := store.Checkpoints().Undo(t.Context(), id)
			if diff := differs(everything(t, dir), before); diff != "" || err != nil || !slices.Equal(repositories(), where) || len(report.Skipped) > 0 {
				t.Fatalf("undo: %v\n%s\n%q, was %q\n%s", err, diff, repositories(), where, Lines(report, filepath.Base))
			}
			if name == "renamed" && !strings.Contains(Lines(report, filepath.Base), ".git (moved back)") {
				t.Errorf("%s", Lines(report, filepath.Base))
			}
			report, err = store.Checkpoints().Redo(t.Context(), id)
			if diff := differs(everything(t, dir), then); diff != "" || err != nil || !slices.Equal(repositories(), there) || len(report.Skipped) > 0 {
				t.Fatalf("redo: %v\n%s\n%q, was %q\n%s", err, diff, repositories(), there, Lines(report, filepath.Base))
			}
		})
	}
}

func TestARepositoryThatACommandDeletedIsNamed(t *testing.T) {
	t.Parallel()
	s, store, id, _, run := rigOfCommands(t)
	after := s.Around(tools.Caller{Session: id, Turn: 1, Origin: tools.OriginModel}, "rm -rf nested")
	run("rm -rf nested")
	after()
	report, err := store.Checkpoints().Undo(t.Context(), id)
	if said := Lines(report, filepath.Base); err != nil || !strings.Contains(said, "the repository ") || !strings.Contains(said, "its branches and history are not kept") || !strings.Contains(said, "inner (made again)") {
		t.Errorf("%v: %s", err, said)
	}
}
