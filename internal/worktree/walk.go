package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// walk calls visit for everything in the copy but git's own, with slashes in its paths: a folder before what it
// holds. A folder for which visit returns false is not entered. Folders of one depth are read beside each other,
// since nearly all the time goes into asking the system.
func (t Tree) walk(visit func(path string, info fs.FileInfo) bool) error {
	for level := []*listed{{}}; len(level) > 0; {
		t.list(level)
		var deeper []*listed
		for _, dir := range level {
			if dir.err != nil {
				return dir.err
			}
			for _, info := range dir.holds {
				path := dir.at + info.Name()
				if visit(path, info) && info.IsDir() {
					deeper = append(deeper, &listed{at: path + "/"})
				}
			}
		}
		level = deeper
	}
	return nil
}

// listed is a folder of a walk.
type listed struct {
	at    string // its path with a slash behind it, "" for the copy itself
	holds []fs.FileInfo
	err   error
}

// list reads folders.
func (t Tree) list(dirs []*listed) {
	next := make(chan *listed)
	var work sync.WaitGroup
	for range min(len(dirs), max(2, runtime.GOMAXPROCS(0))) {
		work.Go(func() {
			for dir := range next {
				dir.holds, dir.err = entries(filepath.Join(t.Dir, filepath.FromSlash(dir.at)), dir.at == "")
			}
		})
	}
	for _, dir := range dirs {
		next <- dir
	}
	close(next)
	work.Wait()
}

// entries returns what a folder holds; of the top without git's own.
func entries(dir string, top bool) ([]fs.FileInfo, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := make([]fs.FileInfo, 0, len(list))
	for _, e := range list {
		if top && e.Name() == ".git" {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has just gone
		}
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	return out, nil
}
