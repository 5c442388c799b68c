package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/session/export"
	"jcode/tasks"
	"jcode/tasks/clone"
)

// errBundleLarge says what to do with a result that is too large for the queue.
var errBundleLarge = fmt.Errorf("what came out has more than %d MB as a bundle, so only its worktree has it: let large files out, or use --push", tasks.MaxBundle>>20)

// brings reports whether what comes out of the attempt goes into the queue: others may want it who don't have its folder.
func (r *taskRun) brings() bool { return r.task.Repo != "" || r.store.Shared() }

// result returns what came out of the attempt, as it is kept.
func (r *taskRun) result(ctx context.Context, b *beside, commit string, pushed bool) (out tasks.Result, err error) {
	out.Commit = commit
	if r.store.Shared() {
		if out.Log, err = packLog(ctx, b.app.store, r.task.Session); err != nil {
			return out, err
		}
	}
	if commit == "" || !r.brings() {
		return out, nil
	}
	out.Bundle, err = worktree.Bundle(ctx, b.main.git, b.main.root, r.task.Base, r.task.Branch, tasks.MaxBundle)
	if errors.Is(err, worktree.ErrLarge) && (pushed || r.task.Repo == "") {
		return out, nil // it is elsewhere too
	}
	if errors.Is(err, worktree.ErrLarge) {
		err = errBundleLarge
	}
	r.stays = err != nil
	return out, err
}

// tidyTries is how often a worktree is tried to be removed, tidyWait the first wait.
const (
	tidyTries = 8
	tidyWait  = 100 * time.Millisecond
)

// tidy removes the worktree of an attempt in a clone, unless it is needed: what came out is in the queue.
func (r *taskRun) tidy(ctx context.Context, home *app) error {
	if r.task.Repo == "" || r.task.Dir == "" || r.stays || r.ended() == causeParked {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	err := removeTaskTree(ctx, home, r.task)
	for try := 1; err != nil && try < tidyTries; try++ { // git fails while another one adds a worktree to the same clone
		pause(ctx, time.Duration(try)*tidyWait)
		err = removeTaskTree(ctx, home, r.task)
	}
	if err != nil {
		return err
	}
	return r.store.Results().Cleared(ctx, r.task.ID, r.task.Dir)
}

// sweepClones removes worktrees that attempts left in clones when they or their worker were killed, and of which no task
// knows any more.
func sweepClones(ctx context.Context, store *tasks.Store, data string) error {
	number := regexp.MustCompile(`^task-([0-9]+)(-[0-9]+)?$`)
	clones := clone.In(data)
	roots, err := clones.Roots()
	for _, root := range roots {
		found, fault := session.FindProject(root)
		if fault != nil {
			err = errors.Join(err, fault)
			continue
		}
		list, _ := os.ReadDir(filepath.Join(data, "worktrees", found.ID+besideSuffix)) // without the folder there is none
		for _, e := range list {
			dir := filepath.Join(data, "worktrees", found.ID+besideSuffix, e.Name())
			if m := number.FindStringSubmatch(e.Name()); m != nil {
				id, _ := strconv.ParseInt(m[1], 10, 64)
				t, fault := store.Get(ctx, id)
				if fault == nil && t.Dir == dir || fault != nil && !errors.Is(fault, tasks.ErrNone) {
					continue
				}
				err = errors.Join(err, clones.Remove(ctx, root, dir, time.Minute))
			}
		}
	}
	return err
}

// loggedSession is a session as the queue keeps it for those who don't have it.
type loggedSession struct {
	Markdown string `json:"markdown"`
	JSON     string `json:"json"`
}

// packLog returns a session in the form in which the queue keeps it, nil if it is too large.
func packLog(ctx context.Context, from *session.Store, id string) ([]byte, error) {
	doc, err := export.Load(ctx, from, id)
	if errors.Is(err, session.ErrNotFound) {
		return nil, nil // nothing was said
	}
	if err != nil {
		return nil, err
	}
	var l loggedSession
	if l.JSON, err = export.Render(export.JSON, doc); err == nil {
		l.Markdown, err = export.Render(export.Markdown, doc)
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(z).Encode(l), z.Close()); err != nil {
		return nil, err
	}
	if out.Len() > tasks.MaxLog {
		return nil, nil
	}
	return out.Bytes(), nil
}

// mostUnpacked bounds a session of the queue, in bytes.
const mostUnpacked = 512 << 20

func unpackLog(packed []byte) (l loggedSession, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(z, mostUnpacked)).Decode(&l)
	}
	return l, err
}

