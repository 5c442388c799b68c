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

// Contents keeps contents by their hash: in files of a folder or, without one, in memory.
type Contents struct {
	dir   string
	limit int64

	mu     sync.Mutex
	size   int64 // compressed; of a folder only what was added until Count
	memory map[string][]byte
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

// Put keeps a content and returns its hash, also where it can't be kept.
func (c *Contents) Put(data []byte) (hash string, err error) {
	hash = Hash(data)
	if c.Has(hash) {
		return hash, nil
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return hash, err
	}
	if err := c.reserve(int64(packed.Len())); err != nil {
		return hash, err
	}
	if c.dir == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.memory[hash] = packed.Bytes()
		return hash, nil
	}
	return hash, c.write(c.path(hash), packed.Bytes())
}

// reserve counts bytes that will be written.
func (c *Contents) reserve(n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size+n > c.limit {
		return ErrFull
	}
	c.size += n
	return nil
}

// write makes a file. It need not survive a crash of the machine: what is read is compared with its hash.
func (c *Contents) write(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "new-*")
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
