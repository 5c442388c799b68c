package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/tools"
)

// Workspace is the set of folders that a session works in: its root and the added ones. All file
// access goes through an os.Root, so that a link can't lead out of them between a check and the
// use of what was checked.
type Workspace struct {
	start   string    // resolved: where relative paths begin
	folders []*folder // the root first
	locks   locks
}

// LockIn makes changes of one file exclude each other across processes, by lock files in dir. It
// must be called before the workspace is used.
func (w *Workspace) LockIn(dir string) { w.locks.machine = filelock.Paths{Dir: dir} }

// folder is an opened folder of the workspace.
type folder struct {
	path string // resolved
	mu   sync.Mutex
	root *os.Root
	gone []*os.Root // earlier ones, of a folder that was removed and created again
}

// current returns the root of the folder that is at the path now: a command may have removed the
// folder and created it again, and the old root would show the removed one.
func (f *folder) current() (*os.Root, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := os.Lstat(f.path)
	if err != nil {
		return nil, err
	}
	if was, err := f.root.Stat("."); err == nil && os.SameFile(was, now) {
		return f.root, nil
	}
	if !now.IsDir() {
		return nil, fmt.Errorf("%s is no longer a folder", f.path)
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	if is, err := root.Stat("."); err != nil || !os.SameFile(is, now) {
		return nil, errors.Join(turned(f.path), root.Close())
	}
	// Other calls may still use the old one.
	f.gone = append(f.gone, f.root)
	f.root = root
	return root, nil
}

func (f *folder) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	errs := []error{f.root.Close()}
	for _, r := range f.gone {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// OpenWorkspace opens the folder root and the added ones, which must exist. Relative paths
// begin at root, unless StartIn names another folder.
func OpenWorkspace(root string, added ...string) (*Workspace, error) {
	w := &Workspace{}
	for _, dir := range append([]string{root}, added...) {
		if err := w.add(dir); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	w.start = w.Root()
	return w, nil
}

// StartIn makes relative paths begin at dir, a folder of the workspace. It is called before
// the workspace is used.
func (w *Workspace) StartIn(dir string) error {
	real, err := paths.Resolve(dir)
	if err != nil {
		return fmt.Errorf("start in %s: %w", dir, err)
	}
	if !w.Contains(real) {
		return fmt.Errorf("start in %s: it is outside the project %s", dir, w.Root())
	}
	w.start = real
	return nil
}

func (w *Workspace) add(dir string) error {
	real, err := paths.Resolve(dir)
	if err != nil {
		return fmt.Errorf("open the project: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return fmt.Errorf("open the project: %w", err)
	}
	w.folders = append(w.folders, &folder{path: real, root: root})
	return nil
}

// Close closes the opened folders.
func (w *Workspace) Close() error {
	var errs []error
	for _, f := range w.folders {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// Root returns the resolved path of the workspace's root.
func (w *Workspace) Root() string { return w.folders[0].path }

// Start returns the resolved path of the folder against which relative paths are resolved.
func (w *Workspace) Start() string { return w.start }

// Folders returns the resolved paths of the root and the added folders.
func (w *Workspace) Folders() []string {
	out := make([]string, len(w.folders))
	for i, f := range w.folders {
		out[i] = f.path
	}
	return out
}

// Contains reports whether a resolved path is in one of the folders.
func (w *Workspace) Contains(path string) bool {
	_, ok := w.folder(path)
	return ok
}

// folder returns the folder that contains a resolved path, the innermost one if they are nested.
func (w *Workspace) folder(path string) (best *folder, ok bool) {
	for _, f := range w.folders {
		if paths.Within(f.path, path) && (best == nil || len(f.path) > len(best.path)) {
			best = f
		}
	}
	return best, best != nil
}

// Shown returns a resolved path as a person would write it: relative to Start, with slashes, or
// absolute outside the root. It is one line (paths.Escape), and every tool accepts it as an
// argument.
func (w *Workspace) Shown(path string) string { return paths.Escape(w.named(path)) }

// named is Shown without the escaping, for scripts.
func (w *Workspace) named(path string) string {
	if rel, err := filepath.Rel(w.start, path); err == nil && paths.Within(w.Root(), path) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// target is a path that a call names.
type target struct {
	abs   string // resolved
	shown string // for results
	title string // for questions: the argument, unless it leads somewhere else
	note  string // says that the file's name differs from the argument
	link  string // the argument, if it is a link
}

// resolve finds the file that an argument means. Relative paths are resolved against Start.
func (w *Workspace) resolve(arg string) (target, error) { return w.find(arg, true) }

// resolveFile is resolve for a file that will be written: a path that ends in a slash is an error.
func (w *Workspace) resolveFile(arg string) (target, error) {
	if namesFolder(arg) {
		return target{}, tools.Errorf(tools.KindInvalidArgs, "%s names a folder; give the file's path", text.Visible(arg))
	}
	return w.resolve(arg)
}

// namesFolder reports whether a path is written as that of a folder.
func namesFolder(arg string) bool {
	return strings.HasSuffix(arg, "/") || strings.HasSuffix(arg, string(filepath.Separator))
}

// resolveEntry is resolve, except that a link at the end is not followed.
func (w *Workspace) resolveEntry(arg string) (target, error) { return w.find(arg, false) }

func (w *Workspace) find(arg string, follow bool) (target, error) {
	if strings.ContainsRune(arg, 0) {
		return target{}, tools.Errorf(tools.KindInvalidArgs, "path has a NUL byte")
	}
	if arg == "" {
		return target{}, tools.Errorf(tools.KindInvalidArgs, "path is empty")
	}
	path, note, err := w.meant(arg)
	if err != nil {
		return target{}, err
	}
	var real string
	if follow {
		real, err = paths.Resolve(path)
	} else if real, err = paths.Resolve(filepath.Dir(path)); err == nil {
		real = filepath.Join(real, filepath.Base(path))
	}
	if err != nil {
		return target{}, err
	}
	t := target{abs: real, shown: w.Shown(real), title: text.Visible(arg), note: note}
	if real != w.absolute(arg) {
		t.title = text.Visible(t.shown)
	}
	if info, err := os.Lstat(path); follow && err == nil && info.Mode()&fs.ModeSymlink != 0 {
		t.link = w.Shown(path)
	}
	return t, nil
}

// absolute makes a path absolute without resolving it.
func (w *Workspace) absolute(arg string) string {
	path := filepath.FromSlash(arg)
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.start, path)
	}
	return filepath.Clean(path)
}

// meant returns the absolute path that an argument means: the literal one if it exists; otherwise
// without the @ of a mention, with ~ replaced by the home folder, or the only existing path that
// differs just in look-alike characters. note says so in the last case.
func (w *Workspace) meant(arg string) (path, note string, err error) {
	path = w.absolute(arg)
	if exists(path) {
		return path, "", nil
	}
	if name, ok := paths.Unescape(arg); ok && exists(w.absolute(name)) {
		return w.absolute(name), "", nil
	}
	if rest, ok := strings.CutPrefix(arg, "@"); ok && w.mention(rest) {
		path = w.absolute(rest)
	} else if rest, ok := strings.CutPrefix(arg, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", fmt.Errorf("resolve %s: %w", arg, err)
		}
		path = filepath.Join(home, filepath.FromSlash(rest))
	}
	like, err := lookAlike(path)
	if err != nil {
		if !w.Contains(path) { // names outside are not revealed without a question
			err = tools.Errorf(tools.KindInvalidArgs, "%s does not exist, but several names look like it: give the exact one", path)
		}
		return "", "", err
	}
	if like != path {
		note = fmt.Sprintf("took %q, whose name differs from the one given only in look-alike characters", w.Shown(like))
	}
	return like, note, nil
}

// mention reports whether the @ before rest only marks a mention: the file, or a folder below
// Start for it, exists.
func (w *Workspace) mention(rest string) bool {
	path := w.absolute(rest)
	dir := filepath.Dir(path)
	return rest != "" && (exists(path) || dir != w.start && exists(dir))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// place is a resolved path inside an opened folder.
type place struct {
	root  *os.Root
	name  string // below root
	abs   string
	close func()
}

// open returns access to a resolved path: through the workspace's folder that contains it, or,
// outside (which a gate has allowed), through its nearest existing parent.
func (w *Workspace) open(abs string) (place, error) {
	if f, ok := w.folder(abs); ok {
		rel, err := filepath.Rel(f.path, abs)
		if err != nil {
			return place{}, fmt.Errorf("open %s: %w", abs, err)
		}
		root, err := f.current()
		if err != nil {
			return place{}, fmt.Errorf("open %s: %w", f.path, err)
		}
		return place{root, rel, abs, func() {}}, nil
	}
	dir := filepath.Dir(abs)
	for {
		root, err := os.OpenRoot(dir)
		if err == nil {
			rel, err := filepath.Rel(dir, abs)
			if err != nil {
				return place{}, errors.Join(err, root.Close())
			}
			return place{root, rel, abs, func() { _ = root.Close() }}, nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return place{}, fmt.Errorf("open %s: %w", abs, err)
		}
		dir = parent
	}
}

// judged returns an error if the gate did not judge a path as it is resolved now: a link was changed
// in between.
func judged(call tools.Call, kind tools.AccessKind, t target) error {
	if len(call.Plan.Accesses) == 0 {
		return nil // a caller without a gate: a test
	}
	for _, a := range call.Plan.Accesses {
		if a.Kind == kind && a.Path == t.abs {
			return nil
		}
	}
	return tools.Errorf(tools.KindPermission, "%s leads somewhere else than when it was approved (now %s): nothing was done, try again", t.title, t.abs)
}
