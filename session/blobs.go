package session

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	codecRaw     = "raw"
	codecDeflate = "deflate"
	// packFrom is the size in bytes from which compressing saves more than it costs.
	packFrom = 512
)

// blob returns the bytes kept under a content hash, in the database or outside of it, or ErrNotFound.
func (s *Store) blob(ctx context.Context, hash string) ([]byte, error) {
	b := packed{hash: hash}
	err := s.db.Row(ctx, "SELECT size, codec, bytes FROM blobs WHERE hash = ?", []any{hash}, &b.size, &b.codec, &b.bytes)
	var data []byte
	switch {
	case err == nil:
		data, err = b.unpack()
	case errors.Is(err, ErrNotFound) && s.outside != nil:
		if kept, missing := s.outside(hash); missing == nil {
			return kept, nil
		}
	}
	return data, wrap(fmt.Sprintf("read blob %.12s", hash), err)
}

// packed is a blob as its row stores it.
type packed struct {
	hash  string
	size  int64
	codec string
	bytes []byte
}

// contentHash returns the name of a content: its SHA-256 in hexadecimal.
func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func pack(data []byte) (packed, error) {
	b := packed{hash: contentHash(data), size: int64(len(data)), codec: codecRaw, bytes: data}
	if b.bytes == nil {
		b.bytes = []byte{}
	}
	if len(data) < packFrom {
		return b, nil
	}
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestSpeed)
	if err != nil {
		return packed{}, err
	}
	if _, err := w.Write(data); err != nil {
		return packed{}, err
	}
	if err := w.Close(); err != nil {
		return packed{}, err
	}
	if buf.Len() < len(data) {
		b.codec, b.bytes = codecDeflate, buf.Bytes()
	}
	return b, nil
}

func (b packed) unpack() ([]byte, error) {
	data := b.bytes
	switch b.codec {
	case codecRaw:
	case codecDeflate:
		var err error
		// Reading one byte more than announced detects a row with a wrong size.
		if data, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b.bytes)), b.size+1)); err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
	default:
		return nil, fmt.Errorf("unknown codec %q", b.codec)
	}
	if contentHash(data) != b.hash {
		return nil, fmt.Errorf("its bytes don't have its hash: the row is damaged")
	}
	return data, nil
}

// putBlob stores bytes under their content hash. Equal bytes are stored once. A blob that no
// checkpoint refers to is removed with a later deletion of a session.
func (t *tx) putBlob(b packed) error {
	return t.run(`INSERT INTO blobs (hash, size, codec, bytes, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (hash) DO UPDATE SET at = excluded.at`, b.hash, b.size, b.codec, b.bytes, toMillis(t.now()))
}

// blobGrace is how long a blob may exist without a row that refers to it.
const blobGrace = time.Hour

// sweepBlobs deletes blobs that no checkpoint refers to, of this process or another.
func (t *tx) sweepBlobs() error {
	return t.run(`DELETE FROM blobs WHERE at < ? AND
		NOT EXISTS (SELECT 1 FROM checkpoints p WHERE p.before_hash = blobs.hash AND p.before_hash <> '') AND
		NOT EXISTS (SELECT 1 FROM checkpoints p WHERE p.after_hash = blobs.hash AND p.after_hash <> '')`, toMillis(t.now().Add(-blobGrace)))
}
