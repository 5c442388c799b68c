// Package gitindex owns reading a git index: which paths a repository tracks, and their modes. It
// must not know where indexes are, or what the paths are used for.
package gitindex

import (
	"bytes"
	"encoding/binary"
)

// Entry is one tracked path.
type Entry struct {
	// Path has slashes and is relative to the repository's top.
	Path string
	// Mode is the file's kind and permissions as git stores them, see Link.
	Mode uint32
}

// Link is the mode of an entry for another repository.
const Link = 0o160000

// Offsets in an index, from gitformat-index(5). The hash comes after fixed.
const (
	header        = 12
	modeAt        = 24
	fixed         = 40
	flagExtended  = 0x4000
	flagNameBytes = 0x0fff
)

// Parse returns the entries of an index in its order, which is sorted by path. It returns none if
// the index cannot be parsed.
func Parse(data []byte) []Entry {
	if len(data) < header || string(data[:4]) != "DIRC" {
		return nil
	}
	version, count := binary.BigEndian.Uint32(data[4:]), int(binary.BigEndian.Uint32(data[8:]))
	if version < 2 || version > 4 || count > len(data)/fixed {
		return nil
	}
	for _, hash := range []int{20, 32} { // SHA-1, SHA-256: the index does not say which
		if out := entries(data[header:], version, count, hash); out != nil {
			return out
		}
	}
	return nil
}

// entries parses the entries with hashes of a given size; nil if that fails.
func entries(rest []byte, version uint32, count, hash int) []Entry {
	out := make([]Entry, 0, count)
	last := ""
	for range count {
		at := fixed + hash + 2
		if len(rest) < at {
			return nil
		}
		flags := binary.BigEndian.Uint16(rest[at-2:])
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
		if n < flagNameBytes && n != len(last) || len(out) > 0 && last < out[len(out)-1].Path {
			return nil
		}
		out = append(out, Entry{last, binary.BigEndian.Uint32(rest[modeAt:])})
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
