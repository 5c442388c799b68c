package undo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"jcode/agent/event"
	"jcode/internal/snapshot"
	"jcode/internal/text"
)

// justLooked reports whether a folder is as the look behind the command before left it: that was a moment ago, and
// no tool has changed files since.
func (s *Follower) justLooked(key treeKey, sessionID string) bool {
	f := s.folder(key)
	s.mu.Lock()
	began, ended, rests := f.began, f.ended, f.rest.on
	s.mu.Unlock()
	if rests || time.Since(ended) >= onePass {
		return false
	}
	changed, err := s.opt.Store.Checkpoints().ChangedSince(s.ctx, sessionID, began)
	return err == nil && !changed
}

// folder returns what is known of a folder, from the last run too.
func (s *Follower) folder(key treeKey) *folder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.known[key]; f != nil {
		return f
	}
	opts := snapshot.Options{LeftOut: s.opt.LeaveOut, Skip: s.opt.Denied, Entries: maxEntries, MaxFile: maxFile}
	if !s.opt.Secrets {
		opts.Secret = isSecret
	}
	t := snapshot.NewTree(key.root, s.opt.Contents.of(key), opts)
	if !key.private {
		if err := t.Load(s.file(key.root)); err != nil {
			s.opt.Say(event.LevelWarn, "what was known of %s can't be read, so it is looked at anew: %v", key.root, err)
		}
	}
	f := &folder{tree: t}
	s.known[key] = f
	return f
}

func (s *Follower) file(root string) string {
	return filepath.Join(s.opt.Dir, snapshot.Hash([]byte(root))[:32])
}

// lookState says what became of a look.
type lookState byte

const (
	looked     lookState = iota
	lookRests            // the folder is too slow for now
	lookFailed           // it is left alone, or jcode ends
)

// look compares a folder with the disk, for a limited time; within bounds how long files are read. A folder that is
// too slow rests, and one that can't be looked at is left alone from then on: then nothing is known of its changes.
func (s *Follower) look(key treeKey, limit, within time.Duration) ([]snapshot.Change, lookState) {
	f := s.folder(key)
	if s.rests(key) {
		s.tryAgain(key, f)
		return nil, lookRests
	}
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	began := time.Now()
	changes, err := f.tree.Look(ctx, within)
	ended := time.Now()
	s.sayFaults(key)
	switch {
	case s.ctx.Err() != nil:
	case err == nil:
		s.mu.Lock()
		f.began, f.ended = began, ended
		s.mu.Unlock()
		s.fill(key)
		return changes, looked
	case errors.Is(err, context.DeadlineExceeded):
		s.letRest(key, f, ended.Sub(began))
		return nil, lookRests
	default:
		s.leaveAlone(key, err)
	}
	return nil, lookFailed
}

// leaveAlone looks at a folder no more, and says why.
func (s *Follower) leaveAlone(key treeKey, err error) {
	s.mu.Lock()
	said := s.off[key.root]
	s.off[key.root] = true
	s.mu.Unlock()
	if !said {
		s.opt.Say(event.LevelInfo, "undo: %s", text.Visible(err.Error()))
	}
}

// sayFaults says once why something is not kept: a turn goes on without.
func (s *Follower) sayFaults(key treeKey) {
	err := s.opt.Contents.of(key).Fault()
	if err == nil {
		return
	}
	why := "the contents of files can't be kept"
	if errors.Is(err, snapshot.ErrFull) {
		why = "what may be kept for undo is full"
	}
	s.mu.Lock()
	said := s.told[why]
	s.told[why] = true
	s.mu.Unlock()
	if said {
		return
	}
	if errors.Is(err, snapshot.ErrFull) {
		why += fmt.Sprintf(" (%d MB): files that commands change from now on are named instead of kept until room is made; jcode sessions rm deletes what a session needs", s.opt.Contents.of(key).Limit()>>20)
	} else {
		why += fmt.Sprintf(" (%v): files that commands change are named instead of kept until that is over", err)
	}
	s.opt.Say(event.LevelWarn, "undo: %s", text.Visible(why))
}

// fill reads in the background what has not been read, and saves what is known, now and then.
func (s *Follower) fill(key treeKey) {
	f := s.folder(key)
	unread := f.tree.Unread()
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.filling || !unread && time.Since(f.saved) < savingPause {
		return
	}
	f.filling = true
	s.work.Go(func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			f.filling = false
		}()
		var err error
		if unread {
			err = f.tree.Fill(s.ctx)
		}
		s.sayFaults(key)
		if err == nil {
			err = s.save(key, f)
		}
		if err != nil && s.ctx.Err() == nil {
			s.sayOnce("what is known of "+key.root, err)
		}
	})
}

// save saves what is known of a folder, if that has changed and was not just done.
func (s *Follower) save(key treeKey, f *folder) error {
	s.mu.Lock()
	recent := time.Since(f.saved) < savingPause
	if !recent {
		f.saved = time.Now()
	}
	s.mu.Unlock()
	if recent || key.private {
		return nil
	}
	return f.tree.Save(s.file(key.root))
}

// sayOnce says what can't be kept.
func (s *Follower) sayOnce(what string, err error) {
	s.mu.Lock()
	said := s.told[what]
	s.told[what] = true
	s.mu.Unlock()
	if !said {
		s.opt.Say(event.LevelWarn, "undo: %s can't be kept: %s", text.Visible(what), text.Visible(err.Error()))
	}
}
