package snapshot

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrFull says that a content is not kept because there is no room for it.
var ErrFull = errors.New("no room is left to keep it")

// ErrAbsent says that a content is not kept.
var ErrAbsent = errors.New("its content is not kept")

// ErrWrite says that a content is not kept because it could not be written: the disk is full, perhaps.
var ErrWrite = errors.New("it could not be kept")

// pause is how long nothing is written after a failure to write: a disk that is full is not asked for each file.
const pause = 30 * time.Second

// Contents keeps contents by their hash: in files of a folder or, without one, in memory.
type Contents struct {
	dir   string
	limit int64

	mu     sync.Mutex
	size   int64 // compressed; of a folder only what was added until Count
	memory map[string][]byte
	failed time.Time // when something could not be written
	fault  error     // the first failure that Fault did not tell yet
}

// NewContents keeps contents in a folder, which is made at the first of them. "" means in memory. limit bounds
// their compressed size in bytes.
func NewContents(dir string, limit int64) *Contents {
	c := &Contents{dir: dir, limit: limit}
	if dir == "" {
		c.memory = map[string][]byte{}
	}
	return c
}

// Limit returns how many bytes may be kept.
func (c *Contents) Limit() int64 { return c.limit }

// Hash names a content.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (c *Contents) path(hash string) string { return filepath.Join(c.dir, hash[:2], hash[2:]) }

// Has reports whether a content is kept.
func (c *Contents) Has(hash string) bool {
	if c.dir == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ok := c.memory[hash]
		return ok
	}
	_, err := os.Lstat(c.path(hash))
	return err == nil
}

// Put keeps a content and returns its hash, also where it can't be kept: then the error is ErrFull or ErrWrite.
func (c *Contents) Put(data []byte) (hash string, err error) {
	hash = Hash(data)
	switch {
	case c.Has(hash):
		return hash, nil
	case c.paused():
		return hash, ErrWrite
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = c.reserve(int64(packed.Len()))
	}
	if err != nil {
		return hash, err
	}
	if c.dir == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.memory[hash] = packed.Bytes()
		return hash, nil
	}
	if err := c.write(c.path(hash), packed.Bytes()); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.size -= int64(packed.Len())
		c.failed = time.Now()
		if c.fault == nil {
			c.fault = err
		}
		return hash, ErrWrite
	}
	return hash, nil
}

func (c *Contents) paused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.failed.IsZero() && time.Since(c.failed) < pause
}

// Fault returns why contents are not kept, each reason once: ErrFull, or what failed when one was written.
func (c *Contents) Fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.fault
	c.fault = nil
	return err
}

// room reports whether there may be room for a content that had none.
func (c *Contents) room(e Entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Why {
	case ErrFull.Error():
		return c.size+e.Size < c.limit // it takes less when it is packed: then it is kept when it changes
	case ErrWrite.Error():
		return time.Since(c.failed) >= pause
	}
	return false
}

// reserve counts bytes that will be written.
func (c *Contents) reserve(n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size+n > c.limit {
		if c.fault == nil {
			c.fault = ErrFull
		}
		return ErrFull
	}
	c.size += n
	return nil
}

// write makes a file. It need not survive a crash of the machine: what is read is compared with its hash.
func (c *Contents) write(path string, data []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "new-*")
	if errors.Is(err, fs.ErrNotExist) { // the first of its folder
		if err = os.MkdirAll(dir, 0o700); err == nil {
			tmp, err = os.CreateTemp(dir, "new-*")
		}
	}
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // what went wrong is reported
	}
	return err
}

// Read returns a content.
func (c *Contents) Read(hash string) ([]byte, error) {
	if len(hash) != 2*sha256.Size {
		return nil, ErrAbsent
	}
	packed, err := c.packed(hash)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || Hash(data) != hash {
		return nil, fmt.Errorf("%w: its file is damaged", ErrAbsent)
	}
	return data, nil
}

func (c *Contents) packed(hash string) ([]byte, error) {
	if c.dir != "" {
		data, err := os.ReadFile(c.path(hash))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrAbsent
		}
		return data, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.memory[hash]
	if !ok {
		return nil, ErrAbsent
	}
	return data, nil
}

// measure adds the sizes of the files; visit, which may be nil, sees each with its hash.
func (c *Contents) measure(visit func(path, hash string, info fs.FileInfo)) (size int64) {
	_ = filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error { // what can't be read takes no room of ours
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // the others are counted
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
			if visit != nil {
				visit(path, filepath.Base(filepath.Dir(path))+d.Name(), info)
			}
		}
		return nil
	})
	return size
}

// Count looks at the sizes of what the folder holds already. That takes a while where there is much, so Put doesn't.
func (c *Contents) Count() {
	if c.dir == "" {
		return
	}
	size := c.measure(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size = max(c.size, size)
}

// Usage is what contents take.
type Usage struct {
	Files  int
	Bytes  int64     // compressed
	Oldest time.Time // when the oldest of them was kept; zero without any
}

// Usage looks through the contents.
func (c *Contents) Usage() (u Usage) {
	if c.dir == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		return Usage{Files: len(c.memory), Bytes: c.size}
	}
	u.Bytes = c.measure(func(_, _ string, info fs.FileInfo) {
		u.Files++
		if at := info.ModTime(); u.Oldest.IsZero() || at.Before(u.Oldest) {
			u.Oldest = at
		}
	})
	return u
}

// Sweep removes contents that were kept before a time and that are not needed, and what a crash left half written.
func (c *Contents) Sweep(ctx context.Context, before time.Time, needed func(hash string) bool) error {
	if c.dir == "" {
		return nil
	}
	var gone int64
	var first error
	size := c.measure(func(path, hash string, info fs.FileInfo) {
		if ctx.Err() != nil || !info.ModTime().Before(before) || len(hash) == 2*sha256.Size && needed(hash) {
			return
		}
		if err := os.Remove(path); err != nil && first == nil {
			first = err
		} else if err == nil {
			gone += info.Size()
		}
	})
	c.mu.Lock()
	c.size = size - gone
	c.mu.Unlock()
	return errors.Join(ctx.Err(), first)
}