// printLog prints the session of a task that only the queue has. It reports false if the queue has none.
func printLog(std Streams, r tasks.Result, asJSON bool) (bool, error) {
	if len(r.Log) == 0 {
		return false, nil
	}
	l, err := unpackLog(r.Log)
	if err != nil {
		return true, console.Usage("the session in the queue is damaged: %w", err)
	}
	page := l.Markdown
	if asJSON {
		page = l.JSON
	}
	_, err = io.WriteString(std.Out, strings.TrimRight(page, "\n")+"\n")
	return true, err
}

// inOwnRepository opens jcode in the folder of this run, whose repository must have the commit that a task began with,
// and adds to it what came out of the task.
func inOwnRepository(ctx context.Context, f *flags, std Streams, store *tasks.Store, t tasks.Task, do func(a *app) error) error {
	brought, err := store.Results().Of(ctx, t.ID)
	switch {
	case err != nil:
		return err
	case len(brought.Bundle) == 0 && t.Commit != "" && t.Taken.IsZero():
		return fmt.Errorf("the queue does not have what came out of it. It is in %s on the machine that worked on it, or where it was pushed", text.Visible(t.Dir))
	case len(brought.Bundle) == 0:
		return errors.New(whyNoBranch(t))
	}
	here := t
	here.Repo, here.Folder = "", "" // that of this run
	return inTaskFolder(ctx, f, std, here, func(a *app) error {
		if !worktree.Has(ctx, a.git, a.root, t.Base) {
			return fmt.Errorf("the commit %s that it began with is not in %s. Run this in a clone of %s that has it (git fetch), or write the result to a file: jcode tasks take %d --bundle FILE", t.Base, a.root, text.Visible(shownPlace(t)), t.ID)
		}
		if err := worktree.Unbundle(ctx, a.git, a.root, brought.Bundle, t.Base, t.Commit); err != nil {
			return fmt.Errorf("its bundle is damaged or does not fit (%w): nothing was changed. jcode tasks retry %d begins again if it failed; else add the task again", err, t.ID)
		}
		return do(a)
	})
}

// takeBundle merges what came out of a task elsewhere into the folder of this run.
func takeBundle(ctx context.Context, f *flags, std Streams, store *tasks.Store, t tasks.Task) (said string, err error) {
	err = inOwnRepository(ctx, f, std, store, t, func(a *app) (err error) {
		dir, branch := freePlace(ctx, a, besidesOf(a), fmt.Sprintf("task-%d", t.ID))
		tree, err := worktree.Add(ctx, worktree.Options{Git: a.git, Root: a.root, Dir: dir, Branch: branch, Commit: t.Base})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, tree.Remove(context.WithoutCancel(ctx))) }()
		if err := tree.Become(ctx, t.Commit); err != nil {
			return err
		}
		b, err := besideOf(ctx, a, tree)
		if err != nil {
			return err
		}
		var left []string
		said, left, err = b.taken(ctx)
		b.Close()
		if err != nil {
			return err
		}
		if len(left) > 0 {
			said += fmt.Sprintf("\nnot merged: %s\nThe queue keeps it until jcode tasks rm %d", strings.Join(left, ", "), t.ID)
		}
		return store.Took(ctx, t.ID, len(left) > 0)
	})
	return said, err
}

// saveBundle writes what came out of a task to a file.
func saveBundle(ctx context.Context, store *tasks.Store, t tasks.Task, file string) (string, error) {
	brought, err := store.Results().Of(ctx, t.ID)
	if err == nil && len(brought.Bundle) == 0 {
		err = errors.New("the queue has no bundle of it: " + whyNoBranch(t))
	}
	if err != nil {
		return "", err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = out.Write(brought.Bundle)
	if err := errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file))
	}
	return fmt.Sprintf("wrote %s: git fetch %s %s takes it into a repository that has %s", file, file, t.Branch, t.Base), nil
}
