package undo

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/agent/event"
	"jcode/internal/paths"
	"jcode/internal/snapshot"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

const (
	// MaxBytes bounds what is kept on the disk for all projects, and memoryBytes what is kept of the files of
	// private conversations.
	MaxBytes    = 2 << 30
	memoryBytes = 64 << 20
	// maxFile and maxEntries bound a file that is kept, and the files of a folder.
	maxFile    = 32 << 20
	maxEntries = 400_000
	// readingLimit is how long a command waits for changed files to be read before it, and lookingLimit how long for
	// a look: a folder that takes longer rests (snapshotrest.go).
	readingLimit = 200 * time.Millisecond
	lookingLimit = 3 * time.Second
	// maxAge is how long a content is kept that no folder holds any more and no undo needs.
	maxAge = 30 * 24 * time.Hour
	// onePass is how shortly after the look behind a command the next one may begin without a look of its own.
	onePass = 50 * time.Millisecond
	// savingPause is how long what is known of a folder is not saved again while jcode runs.
	savingPause = 30 * time.Second
)

// noteLimit bounds how long recording a change takes.
const noteLimit = 10 * time.Second

// beginLimit bounds how long a session may take to begin after a change, beginLook is the first wait before it is looked
// for; each further one is twice as long, up to a second.
const (
	beginLimit = 2 * time.Minute
	beginLook  = 20 * time.Millisecond
)

// ShellLine is what changes of a command that the person runs are called.
const ShellLine = "a ! line"

// built are names of folders that builds and package managers write: what is in them can be made again.
var built = [...]string{
	"node_modules", "bower_components", "target", "dist", "build", "out", "_build", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache",
	".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".gradle", ".terraform", ".dart_tool", "DerivedData", "Pods",
	".cache", ".hg", ".svn", ".jj",
}

// Options are what a Follower works with.
type Options struct {
	Store    *session.Store
	Contents Contents
	Dir      string   // the folder of what is known of the workspace's folders
	Home     string   // is not followed
	LeaveOut []string // names of folders whose contents are not kept, besides those that are built
	Secrets  bool     // the contents of secrets are kept, too
	// Say tells the person something.
	Say func(level event.Level, format string, args ...any)
	// Roots returns the workspace's folders, Current the session of the person's own commands.
	Roots   func() []string
	Current func() string
	Private func() bool
	// Denied returns what tells which names of a folder are not looked at; nil looks at all.
	Denied func(dir string) func(name string) bool
}

// Follower knows what commands and tools whose writes are not known beforehand change in the workspace, so that
// an undo reverts it. It is safe for concurrent use. A nil Follower follows nothing.
type Follower struct {
	opt      Options
	patience time.Duration // how long files are read before a command
	limit    time.Duration // how long a command waits for a look

	work   sync.WaitGroup
	ctx    context.Context //nolint:containedctx // the life of its background work
	cancel context.CancelFunc

	mu      sync.Mutex
	known   map[treeKey]*folder
	off     map[string]bool // folders that are left alone, each for a reason that was said
	told    map[string]bool // why not everything is kept, as it was said
	running []*change
	own     map[string]int // turn numbers of the person's last commands, by session
}

// folder is what is known of a folder, and what is done about it.
type folder struct {
	tree    *snapshot.Tree
	filling bool      // its files are being read in the background
	saved   time.Time // when what is known was last saved
	// began and ended are the times of the last look.
	began, ended time.Time
	rest         rest
}

// treeKey is a folder; of private conversations everything is kept apart.
type treeKey struct {
	root    string
	private bool
}

// Contents are the contents of files: on the disk, and of private conversations in memory.
type Contents struct{ disk, memory *snapshot.Contents }

// NewContents returns the contents that are kept below a data folder.
func NewContents(data string) Contents {
	return Contents{snapshot.NewContents(filepath.Join(data, "snapshots", "contents"), MaxBytes), snapshot.NewContents("", memoryBytes)}
}

// of returns where the contents of a folder's files are kept.
func (k Contents) of(key treeKey) *snapshot.Contents {
	if key.private {
		return k.memory
	}
	return k.disk
}

// Read returns a content.
func (k Contents) Read(hash string) ([]byte, error) {
	data, err := k.memory.Read(hash)
	if err != nil {
		data, err = k.disk.Read(hash)
	}
	return data, err
}

// Usage says what is kept on the disk.
func (k Contents) Usage() snapshot.Usage { return k.disk.Usage() }

// change is a command or call that runs.
type change struct {
	by      string
	session string
	turn    int
	since   time.Time
	private bool
	looked  []string // the folders that were looked at before it
	rested  []string // those that rest
	// branches are those of the repositories before it.
	branches map[string]branches
}

