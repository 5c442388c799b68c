package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// headerSize is the length of what a file begins with, before the pages' own content.
const headerSize = 100

// pageSize is the engine's own: this program sets no other.
const pageSize = 4096

// fixed is what the header of each of our files holds from its beginning: the format's name, the page
// size, the write-ahead log, and numbers that the format prescribes.
var fixed = []byte("SQLite format 3\x00\x10\x00\x02\x02\x00\x40\x20\x20")

// headerDamaged reports whether the header of a file that is marked as ours differs from what all of
// ours have. Not all such damage keeps the engine from opening and then spoiling the file.
func headerDamaged(path string, applicationID int) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was read only
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	if binary.BigEndian.Uint32(head[68:]) != uint32(applicationID) { //nolint:gosec // it is a constant of 32 bits
		return false
	}
	if head[18] == 1 && head[19] == 1 { // another program has switched the write-ahead log off
		head[18], head[19] = fixed[18], fixed[19]
	}
	return !bytes.Equal(head[:len(fixed)], fixed) || !knownFormat(head) || wrongCount(f, path, head)
}

// wrongCount reports whether the header has a wrong number of pages. While there is a write-ahead log,
// the log has the right one.
func wrongCount(f *os.File, path string, head []byte) bool {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return false
	}
	info, err := f.Stat()
	return err == nil && bytes.Equal(head[24:28], head[92:96]) && int64(binary.BigEndian.Uint32(head[28:])) != info.Size()/pageSize
}

// knownFormat reports whether the formats of schema and text are ours.
func knownFormat(head []byte) bool {
	schema, encoding := binary.BigEndian.Uint32(head[44:]), binary.BigEndian.Uint32(head[56:])
	return schema == 4 && encoding == 1
}

// mendHeader writes what is known of a header into a copy of a damaged file. It leaves the list of
// free pages out: a file that is only read needs none.
func mendHeader(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, headerSize)
	if _, err := f.ReadAt(head, 0); err != nil {
		return fmt.Errorf("read the header: %w", err)
	}
	copy(head, fixed)
	put := func(at int, value uint32) { binary.BigEndian.PutUint32(head[at:], value) }
	put(28, uint32(min(info.Size()/pageSize, 1<<32-2))) //nolint:gosec // it is bounded
	put(92, binary.BigEndian.Uint32(head[24:]))         // the size is that of this change
	for at, value := range map[int]uint32{32: 0, 36: 0, 44: 4, 48: 0, 52: 0, 56: 1, 64: 0} {
		put(at, value)
	}
	_, err = f.WriteAt(head, 0)
	return err
}
