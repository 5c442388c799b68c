package session

import (
	"context"
	"errors"
	"fmt"
	"os"

	"jcode/session/db"
)

// lostRole stands in place of the role of a message that is lost.
const lostRole = "lost"

// Repaired says what a repair of the database did.
type Repaired struct {
	Faults []string // that the file had; none if it is sound
	Aside  string   // where the damaged file is now; "" if the file was sound
	Lost   []db.Lost
	Back   int // sessions that came back from damaged files that were moved aside before
}

// DescribeLost says in words what was lost.
func DescribeLost(lost []db.Lost) string { return db.Describe(lost) }

// Repair copies what can be read of a damaged database into a new file, and brings the sessions of
// damaged files back that were moved aside. Damaged files are kept. No other jcode may be working.
func Repair(ctx context.Context, path string, opts Options) (done Repaired, err error) {
	s, err := Open(ctx, path, opts)
	if err == nil {
		done.Faults, err = s.Check(ctx)
		err = errors.Join(err, s.Close())
	} else if _, newer := errors.AsType[*db.NewerError](err); newer {
		return done, err
	}
	if err != nil {
		return done, err
	}
	set, err := openOptions(opts)
	if err != nil {
		return done, err
	}
	if len(done.Faults) > 0 {
		if done.Aside, done.Lost, err = db.Repair(ctx, path, set); err != nil {
			return done, err
		}
	}
	done.Back, err = bringBack(ctx, path, opts, set)
	return done, err
}

// bringBack copies the sessions of the files that were moved aside unread.
func bringBack(ctx context.Context, path string, opts Options, set db.Options) (back int, err error) {
	asides, err := db.Asides(path)
	if err != nil || len(asides) == 0 {
		return 0, err
	}
	s, err := Open(ctx, path, opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, aside := range asides {
		n, oneErr := s.bringFrom(ctx, aside, path+".returned", set)
		back += n
		if oneErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", aside, oneErr))
		}
	}
	return back, err
}

// bringFrom copies the sessions of a damaged file that this one has not.
func (s *Store) bringFrom(ctx context.Context, aside, passing string, set db.Options) (n int, err error) {
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
			_ = os.Remove(passing + suffix)
		}
	}()
	if _, err := db.Salvage(ctx, aside, passing, set); err != nil {
		return 0, err
	}
	old, err := db.Open(ctx, passing, set)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	ids, err := db.All(ctx, old, "SELECT id FROM sessions ORDER BY used, n", nil, db.One[string])
	if err != nil {
		return 0, err
	}
	err = s.db.WithAttached(ctx, old, "private", func() error {
		return s.write(ctx, func(t *tx) error {
			for _, id := range ids {
				if _, err := t.key(id); err == nil {
					continue
				} else if !errors.Is(err, ErrNotFound) {
					return err
				}
				if err := t.moveIn(id, ids); err != nil {
					return fmt.Errorf("session %s: %w", id, err)
				}
				n++
			}
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	return n, db.MarkCopied(aside)
}

// rebuild makes whole what was copied from a damaged file: sessions whose row is lost, notes in place
// of lost messages, the indexes of words.
func (t *tx) rebuild() error {
	for _, step := range []func() error{
		t.reviveSessions,
		t.noteGaps,
		func() error { return db.DropOrphans(t.Tx) },
		t.indexSessions,
		t.indexPassages,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// reviveSessions makes rows for sessions of which only messages are left.
func (t *tx) reviveSessions() error {
	lost, err := db.AllOf(t.Tx, "SELECT DISTINCT session FROM messages WHERE session NOT IN (SELECT n FROM sessions)", nil, db.One[int64])
	if err != nil {
		return err
	}
	for _, n := range lost {
		id, err := NewID()
		if err != nil {
			return err
		}
		if err := t.run(`INSERT INTO sessions (n, id, title, title_source, created, updated, used, last_seq, messages)
			SELECT ?1, ?2, 'Recovered session', 'user', min(created), max(created), `+nextUse+`, max(seq), count(*) FROM messages WHERE session = ?1`, n, id); err != nil {
			return err
		}
	}
	return nil
}

// noteGaps puts a row in place of each message that is lost.
func (t *tx) noteGaps() error {
	return t.run(`INSERT INTO messages (id, session, seq, role, parts, created)
		WITH RECURSIVE gaps (n, seq, until) AS (
			SELECT m.session, m.seq + 1, (SELECT coalesce(min(x.seq), s.last_seq + 1) FROM messages x WHERE x.session = m.session AND x.seq > m.seq)
				FROM (SELECT session, seq FROM messages UNION ALL SELECT n, 0 FROM sessions) m JOIN sessions s ON s.n = m.session
				WHERE m.seq < s.last_seq AND NOT EXISTS (SELECT 1 FROM messages y WHERE y.session = m.session AND y.seq = m.seq + 1)
			UNION ALL SELECT n, seq + 1, until FROM gaps WHERE seq + 1 < until)
		SELECT (n << 24) + seq, n, seq, ?, '[]', 0 FROM gaps
		WHERE NOT EXISTS (SELECT 1 FROM change_names c WHERE c.session = gaps.n AND c.turn = gaps.seq)`, lostRole)
}

func (t *tx) indexSessions() error {
	type titled struct {
		n     int64
		title string
	}
	all, err := db.AllOf(t.Tx, "SELECT n, title FROM sessions", nil, func(scan db.Scan) (v titled, err error) { return v, scan(&v.n, &v.title) })
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.title != "" {
			if err := t.index(v.n<<seqBits, v.title); err != nil {
				return err
			}
		}
		if err := t.indexCopies(v.n); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) indexPassages() error {
	type passage struct {
		n             int64
		heading, text string
	}
	all, err := db.AllOf(t.Tx, "SELECT p.n, d.title || ' ' || p.heading, p.text FROM passages p JOIN documents d ON d.n = p.document", nil,
		func(scan db.Scan) (p passage, err error) { return p, scan(&p.n, &p.heading, &p.text) })
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := t.indexPassage(p.n, p.heading, p.text); err != nil {
			return err
		}
	}
	return nil
}
