package cli

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
	// snapshotBytes bounds what is kept on the disk for all projects, and memoryBytes what is kept of the files of
	// private conversations.
	snapshotBytes = 2 << 30
	memoryBytes   = 64 << 20
	// snapshotFile and snapshotEntries bound a file that is kept, and the files of a folder.
	snapshotFile    = 32 << 20
	snapshotEntries = 400_000
	// readingLimit is how long a command waits for changed files to be read before it, and lookingLimit how long for
	// a look: a folder that takes longer rests (snapshotrest.go).
	readingLimit = 200 * time.Millisecond
	lookingLimit = 3 * time.Second
	// snapshotAge is how long a content is kept that no folder holds any more and no undo needs.
	snapshotAge = 30 * 24 * time.Hour
	// onePass is how shortly after the look behind a command the next one may begin without a look of its own.
	onePass = 50 * time.Millisecond
	// savingPause is how long what is known of a folder is not saved again while jcode runs.
	savingPause = 30 * time.Second
)

// built are names of folders that builds and package managers write: what is in them can be made again.
var built = [...]string{
	"node_modules", "bower_components", "target", "dist", "build", "out", "_build", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache",
	".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".gradle", ".terraform", ".dart_tool", "DerivedData", "Pods",
	".cache", ".hg", ".svn", ".jj",
}

// snapshots knows what commands and tools whose writes are not known beforehand change in the workspace, so that
// an undo reverts it. It is safe for concurrent use.
type snapshots struct {
	board    *board
	store    *session.Store
	roots    func() []string
	trees    string // the folder of what is known of folders
	contents keptContents
	leaveOut []string
	secrets  bool // the contents of secrets are kept, too
	private  func() bool
	denied   func(dir string) func(name string) bool
	current  func() string // the session of the person's own commands
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

// keptContents are the contents of files: on the disk, and of private conversations in memory.
type keptContents struct{ disk, memory *snapshot.Contents }

func newKeptContents(data string) keptContents {
	return keptContents{snapshot.NewContents(filepath.Join(data, "snapshots", "contents"), snapshotBytes), snapshot.NewContents("", memoryBytes)}
}

// of returns where the contents of a folder's files are kept.
func (k keptContents) of(key treeKey) *snapshot.Contents {
	if key.private {
		return k.memory
	}
	return k.disk
}

// read returns a content.
func (k keptContents) read(hash string) ([]byte, error) {
	data, err := k.memory.Read(hash)
	if err != nil {
		data, err = k.disk.Read(hash)
	}
	return data, err
}

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

// newSnapshots prepares them; nil where commands are not followed: in an agent's worktree, which is merged or
// discarded as a whole, and where the settings say so.
func newSnapshots(a *app) *snapshots {
	if a.ofAgent || isOff(a.config.Undo.Commands) {
		return nil
	}
	s := &snapshots{
		board: &a.board, store: a.store, roots: a.workRoots, trees: filepath.Join(a.paths.Data, "snapshots", "trees"), contents: a.contents,
		leaveOut: append(built[:], a.config.Undo.LeaveOut...), secrets: isOn(a.config.Undo.Secrets), private: a.privateNow,
		denied:  func(dir string) func(string) bool { return unseen(a, dir) },
		current: a.board.session, patience: readingLimit, limit: lookingLimit, known: map[treeKey]*folder{}, off: map[string]bool{paths.Real(a.paths.Home): true}, told: map[string]bool{}, own: map[string]int{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// follow has a dispatcher tell of calls that may write what their plans don't name. It may be called on nil.
func (s *snapshots) follow(d *tools.Dispatcher) {
	if s != nil {
		d.Around = func(call tools.Call) func() string { return s.around(call.Caller, call.Name) }
	}
}

// around is called before a command or call runs. It returns the function that is called when it has ended, which
// says what the model should know; nil if its changes are not followed. It may be called on nil.
func (s *snapshots) around(caller tools.Caller, by string) (after func() string) {
	if s == nil {
		return nil
	}
	by = text.Headline(by)
	if caller.Root != "" && caller.Label != "" {
		by = caller.Label + ": " + by // an agent's
	}
	c := &change{by: text.Truncate(by, 60, "…"), session: caller.Session, turn: caller.Turn, private: s.private()}
	if c.session == "" {
		if c.session = s.current(); c.session == "" || caller.Origin != tools.OriginPerson {
			return nil
		}
		turn, err := s.store.Checkpoints().Begin(s.ctx, c.session, shellLine)
		if err != nil {
			s.board.say(event.LevelWarn, "what a ! line changes is not kept for /undo: %v", err)
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
func (s *snapshots) ended(c *change) (said string) {
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
	said = fmt.Sprintf("%s deleted %s, which /undo can't bring back", c.by, strings.Join(lost[:min(len(lost), 5)], ", "))
	if more := len(lost) - 5; more > 0 {
		said += fmt.Sprintf(" (and %d more)", more)
	}
	s.board.say(event.LevelWarn, "%s", text.Visible(said))
	return said
}

// ownTurn returns the turn number of the person's last command in a session. It may be called on nil.
func (s *snapshots) ownTurn(session string) (turn int, ok bool) {
	if s == nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	turn, ok = s.own[session]
	return turn, ok
}

// others returns the commands that run beside one.
func (s *snapshots) others(c *change) []*change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.running), func(o *change) bool { return o == c })
}

// followed returns the folders that are looked at.
func (s *snapshots) followed() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, root := range s.roots() {
		if root = paths.Real(root); !s.off[root] && !slices.ContainsFunc(out, func(o string) bool { return paths.Within(o, root) }) {
			out = append(out, root)
		}
	}
	return out
}

// begin looks through the workspace in the background, once jcode has started. It may be called on nil.
func (s *snapshots) begin() {
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
		s.contents.disk.Count()
		for _, root := range s.followed() {
			s.fill(treeKey{root, s.private()})
		}
		if err := s.sweep(); err != nil && s.ctx.Err() == nil {
			s.board.say(event.LevelWarn, "old contents that undo kept are not removed: %v", err)
		}
	})
}

// close ends the background work and saves what is known. It may be called on nil.
func (s *snapshots) close() {
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
			s.board.say(event.LevelWarn, "undo: what is known of %s can't be kept: %v", key.root, err)
		}
	}
}
