package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"jcode/session"
)

// work is a folder outside git with the checkpoints of one session.
type work struct {
	t       *testing.T
	dir     string
	store   *session.Store
	c       *session.Checkpoints
	session string
}

func newWork(t *testing.T) *work {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := open(t)
	return &work{t: t, dir: dir, store: s, c: s.Checkpoints(), session: newSession(t, s, "p").ID}
}

func (w *work) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// person writes a file without a checkpoint.
func (w *work) person(name, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// tool changes the named files as a tool of the turn does.
func (w *work) tool(turn int, change func(), names ...string) {
	w.t.Helper()
	var paths []string
	for _, n := range names {
		paths = append(paths, w.path(n))
	}
	done, err := w.c.Track(w.t.Context(), w.session, turn, paths)
	if err != nil {
		w.t.Fatal(err)
	}
	change()
	if err := done(w.t.Context(), session.Written{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *work) toolWrites(turn int, name, content string) {
	w.t.Helper()
	w.tool(turn, func() { w.person(name, content) }, name)
}

// tree returns all files as "name=content", sorted; folders end in a slash.
func (w *work) tree() string {
	w.t.Helper()
	var all []string
	err := filepath.WalkDir(w.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == w.dir {
			return err
		}
		rel, _ := filepath.Rel(w.dir, p)
		switch {
		case d.IsDir():
			all = append(all, filepath.ToSlash(rel)+"/")
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			all = append(all, filepath.ToSlash(rel)+"->"+target)
		default:
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all = append(all, filepath.ToSlash(rel)+"="+string(b))
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (w *work) want(tree string) {
	w.t.Helper()
	if got := w.tree(); got != tree {
		w.t.Errorf("files are\n  %s\nwant\n  %s", got, tree)
	}
}

func (w *work) undo() session.UndoReport {
	w.t.Helper()
	r, err := w.c.Undo(w.t.Context(), w.session)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *work) redo() session.UndoReport {
	w.t.Helper()
	r, err := w.c.Redo(w.t.Context(), w.session)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestUndoTakesBackOnlyWhatToolsChanged(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("a.go", "one")
	w.person("mine.txt", "untracked")
	w.toolWrites(1, "a.go", "two")
	w.toolWrites(1, "a.go", "three")
	w.toolWrites(1, "new/b.go", "b")
	w.person("mine2.txt", "also mine")
	if err := w.c.Cannot(t.Context(), w.session, 1, "go generate"); err != nil {
		t.Fatal(err)
	}

	r := w.undo()
	w.want("a.go=one mine.txt=untracked mine2.txt=also mine new/")
	if r.Turn != 1 || len(r.Restored) != 2 || len(r.Skipped) != 0 || !slices.Equal(r.Cannot, []string{"go generate"}) {
		t.Errorf("report %+v", r)
	}
	w.redo()
	w.want("a.go=three mine.txt=untracked mine2.txt=also mine new/ new/b.go=b")
	w.undo()
	w.want("a.go=one mine.txt=untracked mine2.txt=also mine new/")
	if _, err := w.c.Undo(t.Context(), w.session); !errors.Is(err, session.ErrNothing) {
		t.Errorf("third undo: %v", err)
	}
}

func TestUndoLeavesWhatThePersonChangedSince(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("a", "a0")
	w.person("b", "b0")
	w.toolWrites(1, "a", "a1")
	w.toolWrites(1, "b", "b1")
	w.toolWrites(1, "c", "c1")
	w.person("a", "a by hand")
	if err := os.Remove(w.path("c")); err != nil {
		t.Fatal(err)
	}
	r := w.undo()
	w.want("a=a by hand b=b0")
	if len(r.Skipped) != 1 || r.Skipped[0].Path != w.path("a") || !strings.Contains(r.Skipped[0].What, "changed since") {
		t.Errorf("skipped %+v", r.Skipped)
	}
	// The skipped file doesn't block the undo of earlier turns.
	if _, err := w.c.Undo(t.Context(), w.session); !errors.Is(err, session.ErrNothing) {
		t.Errorf("second undo: %v", err)
	}
}

func TestUndoOfFoldersLinksAndModes(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("d/x", "x")
	w.person("d/e/y", "y")
	w.person("run.sh", "#!/bin/sh")
	if err := os.Chmod(w.path("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	links := os.Symlink("run.sh", w.path("l")) == nil
	before := w.tree()
	w.tool(1, func() { _ = os.RemoveAll(w.path("d")) }, "d")
	w.tool(1, func() { _ = os.MkdirAll(w.path("new/deep"), 0o755) }, "new")
	w.tool(1, func() { _ = os.Rename(w.path("run.sh"), w.path("go.sh")) }, "run.sh", "go.sh")
	if links {
		w.tool(1, func() { _ = os.Remove(w.path("l")) }, "l")
	}
	w.tool(1, func() { w.person("kind", "file") }, "kind")
	after := w.tree()
	if after == before {
		t.Fatal("nothing changed")
	}
	if r := w.undo(); len(r.Skipped) > 0 {
		t.Errorf("skipped %+v", r.Skipped)
	}
	w.want(before)
	if info, err := os.Stat(w.path("run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info, err)
	}
	if r := w.redo(); len(r.Skipped) > 0 {
		t.Errorf("skipped %+v", r.Skipped)
	}
	w.want(after)
}

func TestUndoKeepsAFolderInWhichThePersonPutAFile(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.tool(1, func() { w.person("d/a", "a") }, "d", "d/a")
	w.person("d/mine", "m")
	r := w.undo()
	w.want("d/ d/mine=m")
	if len(r.Skipped) != 1 || r.Skipped[0].Path != w.path("d") {
		t.Errorf("skipped %+v", r.Skipped)
	}
}

func TestUndoNeverFollowsAFolderThatBecameALink(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("d/a", "old")
	w.person("elsewhere/a", "new")
	w.toolWrites(1, "d/a", "new")
	if err := os.RemoveAll(w.path("d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", w.path("d")); err != nil {
		t.Skipf("links can't be made here: %v", err)
	}
	r := w.undo()
	w.want("d->elsewhere elsewhere/ elsewhere/a=new")
	if len(r.Skipped) != 1 {
		t.Errorf("report %+v", r)
	}
}

func TestUndoFromAnEarlierTurnGoesNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("a", "0")
	for turn, content := range []string{"1", "2", "3"} {
		w.toolWrites(turn+1, "a", content)
	}
	reports, err := w.c.UndoFrom(t.Context(), w.session, 2)
	if err != nil || len(reports) != 2 || reports[0].Turn != 3 {
		t.Fatalf("%+v, %v", reports, err)
	}
	w.want("a=1")
	w.redo()
	w.want("a=2")
	// After a new change nothing can be redone.
	w.toolWrites(4, "a", "4")
	if _, err := w.c.Redo(t.Context(), w.session); !errors.Is(err, session.ErrNothing) {
		t.Errorf("redo: %v", err)
	}
}

func TestChangeThatWasNeverFinishedIsNotGuessed(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("a", "0")
	w.person("b", "0")
	if _, err := w.c.Track(t.Context(), w.session, 1, []string{w.path("a"), w.path("b")}); err != nil {
		t.Fatal(err)
	}
	w.person("a", "half") // the process was killed here
	r := w.undo()
	w.want("a=half b=0")
	if len(r.Skipped) != 1 || r.Skipped[0].Path != w.path("a") {
		t.Errorf("report %+v", r)
	}
}

func TestUndoIsKeptInTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	s := openAt(t, path)
	w := &work{t: t, dir: dir, store: s, c: s.Checkpoints(), session: newSession(t, s, "p").ID}
	big := strings.Repeat("0123456789\n", 20000)
	w.person("a", big)
	w.toolWrites(1, "a", "small")
	again := openAt(t, path)
	if _, err := again.Checkpoints().Undo(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	w.want("a=" + big)
}

func TestUndoReachesRewoundTurns(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("a", "0")
	first := say(t, w.store, w.session, session.RoleUser, "first try")
	w.toolWrites(int(first), "a", "1")
	if n, err := w.store.History().Rewind(t.Context(), w.session, first); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	second := say(t, w.store, w.session, session.RoleUser, "second try")
	w.toolWrites(int(second), "a", "2")
	w.undo()
	w.want("a=1")
	w.undo()
	w.want("a=0")
}

func TestUndoTakesBackWhatSubAgentsChanged(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("a", "0")
	turn := int(say(t, w.store, w.session, session.RoleUser, "delegate"))
	child, err := w.store.Create(t.Context(), session.Session{ParentID: w.session, Kind: session.KindTask})
	if err != nil {
		t.Fatal(err)
	}
	w.toolWrites(turn, "a", "1")
	task := *w
	task.session = child.ID
	childTurn := int(say(t, w.store, child.ID, session.RoleUser, "the task"))
	task.toolWrites(childTurn, "b", "made by the sub-agent")
	if err := w.c.Cannot(t.Context(), child.ID, childTurn, "exec: make"); err != nil {
		t.Fatal(err)
	}
	r := w.undo()
	w.want("a=0")
	if r.Turn != turn || len(r.Restored) != 2 || !slices.Equal(r.Cannot, []string{"exec: make"}) {
		t.Errorf("report %+v", r)
	}
}
