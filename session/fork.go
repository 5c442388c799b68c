package session

import (
	"context"
	"database/sql"

	"jcode/session/db"
)

// Fork creates a session that begins with the history of another, up to and including message
// upTo (0 = all of it). The parent is not changed and keeps its checkpoints.
func (s *Store) Fork(ctx context.Context, id string, upTo int64) (Session, error) {
	s, done := s.of(id)
	defer done()
	var forkID string
	err := s.change(ctx, "fork session "+id, func(t *tx) error {
		parent, n, err := t.session(id)
		if err != nil {
			return err
		}
		last, err := t.lastMessage(n, upTo)
		if err != nil {
			return err
		}
		fork := parent
		fork.ID, fork.ParentID, fork.ForkSeq, fork.Kind = "", parent.ID, last, ""
		fork.Created, fork.Archived = t.now(), false
		created, m, err := t.create(fork)
		if err != nil {
			return err
		}
		forkID = created.ID
		if err := t.copyDocuments(SessionDocuments(parent.ID), SessionDocuments(created.ID)); err != nil {
			return err
		}
		return t.copyHistory(n, m, last, upTo == 0)
	})
	if err != nil {
		return Session{}, err
	}
	return s.Get(ctx, forkID)
}

func (t *tx) session(id string) (Session, int64, error) {
	n, err := t.key(id)
	if err != nil {
		return Session{}, 0, err
	}
	found, err := db.AllOf(t.Tx, "SELECT "+sessionColumns+" FROM sessions s WHERE s.n = ?", []any{n}, scanSession)
	if err != nil {
		return Session{}, 0, err
	}
	return found[0], n, nil
}

// lastMessage returns the seq of the last live message up to upTo (0 = of all).
func (t *tx) lastMessage(n, upTo int64) (int64, error) {
	high := (n+1)<<seqBits - 1
	if upTo > 0 && upTo < maxSeq {
		high = n<<seqBits | upTo
	}
	var id sql.NullInt64
	err := t.Row("SELECT max(id) FROM messages WHERE id > ? AND id <= ? AND rewound = 0", []any{n << seqBits, high}, &id)
	return id.Int64 & maxSeq, err
}

// copyHistory copies messages and calls from session n to m. Seqs stay the same, so that
// archived ranges and "message 7" mean the same in both sessions.
func (t *tx) copyHistory(n, m, last int64, whole bool) error {
	low, high, shift := n<<seqBits, n<<seqBits|last, (m-n)<<seqBits
	if err := t.run(`INSERT INTO messages (id, session, seq, role, parts, usage, archived_by, created)
		SELECT id + ?1, ?2, seq, role, parts, usage, CASE WHEN archived_by <= ?3 THEN archived_by ELSE 0 END, created
		FROM messages WHERE id > ?4 AND id <= ?5 AND rewound = 0`, shift, m, last, low, high); err != nil {
		return err
	}
	if err := t.run(`INSERT INTO tool_calls (message, idx, call_id, name, wire, arguments, status, result, data, parts, display, started, ended)
		SELECT c.message + ?1, c.idx, c.call_id, c.name, c.wire, c.arguments, c.status, c.result, c.data, c.parts, c.display, c.started, c.ended
		FROM tool_calls c JOIN messages x ON x.id = c.message AND x.rewound = 0 WHERE c.message > ?2 AND c.message <= ?3`, shift, low, high); err != nil {
		return err
	}
	if err := t.run("INSERT INTO shown (session, after, kind, data, at) SELECT ?1, after, kind, data, at FROM shown WHERE session = ?2 AND after <= ?3 ORDER BY id", m, n, last); err != nil {
		return err
	}
	if err := t.copySeen(n, m, last, whole); err != nil {
		return err
	}
	if whole {
		if err := t.run("INSERT INTO todos (session, items) SELECT ?1, items FROM todos WHERE session = ?2", m, n); err != nil {
			return err
		}
	}
	// The fork's totals begin at zero: they count what it spends itself.
	if err := t.run(`UPDATE sessions SET last_seq = ?2,
		messages = (SELECT count(*) FROM messages WHERE session = ?1 AND role IN ('user', 'assistant')),
		first_prompt = (SELECT p.first_prompt FROM sessions p WHERE p.n = ?3) WHERE n = ?1`, m, last, n); err != nil {
		return err
	}
	return t.indexCopies(m)
}

func (t *tx) indexCopies(m int64) error {
	type doc struct {
		id         int64
		role, text string
	}
	var docs []doc
	err := t.Each("SELECT id, role, parts FROM messages WHERE session = ? AND role IN ('user', 'assistant') ORDER BY id", []any{m}, func(scan db.Scan) error {
		var d doc
		var parts sql.RawBytes
		if err := scan(&d.id, &d.role, &parts); err != nil {
			return err
		}
		var msg Message
		if decodeParts(parts, &msg.Parts) == nil { // a broken row has no text to index
			d.text = msg.Text()
			docs = append(docs, d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range docs {
		if err := t.indexMessage(d.id, d.role, d.text); err != nil {
			return err
		}
	}
	return nil
}
