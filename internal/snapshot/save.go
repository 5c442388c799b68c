package snapshot

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"jcode/internal/atomicfile"
)

// saveHead begins a saved tree. Another number is another form, which is not read.
const saveHead = "jcode tree 1\n"

// maxText bounds a text in a saved tree: a damaged length must not take all memory.
const maxText = 1 << 16

// Save writes what is known of the tree to a file, if that has changed.
func (t *Tree) Save(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.dirty {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var w packer
	w.buf = append(w.buf, saveHead...)
	w.text(t.root)
	w.number(uint64(len(t.known)))
	for dir, entries := range t.known {
		w.text(dir)
		w.number(uint64(len(entries)))
		for _, n := range entries {
			e := n.is
			w.text(n.name)
			w.buf = append(w.buf, byte(e.Kind))
			hash, err := hex.DecodeString(e.Hash)
			if err != nil {
				return fmt.Errorf("save what is known of %s: %w", t.root, err)
			}
			w.text(string(hash))
			w.text(e.Why)
			for _, n := range []uint64{uint64(e.Mode), uint64(e.Size), uint64(e.stamp.size), uint64(e.stamp.modified), uint64(e.stamp.changed), e.stamp.node, uint64(e.stamp.mode)} {
				w.number(n)
			}
		}
	}
	if err := atomicfile.Write(path, w.buf, atomicfile.Options{Perm: 0o600}); err != nil {
		return err
	}
	t.dirty = false
	return nil
}

type packer struct{ buf []byte }

func (p *packer) number(n uint64) { p.buf = binary.AppendUvarint(p.buf, n) }
func (p *packer) text(s string)   { p.number(uint64(len(s))); p.buf = append(p.buf, s...) }

// Load reads what Save wrote. A file that is missing, damaged or of another folder is as none: the tree is looked
// at anew. It is called before the first look.
func (t *Tree) Load(path string) error {
	root, known, err := read(path)
	if err != nil || root != t.root {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = known
	}
	return nil
}

// SavedHashes calls see with each hash of a content that a saved tree knows.
func SavedHashes(path string, see func(hash string)) error {
	_, known, err := read(path)
	for _, entries := range known {
		for _, e := range entries {
			if e.is.Hash != "" {
				see(e.is.Hash)
			}
		}
	}
	return err
}

// read reads a saved tree. root is "" for a file that is missing, damaged or of another form.
func read(path string) (root string, known map[string]listing, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }() // only read
	r := &unpacker{r: bufio.NewReaderSize(f, 1<<16)}
	head := make([]byte, len(saveHead))
	if _, err := io.ReadFull(r.r, head); err != nil || string(head) != saveHead {
		return "", nil, nil //nolint:nilerr // another form
	}
	root, known = r.text(), map[string]listing{}
	for range r.count() {
		dir := r.text()
		n := r.count()
		entries := make(listing, 0, min(n, maxText))
		for range n {
			if r.err != nil {
				return "", nil, nil // it is damaged
			}
			name := r.text()
			e := Entry{Kind: Kind(r.byte())}
			e.Hash, e.Why = hex.EncodeToString([]byte(r.text())), r.text()
			e.Mode, e.Size = uint32(r.number()), int64(r.number())
			e.stamp = stamp{int64(r.number()), int64(r.number()), int64(r.number()), r.number(), uint32(r.number())}
			entries = append(entries, named{name, e})
		}
		known[dir] = entries
	}
	if r.err != nil {
		return "", nil, nil // it is damaged
	}
	return root, known, nil
}

// unpacker reads what a packer wrote; after a fault everything is zero.
type unpacker struct {
	r   *bufio.Reader
	err error
}

func (u *unpacker) number() uint64 {
	if u.err != nil {
		return 0
	}
	var n uint64
	n, u.err = binary.ReadUvarint(u.r)
	return n
}

func (u *unpacker) count() int {
	n := u.number()
	if n > math.MaxInt32 {
		u.err = errors.New("damaged")
		return 0
	}
	return int(n)
}

func (u *unpacker) byte() byte {
	if u.err != nil {
		return 0
	}
	var b byte
	b, u.err = u.r.ReadByte()
	return b
}

func (u *unpacker) text() string {
	n := u.count()
	if n > maxText {
		u.err = errors.New("damaged")
	}
	if u.err != nil {
		return ""
	}
	b := make([]byte, n)
	_, u.err = io.ReadFull(u.r, b)
	return string(b)
}
