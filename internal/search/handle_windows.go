package search

import (
	"io/fs"
	"os"
	"path"
)

// handle is a folder below a root.
type handle struct {
	root *os.Root
	path string
}

// openTop opens the folder of a root.
func openTop(root *os.Root) (handle, error) { return handle{root, "."}, nil }

func (h handle) close() {}

// folder opens a folder below h.
func (h handle) folder(name string) (handle, error) {
	return handle{h.root, path.Join(h.path, name)}, nil
}

// list returns the entries of the folder.
func (h handle) list([]byte) ([]entry, error) {
	f, err := h.root.Open(h.path)
	if err != nil {
		return nil, err
	}
	list, err := f.ReadDir(-1)
	_ = f.Close() // only read
	out := make([]entry, len(list))
	for i, e := range list {
		kind := other
		switch t := e.Type(); {
		case t.IsRegular():
			kind = file
		case t.IsDir():
			kind = folder
		case t&fs.ModeSymlink != 0:
			kind = link
		}
		out[i] = entry{e.Name(), kind}
	}
	return out, err
}

// reader is an opened file.
type reader struct{ *os.File }

// file opens a regular file of the folder.
func (h handle) file(name string) (reader, error) {
	f, err := h.root.Open(path.Join(h.path, name))
	return reader{f}, err
}

func (r reader) close() { _ = r.Close() } // only read
