package undo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
)

// restFactor is how many times longer a folder rests than it took to look through it: a slow machine spends no more
// than this part of its time on finding out whether it is faster now.
const restFactor = 10

// rest is what is known of a folder that took too long to look through. The first look of a day, or a machine that is
// busy with something else, may be slow once; so the folder is tried again, but never on the way of a command.
type rest struct {
	on     bool
	until  time.Time // when it is tried again
	trying bool
	said   bool
}

// rests reports whether a folder is not looked at for now.
func (s *Follower) rests(key treeKey) bool {
	f := s.folder(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.rest.on
}

// letRest has a folder rest whose look took too long, and tries at once in the background whether it was an exception.
func (s *Follower) letRest(key treeKey, f *folder, took time.Duration) {
	s.mu.Lock()
	f.rest.on = true
	said := f.rest.said
	f.rest.said = true
	for _, c := range s.running { // what they change is found by nobody now
		if i := slices.Index(c.looked, key.root); i >= 0 && c.private == key.private {
			c.looked = slices.Delete(c.looked, i, i+1)
			c.rested = append(c.rested, key.root)
		}
	}
	s.mu.Unlock()
	if !said {
		s.opt.Say(event.LevelInfo, "undo: looking through %s takes longer than a command waits for it (%s): what commands change there is not kept until it is faster; /undo names them",
			text.Visible(key.root), took.Round(time.Second/10))
	}
	s.tryAgain(key, f)
}

// tryAgain looks through a folder that rests, in the background, when it has rested long enough. The second of two
// looks counts: the first may have waited for the disk.
func (s *Follower) tryAgain(key treeKey, f *folder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.rest.trying || time.Now().Before(f.rest.until) {
		return
	}
	f.rest.trying = true
	s.work.Go(func() {
		var took time.Duration
		var err error
		for range 2 {
			began := time.Now()
			if _, err = f.tree.Look(s.ctx, time.Nanosecond); err != nil {
				break
			}
			if took = time.Since(began); took <= s.limit {
				break
			}
		}
		s.mu.Lock()
		f.rest.trying = false
		f.rest.until = time.Now().Add(restFactor * took)
		f.rest.on = err != nil || took > s.limit
		rests := f.rest.on
		s.mu.Unlock()
		switch {
		case s.ctx.Err() != nil:
		case err != nil:
			s.leaveAlone(key, err)
		case !rests:
			s.fill(key)
		}
	})
}

// lookedAt returns the folders whose changes a command is known to have made.
func (s *Follower) lookedAt(c *change) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(c.looked)
}

// noteRested records what of a command an undo can't know.
func (s *Follower) noteRested(c *change) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), noteLimit)
	defer cancel()
	s.mu.Lock()
	rested := c.rested
	s.mu.Unlock()
	for _, root := range rested {
		what := fmt.Sprintf("%s: what it changed in %s is not kept, because looking through it took too long", c.by, root)
		if err := s.opt.Store.Checkpoints().Cannot(ctx, c.session, c.turn, what); err != nil {
			s.opt.Say(event.LevelWarn, "%v", err)
		}
	}
}
