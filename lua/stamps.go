package lua

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stamp tells whether the files of a tool may have changed.
type stamp struct {
	manifestTime, mainTime time.Time
	manifestSize, mainSize int64
}

// lookUp gives time and size of a file by its name below a folder; ok is false where there
// is no regular file.
type lookUp func(name string) (modified time.Time, size int64, ok bool)

// stampOf looks at both files of a folder; without both it is no tool.
func stampOf(look lookUp, dir string) (st stamp, ok bool) {
	dir += string(filepath.Separator)
	if st.mainTime, st.mainSize, ok = look(dir + mainName); ok {
		st.manifestTime, st.manifestSize, ok = look(dir + manifestName)
	}
	return st, ok
}

// stat looks at one folder.
func stat(dir string) (stamp, bool) { return stampOf(lookPath, dir) }

func lookPath(name string) (time.Time, int64, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, 0, false
	}
	return info.ModTime(), info.Size(), true
}

// child is a folder below a root of tools, as it was found.
type child struct {
	name  string
	stamp stamp
	both  bool // it has both files
}

// lookers is how many look at folders at once, stride how many folders one takes at a time.
const (
	lookers = 4
	stride  = 64
)

// children looks at the folders of a root, sorted by name: the agent waits for that before
// each of its steps, so that it looks from the open folder and at several beside each other.
// An absent root has none; an error says that nobody can tell.
func children(root string) (out []child, err error) {
	d, err := os.Open(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the watcher notices when it comes
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // only read
	if info, err := d.Stat(); err == nil && !info.IsDir() {
		return nil, nil
	}
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) {
			out = append(out, child{name: e.Name()})
		}
	}
	slices.SortFunc(out, func(a, b child) int { return strings.Compare(a.name, b.name) })
	look := below(d, root)
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(stride))
			if end-stride >= len(out) {
				return
			}
			for i := end - stride; i < min(end, len(out)); i++ {
				out[i].stamp, out[i].both = stampOf(look, out[i].name)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(lookers, runtime.GOMAXPROCS(0), len(out)/stride) {
		wg.Go(work)
	}
	work()
	wg.Wait()
	runtime.KeepAlive(d)
	return out, nil
}
