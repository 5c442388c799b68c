package session

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"
)

// seenFiles is the number of files of which a session keeps what it was shown: the last ones.
const seenFiles = 1000

// SeenFile is what a session was shown of a file.
type SeenFile struct {
	// N changes with every Put.
	N int64
	// Known is a digest of what the file held then.
	Known []byte
	// Text is the file as the session believes it to be.
	Text string
	// Hidden are ranges of lines of Text that were never shown, each with its end.
	Hidden [][2]int
	At     time.Time
}

// Seen keeps what each session was shown of files.
type Seen struct{ s *Store }

// Seen returns what the store's sessions were shown of files.
func (s *Store) Seen() Seen { return Seen{s} }

// Get returns what a session was shown of a file. If that still has the number `known`, only N is set. It
// returns ErrNotFound for a file that the session was never shown.
func (v Seen) Get(ctx context.Context, sessionID, path string, known int64) (SeenFile, error) {
	s, done := v.s.of(sessionID)
	defer done()
	var f SeenFile
	what := "what a session was shown of " + path
	err := s.db.Row(ctx, "SELECT v.n FROM seen v JOIN sessions s ON s.n = v.session WHERE s.id = ? AND v.path = ?", []any{sessionID, path}, &f.N)
	if err != nil || f.N == known {
		return f, wrap(what, err)
	}
	var hidden string
	var b packed
	if err := s.db.Row(ctx, "SELECT known, hash, size, codec, bytes, hidden, at FROM seen WHERE n = ?", []any{f.N},
		&f.Known, &b.hash, &b.size, &b.codec, &b.bytes, &hidden, millis{&f.At}); err != nil {
		return SeenFile{}, wrap(what, err)
	}
	text, err := b.unpack()
	if err == nil {
		err = json.Unmarshal([]byte(hidden), &f.Hidden)
	}
	f.Text = string(text)
	return f, wrap(what, err)
}

// Put keeps what a session was shown of a file, and returns its new number. A session that has no row yet
// keeps nothing.
func (v Seen) Put(ctx context.Context, sessionID, path string, f SeenFile) (n int64, err error) {
	b, err := pack([]byte(f.Text))
	if err != nil {
		return 0, err
	}
	hidden, err := json.Marshal(f.Hidden)
	if err != nil {
		return 0, err
	}
	err = v.s.changeIn(ctx, sessionID, "keep what a session was shown of "+path, func(t *tx) error {
		key, err := t.key(sessionID)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.run("DELETE FROM seen WHERE session = ? AND path = ?", key, path); err != nil {
			return err
		}
		if err := t.run(`INSERT INTO seen (session, path, known, hash, size, codec, bytes, hidden, at) VALUES (?,?,?,?,?,?,?,?,?)`,
			key, path, f.Known, b.hash, b.size, b.codec, b.bytes, string(hidden), toMillis(f.At)); err != nil {
			return err
		}
		if err := t.Row("SELECT n FROM seen WHERE session = ? AND path = ?", []any{key, path}, &n); err != nil {
			return err
		}
		return t.run("DELETE FROM seen WHERE session = ?1 AND n <= (SELECT n FROM seen WHERE session = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)", key, seenFiles)
	})
	return n, err
}

// Drop forgets what a session was shown of files.
func (v Seen) Drop(ctx context.Context, sessionID string, paths ...string) error {
	return v.s.changeIn(ctx, sessionID, "forget what a session was shown", func(t *tx) error {
		for _, path := range paths {
			if err := t.run("DELETE FROM seen WHERE path = ? AND session IN (SELECT n FROM sessions WHERE id = ?)", path, sessionID); err != nil {
				return err
			}
		}
		return nil
	})
}

// Move gives what a session was shown of a path, and of what is below it, to another path.
func (v Seen) Move(ctx context.Context, sessionID, from, to string) error {
	below := from + string(filepath.Separator)
	return v.s.changeIn(ctx, sessionID, "note that a file was moved", func(t *tx) error {
		return t.run(`UPDATE OR REPLACE seen SET path = ?3 || substr(path, length(?2) + 1)
			WHERE session IN (SELECT n FROM sessions WHERE id = ?1) AND (path = ?2 OR substr(path, 1, length(?4)) = ?4)`, sessionID, from, to, below)
	})
}

// copySeen gives session m what session n was shown up to message last. A file that n was shown again
// later is left out: only its last state is kept.
func (t *tx) copySeen(n, m, last int64, whole bool) error {
	return t.run(`INSERT INTO seen (session, path, known, hash, size, codec, bytes, hidden, at)
		SELECT ?2, path, known, hash, size, codec, bytes, hidden, at FROM seen WHERE session = ?1 AND
		(?5 OR at < coalesce((SELECT min(created) FROM messages WHERE id > ?3 AND id < ?4), at + 1)) ORDER BY n`,
		n, m, n<<seqBits|last, (n+1)<<seqBits, whole)
}

// forgetSeen drops what a session was shown since a message that is taken out of its history.
func (t *tx) forgetSeen(n, from int64) error {
	return t.run("DELETE FROM seen WHERE session = ? AND at >= (SELECT created FROM messages WHERE id >= ? AND id < ? ORDER BY id LIMIT 1)", n, n<<seqBits|from, (n+1)<<seqBits)
}
