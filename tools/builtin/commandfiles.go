package builtin

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"jcode/internal/paths"
	"jcode/tools"
)

// commandFilesMax is the number of files that are compared before and after a command: the last
// ones that were seen.
const commandFilesMax = 512

// commandFiles is the state of files that conversations have seen, at the start of a command. Files
// that change while it runs are recorded for the conversation that runs it. A change from outside
// jcode in that time cannot be distinguished from one by the command.
type commandFiles struct {
	after func() string // is called once the command has ended; may be nil
	seen  *Seen         // nil if the files that were seen are not compared
	// overwritten says what the command overwrote of what tools changed meanwhile. May be nil.
	overwritten func(since time.Time) string
	watched     *watchedFiles

	mu   sync.Mutex
	said string
}

// watchedFiles are the files of which a change is noted while a command runs.
type watchedFiles struct {
	note  func(changed map[string]time.Time)
	since time.Time

	mu     sync.Mutex
	before map[string]fs.FileInfo // nil for a file that does not exist
}

// compareFiles examines files before a command. It returns nil if the command only reads.
func (s *Shell) compareFiles(how confinement, line string) *commandFiles {
	if how.vouched != nil {
		return nil
	}
	c := &commandFiles{watched: &watchedFiles{since: time.Now(), before: map[string]fs.FileInfo{}}}
	if s.opts.Around != nil {
		c.after = s.opts.Around(how.caller, line)
	}
	if s.opts.Seen == nil || s.opts.Changed == nil || how.caller.Session == "" && how.caller.Origin != tools.OriginPerson {
		return c
	}
	c.seen = s.opts.Seen
	c.watched.note = func(changed map[string]time.Time) { s.opts.Changed(how.caller, changed) }
	if s.opts.Overwritten != nil {
		c.overwritten = func(since time.Time) string { return s.opts.Overwritten(how.caller, since) }
	}
	for _, path := range c.seen.start(c.watched) {
		c.watched.follow(path)
	}
	return c
}

// start registers a running command, and returns the files to compare.
func (s *Seen) start(c *watchedFiles) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands[c] = struct{}{}
	list := make([]string, 0, min(s.order.Len(), commandFilesMax))
	known := make(map[string]bool, cap(list))
	for e := s.order.Front(); e != nil && len(list) < commandFilesMax; e = e.Next() {
		if path := e.Value.(*seenFile).key.path; !known[path] {
			known[path] = true
			list = append(list, path)
		}
	}
	return list
}

// running returns the files of the commands that have not ended.
func (s *Seen) running() []*watchedFiles {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.commands))
}

// Written records that jcode itself changed paths and what is below them, so that the change is not
// attributed to a running command.
func (s *Seen) Written(changed ...string) {
	for _, c := range s.running() {
		c.refresh(changed)
	}
}

func (c *watchedFiles) refresh(changed []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range c.before {
		if slices.ContainsFunc(changed, func(root string) bool { return paths.Within(root, path) }) {
			c.before[path] = stat(path)
		}
	}
}

// follow adds a file that a conversation has just seen.
func (c *watchedFiles) follow(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.before[path]; !ok && len(c.before) < commandFilesMax {
		c.before[path] = stat(path)
	}
}

// look records those of the files that have changed.
func (c *watchedFiles) look(files ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := map[string]time.Time{}
	now := time.Now()
	for _, path := range files {
		before, ok := c.before[path]
		after := stat(path)
		if !ok || sameState(before, after) {
			continue
		}
		c.before[path] = after
		changed[path] = now
		if after != nil && after.ModTime().After(c.since) && after.ModTime().Before(now) {
			changed[path] = after.ModTime()
		}
	}
	if len(changed) > 0 {
		c.note(changed)
	}
}

// lookAtAll records all files that have changed.
func (c *watchedFiles) lookAtAll() {
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.before))
	c.mu.Unlock()
	c.look(all...)
}

// end compares all files a last time. It may be called on nil.
func (c *commandFiles) end() {
	if c == nil {
		return
	}
	c.finish()
	if c.seen == nil {
		return
	}
	c.watched.lookAtAll()
	c.drop()
	if c.overwritten != nil {
		c.say(c.overwritten(c.watched.since))
	}
}

// finish ends what began around the command, once.
func (c *commandFiles) finish() {
	if after := c.after; after != nil {
		c.after = nil
		c.say(after())
	}
}

// say adds what the model should know of the command.
func (c *commandFiles) say(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said != "" && what != "" {
		c.said += "; "
	}
	c.said += what
}

// news says what the model should know of the command's changes, once it has ended. It may be called on nil.
func (c *commandFiles) news() string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said
}

// drop ends the comparison without a result. It may be called on nil.
func (c *commandFiles) drop() {
	if c == nil {
		return
	}
	c.finish()
	if c.seen == nil {
		return
	}
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	delete(c.seen.commands, c.watched)
}

// stat returns the file info of a path, nil if it does not exist.
func stat(path string) fs.FileInfo {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return info
}

// sameState reports whether a file is unchanged by its size, time and identity.
func sameState(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
