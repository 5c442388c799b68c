// Package folders walks trees of folders on the disk. A walk visits each folder once, whatever links lead to it, has a
// limit, and ends with its context.
//
// It must not know what the files mean, nor what git ignores: internal/search walks as git does.
package folders

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Walk says how a tree is walked. The zero value visits everything and follows no link.
type Walk struct {
	// Links follows links to folders below the top.
	Links bool
	// MaxEntries ends the walk after as many entries, silently; 0 means no limit.
	MaxEntries int
}

// batch is how many entries are read before the context is asked.
const batch = 1024

// Run calls visit for top and for what is below it: folders before what they hold, and in each folder its entries by
// name, links last. As for fs.WalkDir, visit is called a second time, with an error, for a folder that can't be read,
// and it returns fs.SkipDir for a folder that shall not be entered and fs.SkipAll to end the walk. A folder with several
// names is visited under each of them and entered under the first.
//
// The error is the context's, or that of visit. A top that is a link is followed.
func (w Walk) Run(ctx context.Context, top string, visit func(path string, d fs.DirEntry, err error) error) error {
	r := &run{Walk: w, ctx: ctx, visit: visit, entered: map[identity]bool{}}
	info, err := os.Stat(top)
	if err != nil {
		err = visit(top, nil, err)
	} else {
		err = r.entry(top, fs.FileInfoToDirEntry(info))
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// run is a walk under way.
type run struct {
	Walk
	ctx     context.Context
	visit   func(path string, d fs.DirEntry, err error) error
	entered map[identity]bool
	entries int
}

// entry visits path and what is below it.
func (r *run) entry(path string, d fs.DirEntry) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.entries++; r.MaxEntries > 0 && r.entries > r.MaxEntries {
		return fs.SkipAll
	}
	if r.Links && d.Type()&fs.ModeSymlink != 0 {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			d = fs.FileInfoToDirEntry(info)
		}
	}
	err := r.visit(path, d, nil)
	switch {
	case errors.Is(err, fs.SkipDir) && d.IsDir():
		return nil
	case err != nil || !d.IsDir() || !r.first(path, d):
		return err
	}
	list, err := r.list(path)
	if err != nil && r.ctx.Err() == nil {
		err = r.visit(path, d, err)
	}
	if err != nil {
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	for _, e := range list {
		if err := r.entry(filepath.Join(path, e.Name()), e); err != nil {
			if errors.Is(err, fs.SkipDir) { // the rest of this folder
				return nil
			}
			return err
		}
	}
	return nil
}

// first reports whether a folder is entered for the first time. Without links only the top could be met again.
func (r *run) first(path string, d fs.DirEntry) bool {
	if !r.Links {
		return true
	}
	info, err := d.Info()
	if err != nil {
		return true // reading it says why
	}
	id := identify(path, info)
	if r.entered[id] {
		return false
	}
	r.entered[id] = true
	return true
}

// list reads a folder.
func (r *run) list(path string) ([]fs.DirEntry, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // only read
	var list []fs.DirEntry
	for {
		some, err := d.ReadDir(batch)
		list = append(list, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int {
		return cmp.Or(cmp.Compare(a.Type()&fs.ModeSymlink, b.Type()&fs.ModeSymlink), cmp.Compare(a.Name(), b.Name()))
	})
	return list, nil
}
