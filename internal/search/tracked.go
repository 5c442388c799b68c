package search

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Tracked is what a repository's index lists: files that git sees although a rule ignores
// them. It is read when it is first asked, and is safe for concurrent use.
type Tracked struct {
	file string // the index
	down string // leads from the repository's top to the walk's, with a last slash
	once sync.Once
	list []string // sorted
}

// TrackedIn gives what the repository that holds a folder tracks; nil if there is none.
func TrackedIn(top string) *Tracked {
	repo, ok := repository(top)
	if !ok {
		return nil
	}
	down := relative(repo.top, top)
	if down != "" {
		down += "/"
	}
	return &Tracked{file: filepath.Join(repo.own, "index"), down: down}
}

// has reports whether a file, or anything in a folder, is tracked. The path is below the
// walk's Top.
func (t *Tracked) has(path string, folder bool) bool {
	if t == nil {
		return false
	}
	t.once.Do(func() {
		if data, err := os.ReadFile(t.file); err == nil { // a new repository has none
			t.list = parseIndex(data)
		}
	})
	path = t.down + path
	if folder {
		path += "/"
	}
	i, found := slices.BinarySearch(t.list, path)
	return found || folder && i < len(t.list) && strings.HasPrefix(t.list[i], path)
}

// Where things lie in an index entry, as gitformat-index(5) says.
const (
	indexHeader   = 12
	entryFlags    = 60 // behind times, numbers and a SHA-1
	entryName     = 62
	flagExtended  = 0x4000
	flagNameBytes = 0x0fff
)

// parseIndex gives the paths of a git index, sorted. One that can't be understood, such as
// that of a repository with SHA-256 names, gives none.
func parseIndex(data []byte) []string {
	if len(data) < indexHeader || string(data[:4]) != "DIRC" {
		return nil
	}
	version, count := binary.BigEndian.Uint32(data[4:]), int(binary.BigEndian.Uint32(data[8:]))
	if version < 2 || version > 4 || count > len(data)/entryName {
		return nil
	}
	rest := data[indexHeader:]
	out := make([]string, 0, count)
	last := ""
	for range count {
		if len(rest) < entryName {
			return nil
		}
		flags := binary.BigEndian.Uint16(rest[entryFlags:])
		at := entryName
		if version > 2 && flags&flagExtended != 0 {
			at += 2
		}
		prefix := ""
		if version == 4 {
			drop, used := offsetVarint(rest[min(at, len(rest)):])
			if used == 0 || drop > len(last) {
				return nil
			}
			at += used
			prefix = last[:len(last)-drop]
		}
		end := bytes.IndexByte(rest[min(at, len(rest)):], 0)
		if end < 0 {
			return nil
		}
		last = prefix + string(rest[at:at+end])
		n := int(flags & flagNameBytes)
		if n < flagNameBytes && n != len(last) || len(out) > 0 && last < out[len(out)-1] {
			return nil
		}
		out = append(out, last)
		next := at + end + 1
		if version < 4 {
			next = (at + end + 8) &^ 7
		}
		if next > len(rest) {
			return nil
		}
		rest = rest[next:]
	}
	return out
}

// offsetVarint reads a number as packs write offsets; n is 0 if there is none.
func offsetVarint(data []byte) (value, n int) {
	for n < len(data) && n < 4 {
		c := data[n]
		n++
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}
