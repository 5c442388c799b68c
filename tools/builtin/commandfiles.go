package builtin

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"jcode/internal/paths"
)

// commandFilesMax is how many files are compared before and after a command, those that were seen
// last.
const commandFilesMax = 512

// commandFiles are the files that conversations have seen, as they were when a command was
// started. Those that change while it runs are noted for the conversation that runs it. A change
// by somebody outside jcode in that time cannot be told apart from one by the command.
type commandFiles struct {
	seen *Seen
	note func(changed map[string]time.Time)

	mu     sync.Mutex
	since  time.Time
	before map[string]fs.FileInfo // nil for a file that does not exist
}

// compareFiles looks at files before a command. It returns nil where the command has no caller to
// note, or only reads.
func (s *Shell) compareFiles(how confinement) *commandFiles {
	if s.opts.Seen == nil || s.opts.Changed == nil || how.caller.Session == "" || how.vouched != nil {
		return nil
	}
	c := &commandFiles{
		seen: s.opts.Seen, since: time.Now(), before: map[string]fs.FileInfo{},
		note: func(changed map[string]time.Time) { s.opts.Changed(how.caller, changed) },
	}
	for _, path := range c.seen.start(c) {
		c.follow(path)
	}
	return c
}

// start registers a running command, and returns the files to look at.
func (s *Seen) start(c *commandFiles) []string {
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

// running returns the commands that have not ended.
func (s *Seen) running() []*commandFiles {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.commands))
}

// Written says that jcode itself changed paths and what is below them, so that the change is not
// taken for one by a command that runs meanwhile.
func (s *Seen) Written(changed ...string) {
	for _, c := range s.running() {
		c.refresh(changed)
	}
}

func (c *commandFiles) refresh(changed []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range c.before {
		if slices.ContainsFunc(changed, func(root string) bool { return paths.Within(root, path) }) {
			c.before[path] = stat(path)
		}
	}
}

// follow adds a file that a conversation has just seen.
func (c *commandFiles) follow(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.before[path]; !ok && len(c.before) < commandFilesMax {
		c.before[path] = stat(path)
	}
}

// look notes those of the files that have changed.
func (c *commandFiles) look(files ...string) {
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

// end looks at all files once more. It may be called on nil.
func (c *commandFiles) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.before))
	c.mu.Unlock()
	c.look(all...)
	c.drop()
}

// drop ends the comparison without a look. It may be called on nil.
func (c *commandFiles) drop() {
	if c == nil {
		return
	}
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	delete(c.seen.commands, c)
}

// stat returns what is at a path, nil for nothing.
func stat(path string) fs.FileInfo {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return info
}

// sameState reports whether a file looks as it did.
func sameState(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
