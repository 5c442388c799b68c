package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// checkoutLimit limits how long filling a copy may take.
	checkoutLimit = 15 * time.Minute
	// lockPatience is how long a lock that an earlier git left behind is respected.
	lockPatience = 2 * time.Second
	// pipeDelay is how long to wait for the output of a git that was ended: a filter may hold it.
	pipeDelay = 2 * time.Second
	// unfinished is a file in the git folder of a copy that exists as long as files are missing there. It
	// contains the git tree that the files come from.
	unfinished = "jcode-unfinished"
)

// checkout writes the files of a copy.
type checkout struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // valid once done is closed
}

// Ready waits until all files of the copy exist. An error says why they don't.
func (t Tree) Ready(ctx context.Context) error {
	if t.filling == nil {
		return nil
	}
	select {
	case <-t.filling.done:
		return t.filling.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop ends the writing of files in the background, and waits for its end. Reopen writes the files that are
// missing then.
func (t Tree) Stop() {
	if t.filling != nil {
		t.filling.cancel()
		<-t.filling.done
	}
}

// Reopen returns a copy that an earlier run made. If that run ended before all files existed, the rest is
// written in the background, as by Add.
func Reopen(ctx context.Context, t Tree) (Tree, error) {
	if err := t.Check(ctx); err != nil {
		return t, err
	}
	if t.whole(ctx) {
		return t, nil
	}
	t.fillOn(ctx)
	return t, nil
}

// whole reports whether all files of the copy exist. Until then no work is done in it.
func (t Tree) whole(ctx context.Context) bool {
	mark, err := t.mark(ctx)
	if err != nil {
		return true // it is not a copy
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(mark), "index")); errors.Is(err, fs.ErrNotExist) {
		return false // the run ended before it wrote the mark
	}
	_, err = os.Lstat(mark)
	return errors.Is(err, fs.ErrNotExist)
}

func (t Tree) mark(ctx context.Context) (string, error) {
	dir, err := git(ctx, t.Git, t.Dir, nil, "rev-parse", "--absolute-git-dir")
	return filepath.Join(dir, unfinished), err
}

// fill determines what the work in a new copy begins with, and writes the files that come first.
func (t *Tree) fill(ctx context.Context, o Options) (err error) {
	t.Base, err = git(ctx, t.Git, t.Dir, nil, "rev-parse", "HEAD^{tree}")
	if o.Uncommitted {
		t.Base, err = snapshot(ctx, t.Git, t.Root)
	}
	if err != nil {
		return err
	}
	mark, err := t.mark(ctx)
	if err == nil {
		err = os.WriteFile(mark, []byte(t.Base+"\n"), 0o600)
	}
	if err != nil {
		return err
	}
	if _, err := git(ctx, t.Git, t.Dir, nil, "read-tree", t.Base); err != nil {
		return err
	}
	list, err := git(ctx, t.Git, t.Dir, nil, "ls-files", "-z")
	if err != nil {
		return err
	}
	tracked := strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
	for _, path := range o.Copy {
		if err := t.copyIn(path, tracked); err != nil {
			return err
		}
	}
	if o.First == nil {
		return t.finish(ctx)
	}
	if first := o.First(tracked); len(first) > 0 {
		in := strings.NewReader(strings.Join(first, "\x00") + "\x00")
		if _, err := gitInput(ctx, t.Git, t.Dir, nil, in, "checkout-index", "-q", "-u", "-z", "--stdin"); err != nil {
			return err
		}
	}
	t.fillOn(ctx)
	return nil
}

// fillOn writes the missing files in the background.
func (t *Tree) fillOn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkoutLimit)
	c := &checkout{cancel: cancel, done: make(chan struct{})}
	t.filling = c
	of := *t
	go func() {
		defer close(c.done)
		defer cancel()
		c.err = of.finish(ctx)
	}()
}

// finish writes the missing files.
func (t *Tree) finish(ctx context.Context) error {
	mark, err := t.mark(ctx)
	if err != nil {
		return err
	}
	if err := t.Git.Vouched(t.Dir); err != nil {
		return fmt.Errorf("fill the worktree %s: %w", t.Dir, err)
	}
	if _, err := t.checkedOut(ctx); err != nil {
		return fmt.Errorf("fill the worktree %s: %w", t.Dir, err)
	}
	if head, err := git(ctx, t.Git, t.Dir, nil, "rev-parse", "HEAD^{tree}"); err != nil {
		return err
	} else if head != t.Base { // what was not committed stays uncommitted
		if _, err := git(ctx, t.Git, t.Dir, nil, "reset", "-q"); err != nil {
			return err
		}
	}
	if err := t.keepStart(ctx); err != nil {
		return fmt.Errorf("fill the worktree %s: %w", t.Dir, err)
	}
	return os.Remove(mark)
}

// checkedOut has git write the files. A lock that remains belongs to a git that was killed: no other process
// works in a copy before it is whole.
func (t *Tree) checkedOut(ctx context.Context) (string, error) {
	for began := time.Now(); ; {
		said, err := git(ctx, t.Git, t.Dir, nil, "-c", "checkout.workers=0", "read-tree", "--reset", "-u", t.Base)
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "index.lock") {
			return said, err
		}
		if time.Since(began) > lockPatience {
			dir, err := git(ctx, t.Git, t.Dir, nil, "rev-parse", "--absolute-git-dir")
			if err == nil {
				err = os.Remove(filepath.Join(dir, "index.lock"))
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
			began = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
