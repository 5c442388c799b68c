package watch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Root is one folder whose changes matter.
type Root struct {
	// Path is the folder, absolute. It need not exist.
	Path string
	// Depth is how many levels of folders below Path are watched too; 0 is Path alone.
	Depth int
	// Links watches folders below Path to which links lead, too. However many links lead to a folder, what is below it is
	// watched under one name.
	Links bool
	// Enter reports whether a folder below Path is watched; nil means every one. It is called with the absolute
	// path, from the watcher's goroutine only.
	Enter func(folder string) bool
	// Leaf reports that nothing below a watched folder must be watched, however many folders are created there;
	// nil means that no folder is a leaf. It is called like Enter.
	Leaf func(folder string) bool
	// Match reports whether a change of a path matters; nil means that all do. Folders that vanish are reported
	// without calling it.
	Match func(path string) bool
}

// Options tune a Watcher. The zero value has the defaults for production.
type Options struct {
	// Debounce is the quiet time after the last change before a report; 0 means 150 ms.
	Debounce time.Duration
	// MaxDelay limits the wait when changes never stop; 0 means a second.
	MaxDelay time.Duration
	// Poll is the interval of polling where watching is impossible; 0 means 2 s.
	Poll time.Duration
	// PollOnly polls everything.
	PollOnly bool
	// MaxFolders bounds how many folders are watched or polled; 0 means 2,000.
	MaxFolders int
	// MaxEntries is the number of entries above which folders are polled instead of watched; 0 means the
	// system's default: 256 if each entry would cost a descriptor (kqueue), otherwise no limit.
	MaxEntries int
	// Notice is called, once per kind, with the reason why something cannot be watched. It is called from the
	// watcher's goroutine and must not block. May be nil.
	Notice func(text string)
}

// Event reports a settled change.
type Event struct {
	// Paths are the changed paths below the roots, sorted. A folder that vanished, roots included, represents
	// everything that was in it.
	Paths []string
	// Overflow says that changes were lost or too many to list: check everything.
	Overflow bool
}

const (
	maxPaths        = 1000 // paths listed in one event
	defaultDebounce = 150 * time.Millisecond
	defaultMaxDelay = time.Second
	defaultPoll     = 2 * time.Second
	defaultFolders  = 2000
)

// Watcher watches roots until it is closed.
type Watcher struct {
	opts   Options
	events chan Event
	end    context.CancelFunc
	done   chan struct{}

	// The rest belongs to the goroutine of run.
	roots    []Root
	notify   *fsnotify.Watcher // nil when everything is polled
	folders  map[string]*folder
	leaves   map[leaf]bool
	pending  map[string]bool
	overflow bool
	touched  bool // something was reported since the settling was last checked
	stale    bool // the folders may no longer match the disk
	noticed  map[string]bool
}

// New starts watching. It never fails: what cannot be watched is polled, and Options.Notice is called. It returns when
// the folders are watched, or ctx ends; the watching ends with ctx or Close.
func New(ctx context.Context, roots []Root, opts Options) *Watcher {
	if opts.Debounce <= 0 {
		opts.Debounce = defaultDebounce
	}
	if opts.MaxDelay <= 0 {
		opts.MaxDelay = max(defaultMaxDelay, opts.Debounce)
	}
	if opts.Poll <= 0 {
		opts.Poll = defaultPoll
	}
	if opts.MaxFolders <= 0 {
		opts.MaxFolders = defaultFolders
	}
	if opts.MaxEntries <= 0 {
		opts.MaxEntries = systemMaxEntries
	}
	w := &Watcher{
		opts:    opts,
		events:  make(chan Event),
		done:    make(chan struct{}),
		folders: map[string]*folder{},
		pending: map[string]bool{},
		noticed: map[string]bool{},
	}
	if !opts.PollOnly {
		n, err := fsnotify.NewWatcher()
		if err != nil {
			w.notice("start", fmt.Sprintf("cannot watch files (%v): looking every %v instead", err, opts.Poll))
		}
		w.notify = n
	}
	ctx, w.end = context.WithCancel(ctx)
	w.setRoots(ctx, roots)
	go w.run(ctx)
	return w
}

// Events returns the channel of reports, which Close closes. Until a report is received, more changes are
// added to it.
func (w *Watcher) Events() <-chan Event { return w.events }

// Close stops the watching and waits until its goroutine has ended. Further calls do nothing.
func (w *Watcher) Close() {
	w.end()
	<-w.done
}

// IsEditorTemp reports whether a file name is one of the temporary, swap or backup
// names that editors write next to a file. Such names are never reported.
func IsEditorTemp(name string) bool {
	return name == "4913" || // vim's probe for a writable folder
		strings.HasSuffix(name, "~") ||
		strings.HasSuffix(name, ".swp") || strings.HasSuffix(name, ".swo") || strings.HasSuffix(name, ".swx") ||
		strings.HasPrefix(name, ".#") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

func (w *Watcher) notice(kind, text string) {
	if w.noticed[kind] || w.opts.Notice == nil {
		return
	}
	w.noticed[kind] = true
	w.opts.Notice(text)
}

func (w *Watcher) setRoots(ctx context.Context, roots []Root) {
	w.roots = slices.Clone(roots)
	for i := range w.roots {
		w.roots[i].Path = filepath.Clean(w.roots[i].Path)
	}
	w.resync(ctx, false)
}
