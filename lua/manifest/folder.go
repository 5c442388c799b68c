package manifest

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

// Stamp is the size and time of both files of a tool folder. If it differs, the files may have changed.
type Stamp struct {
	manifestTime, mainTime time.Time
	manifestSize, mainSize int64
}

// Newest returns the time of the file that was written last.
func (st Stamp) Newest() time.Time {
	if st.mainTime.After(st.manifestTime) {
		return st.mainTime
	}
	return st.manifestTime
}

// Filled reports whether neither file is empty: one that is may be about to be written.
func (st Stamp) Filled() bool { return st.mainSize > 0 && st.manifestSize > 0 }

// statFunc returns time and size of a file by its name below a folder; ok is false if there is no regular
// file.
type statFunc func(name string) (modified time.Time, size int64, ok bool)

// stampOf stats both files of a folder; without both it is not a tool.
func stampOf(look statFunc, dir string) (st Stamp, ok bool) {
	dir += string(filepath.Separator)
	if st.mainTime, st.mainSize, ok = look(dir + MainName); ok {
		st.manifestTime, st.manifestSize, ok = look(dir + FileName)
	}
	return st, ok
}

// StampOf returns the stamp of one folder; ok is false when it lacks one of the two files.
func StampOf(dir string) (st Stamp, ok bool) { return stampOf(statPath, dir) }

func statPath(name string) (time.Time, int64, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, 0, false
	}
	return info.ModTime(), info.Size(), true
}

// Folder is a folder below a root of tools.
type Folder struct {
	Name  string
	Stamp Stamp
	Both  bool // it has both files, so that it is a tool
}

// workers is the number of goroutines that stat folders, stride how many folders one takes at
// a time.
const (
	workers = 4
	stride  = 64
)

// Folders returns the folders of a root, sorted by name. The agent waits for it before each of its steps, so
// files are looked up relative to the open root, and several at a time. A root that does not exist has no
// folders; an error means that they are unknown.
func Folders(root string) (out []Folder, err error) {
	d, err := os.Open(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the watcher notices when it appears
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
			out = append(out, Folder{Name: e.Name()})
		}
	}
	slices.SortFunc(out, func(a, b Folder) int { return strings.Compare(a.Name, b.Name) })
	look := below(d, root)
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(stride))
			if end-stride >= len(out) {
				return
			}
			for i := end - stride; i < min(end, len(out)); i++ {
				out[i].Stamp, out[i].Both = stampOf(look, out[i].Name)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(workers, runtime.GOMAXPROCS(0), len(out)/stride) {
		wg.Go(work)
	}
	work()
	wg.Wait()
	runtime.KeepAlive(d)
	return out, nil
}