// New returns a Follower. Close ends it.
func New(o Options) *Follower {
	o.LeaveOut = append(built[:], o.LeaveOut...)
	s := &Follower{opt: o, patience: readingLimit, limit: lookingLimit, known: map[treeKey]*folder{}, off: map[string]bool{paths.Real(o.Home): true}, told: map[string]bool{}, own: map[string]int{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Follow has a dispatcher tell of calls that may write what their plans don't name.
func (s *Follower) Follow(d *tools.Dispatcher) {
	if s != nil {
		d.Around = func(call tools.Call) func() string { return s.Around(call.Caller, call.Name) }
	}
}

// Around is called before a command or call runs. It returns the function that is called when it has ended, which
// says what the model should know; nil if its changes are not followed.
func (s *Follower) Around(caller tools.Caller, by string) (after func() string) {
	if s == nil {
		return nil
	}
	by = text.Headline(by)
	if caller.Root != "" && caller.Label != "" {
		by = caller.Label + ": " + by // an agent's
	}
	c := &change{by: text.Truncate(by, 60, "…"), session: caller.Session, turn: caller.Turn, private: s.opt.Private()}
	if c.session == "" {
		if c.session = s.opt.Current(); c.session == "" || caller.Origin != tools.OriginPerson {
			return nil
		}
		turn, err := s.opt.Store.Checkpoints().Begin(s.ctx, c.session, ShellLine)
		if err != nil {
			s.opt.Say(event.LevelWarn, "what a ! line changes is not kept for /undo: %v", err)
			return nil
		}
		c.turn = turn
		s.mu.Lock()
		s.own[c.session] = turn
		s.mu.Unlock()
	}
	c.branches = map[string]branches{}
	for _, root := range s.followed() {
		c.branches[root] = branchesOf(root)
		key, others := treeKey{root, c.private}, s.others(nil)
		if len(others) == 0 && s.justLooked(key, c.session) {
			c.looked = append(c.looked, root)
			continue
		}
		found, state := s.look(key, s.limit, s.patience)
		switch state {
		case looked:
			c.looked = append(c.looked, root)
		case lookRests:
			c.rested = append(c.rested, root)
		case lookFailed:
		}
		if i := slices.IndexFunc(others, func(o *change) bool { return slices.Contains(s.lookedAt(o), root) }); i >= 0 {
			s.keep(others[i], others, found) // while they run, nobody else is known to change files
		}
	}
	c.since = time.Now()
	s.mu.Lock()
	s.running = append(s.running, c)
	s.mu.Unlock()
	return func() string { return s.ended(c) }
}

// ended records what changed while a command ran.
func (s *Follower) ended(c *change) (said string) {
	var lost []string
	for _, root := range s.lookedAt(c) {
		found, _ := s.look(treeKey{root, c.private}, 20*s.limit, 0)
		lost = append(lost, s.keep(c, append(s.others(c), c), found)...)
	}
	s.noteMoved(c)
	s.noteRested(c)
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(o *change) bool { return o == c })
	s.mu.Unlock()
	if len(lost) == 0 {
		return ""
	}
	said = fmt.Sprintf("%s deleted %s, which /undo can't restore", c.by, strings.Join(lost[:min(len(lost), 5)], ", "))
	if more := len(lost) - 5; more > 0 {
		said += fmt.Sprintf(" (and %d more)", more)
	}
	s.opt.Say(event.LevelWarn, "%s", text.Visible(said))
	return said
}

// OwnTurn returns the turn number of the person's last command in a session.
func (s *Follower) OwnTurn(session string) (turn int, ok bool) {
	if s == nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	turn, ok = s.own[session]
	return turn, ok
}

// others returns the commands that run beside one.
func (s *Follower) others(c *change) []*change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.running), func(o *change) bool { return o == c })
}

// followed returns the folders that are looked at.
func (s *Follower) followed() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, root := range s.opt.Roots() {
		if root = paths.Real(root); !s.off[root] && !slices.ContainsFunc(out, func(o string) bool { return paths.Within(o, root) }) {
			out = append(out, root)
		}
	}
	return out
}

// Begin looks through the workspace in the background, once jcode has started.
func (s *Follower) Begin() {
	if s == nil {
		return
	}
	s.work.Go(func() {
		timer := time.NewTimer(time.Second) // the first frame and the first prompt come first
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			return
		}
		s.opt.Contents.disk.Count()
		for _, root := range s.followed() {
			s.fill(treeKey{root, s.opt.Private()})
		}
		if err := s.sweep(); err != nil && s.ctx.Err() == nil {
			s.opt.Say(event.LevelWarn, "old contents that undo kept are not removed: %v", err)
		}
	})
}

// Close ends the background work and saves what is known.
func (s *Follower) Close() {
	if s == nil {
		return
	}
	s.cancel()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, f := range s.known {
		if key.private || !f.tree.Known() {
			continue
		}
		if err := f.tree.Save(s.file(key.root)); err != nil && !s.told["what is known of "+key.root] {
			s.opt.Say(event.LevelWarn, "undo: what is known of %s can't be kept: %v", key.root, err)
		}
	}
}
