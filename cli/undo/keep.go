package undo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/paths"
	"jcode/internal/snapshot"
	"jcode/internal/text"
	"jcode/session"
)

// noteMoved records what a command moved in the repositories of the workspace: an undo restores files only.
func (s *Follower) noteMoved(c *change) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), noteLimit)
	defer cancel()
	for root, before := range c.branches {
		moved := before.moved(branchesOf(root))
		if moved == "" {
			continue
		}
		what := fmt.Sprintf("%s: %s; files are restored, not branches", c.by, moved)
		if err := s.opt.Store.Checkpoints().Cannot(ctx, c.session, c.turn, what); err != nil {
			s.opt.Say(event.LevelWarn, "%v", err)
		}
	}
}

// keep records changes for an undo. by are those that may have made them. It returns files that are gone and were
// not kept.
func (s *Follower) keep(c *change, by []*change, found []snapshot.Change) (lost []string) {
	if len(found) == 0 {
		return nil
	}
	var names []string
	for _, o := range by {
		names = append(names, o.by)
	}
	slices.Sort(names)
	author := strings.Join(slices.Compact(names), " or ")
	var changes []session.FileChange
	leftOut := map[string]int{} // folders by name
	found, moved, gone := snapshot.Repositories(found)
	for _, f := range found {
		if f.Before.Kind == snapshot.LeftOut || f.After.Kind == snapshot.LeftOut {
			leftOut[filepath.Base(f.Path)]++
			continue
		}
		changes = append(changes, session.FileChange{Path: f.Path, Before: fileState(f.Before), After: fileState(f.After)})
	}
	for _, m := range moved {
		changes = append(changes, session.FileChange{Path: m.To, From: m.From})
	}
	store := func() (kept []session.FileChange, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), noteLimit)
		defer cancel()
		checkpoints := s.opt.Store.Checkpoints()
		kept, err = checkpoints.KeepChanges(ctx, c.session, c.turn, author, c.since, changes)
		for _, name := range slices.Sorted(maps.Keys(leftOut)) {
			in := name
			if n := leftOut[name]; n > 1 {
				in = fmt.Sprintf("%d folders %s", n, name)
			}
			err = errors.Join(err, checkpoints.Cannot(ctx, c.session, c.turn, fmt.Sprintf("%s: what is in %s is not kept", author, in)))
		}
		for _, path := range gone {
			err = errors.Join(err, checkpoints.Cannot(ctx, c.session, c.turn, fmt.Sprintf("%s: the repository %s is gone: its files can come back, its branches and history are not kept", author, path)))
		}
		return kept, err
	}
	tell := func(err error) {
		if errors.Is(err, session.ErrNotFound) {
			err = errors.New("its conversation has no message")
		}
		if err != nil {
			s.opt.Say(event.LevelWarn, "what %s changed can't be undone: %v", text.Visible(author), err)
		}
	}
	kept, err := store()
	if errors.Is(err, session.ErrNotFound) {
		kept = changes
		s.work.Go(func() { tell(s.onceBegun(store)) })
	} else {
		tell(err)
	}
	for _, k := range kept {
		if k.Before.Kind == "file" && k.Before.Note != "" && k.After.Kind == "absent" {
			lost = append(lost, fmt.Sprintf("%s (%s)", filepath.Base(k.Path), k.Before.Note))
		}
	}
	return lost
}

// onceBegun stores changes of a session as soon as it is stored itself: a hook that looks at the first prompt runs
// before that.
func (s *Follower) onceBegun(store func() ([]session.FileChange, error)) error {
	limit := time.NewTimer(beginLimit)
	defer limit.Stop()
	wait := beginLook
	again := time.NewTimer(wait)
	defer again.Stop()
	for {
		select {
		case <-s.ctx.Done():
			_, err := store()
			return err
		case <-limit.C:
			_, err := store()
			return err
		case <-again.C:
			if _, err := store(); !errors.Is(err, session.ErrNotFound) {
				return err
			}
			wait = min(2*wait, 250*time.Millisecond) // the person may undo it at once
			again.Reset(wait)
		}
	}
}

// fileState is what a snapshot knows of a path.
func fileState(e snapshot.Entry) session.FileState {
	s := session.FileState{Hash: e.Hash, Mode: e.Mode, Note: e.Why}
	switch e.Kind {
	case snapshot.File:
		s.Kind = "file"
	case snapshot.Folder:
		s.Kind = "dir"
	case snapshot.Link:
		s.Kind = "link"
	case snapshot.None:
		s.Kind = "absent"
	case snapshot.Other, snapshot.LeftOut, snapshot.Repository:
		s.Kind = "other"
	}
	return s
}

// isSecret reports whether a file holds secrets by its name.
func isSecret(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	switch name {
	case ".env.example", ".env.sample", ".env.template", ".env.dist":
		return false
	case ".env", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "credentials.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519":
		return true
	}
	return strings.HasPrefix(name, ".env.") || slices.Contains([]string{".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx"}, filepath.Ext(name))
}

// sweep removes, once a day, what no folder holds any more and no undo needs.
func (s *Follower) sweep() error {
	mark := filepath.Join(s.opt.Dir, "swept")
	if _, err := os.Stat(s.opt.Dir); err != nil {
		return nil //nolint:nilerr // nothing was kept yet
	}
	if info, err := os.Stat(mark); err == nil && time.Since(info.ModTime()) < 24*time.Hour {
		return nil
	}
	before := time.Now().Add(-maxAge)
	needed, err := s.opt.Store.Checkpoints().Needed(s.ctx)
	if err != nil {
		return err
	}
	saved, err := os.ReadDir(s.opt.Dir)
	if err != nil {
		return err
	}
	for _, d := range saved {
		path := filepath.Join(s.opt.Dir, d.Name())
		if info, err := d.Info(); err == nil && info.ModTime().Before(before) {
			err = os.Remove(path) // nothing was changed there for a month: it is looked at anew
			if err != nil {
				return err
			}
			continue
		}
		if err := snapshot.SavedHashes(path, func(hash string) { needed[hash] = true }); err != nil {
			return err
		}
	}
	if err := s.opt.Contents.disk.Sweep(s.ctx, before, func(hash string) bool { return needed[hash] }); err != nil {
		return err
	}
	return os.WriteFile(mark, nil, 0o600)
}

// branches is where a repository's HEAD, its branch and its stash are; "" for what is not there.
type branches struct{ head, commit, stash string }

// branchesOf reads them from a repository's own folder. A branch that is packed counts as none.
func branchesOf(root string) branches {
	const most = 4 << 10
	read := func(name string) string {
		data, err := paths.ReadInside(root, filepath.Join(root, ".git", filepath.FromSlash(name)), most)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(data))
	}
	b := branches{head: read("HEAD"), stash: read("refs/stash")}
	if ref, ok := strings.CutPrefix(b.head, "ref: "); ok && filepath.IsLocal(filepath.FromSlash(ref)) {
		b.commit = read(ref)
	}
	return b
}

// moved says what a command moved in a repository, "" for nothing.
func (b branches) moved(now branches) string {
	name := func(head string) string { return strings.TrimPrefix(strings.TrimPrefix(head, "ref: "), "refs/heads/") }
	switch {
	case b.head != now.head:
		return fmt.Sprintf("HEAD went from %s to %s", text.Truncate(name(b.head), 60, "…"), text.Truncate(name(now.head), 60, "…"))
	case b.commit != now.commit:
		return "the branch " + text.Truncate(name(b.head), 60, "…") + " moved"
	case b.stash != now.stash:
		return "the stash changed"
	}
	return ""
}
