package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jcode/session/db"
)

// errFull says that a session has as many messages as it may.
var errFull = errors.New("the session is full: start a new one")

// seqBits is the number of bits of a message's rowid that hold its seq; the others hold the
// session's key.
const (
	seqBits = 24
	maxSeq  = 1<<seqBits - 1
)

// History keeps the messages of sessions, with their calls and what was shown beside them.
type History struct{ s *Store }

// History returns the histories of the store's sessions.
func (s *Store) History() History { return History{s} }

// Append commits a message at the end of its session and, in the same transaction, its calls
// as pending. It returns the message's seq. Seq, Archived and the calls' Session,
// Seq, Index and Status of the argument are ignored. The first prompt titles a session
// that has no title.
func (h History) Append(ctx context.Context, m Message) (seq int64, err error) {
	s, done := h.s.of(m.Session)
	defer done()
	parts, usage, err := encodeMessage(m)
	if err != nil {
		return 0, fmt.Errorf("append message: %w", err)
	}
	err = s.change(ctx, "append message to session "+m.Session, func(t *tx) error {
		seq, err = t.appendMessage(m, parts, usage)
		return err
	})
	if err != nil {
		return 0, err
	}
	return seq, nil
}

func encodeMessage(m Message) (parts string, usage *string, err error) {
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	p, err := json.Marshal(m.Parts)
	if err != nil {
		return "", nil, err
	}
	if m.Usage != nil {
		u, err := json.Marshal(m.Usage)
		if err != nil {
			return "", nil, err
		}
		text := string(u)
		usage = &text
	}
	return string(p), usage, nil
}

func (t *tx) appendMessage(m Message, parts string, usage *string) (int64, error) {
	var n, last int64
	var title, first string
	err := t.Row("SELECT n, last_seq, title, first_prompt FROM sessions WHERE id = ?", []any{m.Session}, &n, &last, &title, &first)
	if err != nil {
		return 0, err
	}
	seq := last + 1
	if seq > maxSeq {
		return 0, errFull
	}
	if m.Created.IsZero() {
		m.Created = t.now()
	}
	id := n<<seqBits | seq
	if err := t.run("INSERT INTO messages (id, session, seq, role, parts, usage, created) VALUES (?,?,?,?,?,?,?)",
		id, n, seq, m.Role, parts, usage, toMillis(m.Created)); err != nil {
		return 0, err
	}
	for i, c := range m.Calls {
		if err := t.run("INSERT INTO tool_calls (message, idx, call_id, name, wire, arguments, status) VALUES (?,?,?,?,?,?,?)",
			id, i, c.ID, c.Name, c.Wire, c.Arguments, StatusPending); err != nil {
			return 0, err
		}
	}
	if err := t.count(n, seq, m); err != nil {
		return 0, err
	}
	if m.Role == RoleUser && first == "" {
		if err := t.firstPrompt(n, title, m.Shown()); err != nil {
			return 0, err
		}
	}
	return seq, t.indexMessage(id, m.Role, m.Text())
}

// count adds a message to the session's totals. A sub-agent's usage counts for the sessions
// above it too.
func (t *tx) count(n, seq int64, m Message) error {
	var u Usage
	if m.Usage != nil {
		u = *m.Usage
	}
	counted := m.Role == RoleUser || m.Role == RoleAssistant
	_, err := t.Exec(`UPDATE sessions SET last_seq = ?, updated = ?, used = `+nextUse+`, messages = messages + ?, input_tokens = input_tokens + ?,
		output_tokens = output_tokens + ?, cached_tokens = cached_tokens + ?, cost = cost + ?,
		written_tokens = written_tokens + ?, estimated = max(estimated, ?) WHERE n = ?`,
		seq, toMillis(t.now()), counted, u.Input, u.Output, u.Cached, u.Cost, u.Written, u.Estimated, n)
	if err != nil || m.Usage == nil {
		return err
	}
	for range 16 { // sub-agents are never nested deeper; a cycle of rows must end
		var parent int64
		err := t.Row("SELECT p.n FROM sessions c JOIN sessions p ON p.id = c.parent_id WHERE c.n = ? AND c.kind = ?", []any{n, KindTask}, &parent)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.run(`UPDATE sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
			cached_tokens = cached_tokens + ?, cost = cost + ?, written_tokens = written_tokens + ?, estimated = max(estimated, ?) WHERE n = ?`,
			u.Input, u.Output, u.Cached, u.Cost, u.Written, u.Estimated, parent); err != nil {
			return err
		}
		n = parent
	}
	return nil
}

func (t *tx) firstPrompt(n int64, title, text string) error {
	short := ShortTitle(text)
	if short == "" {
		return nil
	}
	if err := t.run("UPDATE sessions SET first_prompt = ? WHERE n = ?", short, n); err != nil {
		return err
	}
	if title != "" {
		return nil
	}
	return t.title(n, short, TitleAuto)
}

// Window chooses messages for History.In.
type Window struct {
	After  int64 // only seqs above this one
	Before int64 // only seqs below this one; 0 = no limit
	Last   int   // only the last so many of those; 0 = all
}

// All returns a session's whole history in order, with calls, without what was rewound. A
// row that can't be read comes as a Message whose Broken says why.
func (h History) All(ctx context.Context, sessionID string) ([]Message, error) {
	return h.In(ctx, sessionID, Window{})
}

// In returns a part of a session's history, as All returns the whole.
func (h History) In(ctx context.Context, sessionID string, w Window) ([]Message, error) {
	s, done := h.s.of(sessionID)
	defer done()
	var n int64
	if err := s.db.Row(ctx, selectKey, []any{sessionID}, &n); err != nil {
		return nil, fmt.Errorf("messages of session %s: %w", sessionID, err)
	}
	low, high := n<<seqBits|max(w.After, 0), (n+1)<<seqBits
	if w.Before > 0 && w.Before <= maxSeq {
		high = n<<seqBits | w.Before
	}
	if w.Last > 0 {
		err := s.db.Row(ctx, `SELECT coalesce(min(id) - 1, ?1) FROM
			(SELECT id FROM messages WHERE id > ?1 AND id < ?2 AND rewound = 0 ORDER BY id DESC LIMIT ?3)`, []any{low, high, w.Last}, &low)
		if err != nil {
			return nil, fmt.Errorf("messages of session %s: %w", sessionID, err)
		}
	}
	return messagesBetween(ctx, s.db, sessionID, low, high)
}

func messagesBetween(ctx context.Context, d *db.DB, sessionID string, low, high int64) ([]Message, error) {
	all, err := messageRows(ctx, d, sessionID, low, high, "ASC")
	if db.Damaged(err) {
		// Pages of the file are lost: the rows before and after them are still read.
		after := max(low, low&^maxSeq|lastSeq(all))
		lost := brokenAt(sessionID, after&maxSeq+1, err)
		var rest []Message
		if rest, err = messageRows(ctx, d, sessionID, after, high, "DESC"); db.Damaged(err) {
			err = nil
		}
		slices.Reverse(rest)
		all = append(append(all, lost), rest...)
	}
	if err == nil {
		if err = attachCalls(ctx, d, all, low, high); db.Damaged(err) {
			all = append(all, brokenAt(sessionID, lastSeq(all)+1, err))
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("messages of session %s: %w", sessionID, err)
	}
	return all, nil
}

// messageRows reads rows in an order until the end or an error, and returns what it read
// even with an error.
func messageRows(ctx context.Context, d *db.DB, sessionID string, low, high int64, order string) ([]Message, error) {
	var all []Message
	err := d.Each(ctx, `SELECT id, role, parts, usage, archived_by, created FROM messages
		WHERE id > ? AND id < ? AND rewound = 0 ORDER BY id `+order, []any{low, high}, func(scan db.Scan) error {
		m, err := scanMessage(scan, sessionID)
		if err == nil {
			all = append(all, m)
		}
		return err
	})
	return all, err
}

// brokenAt returns a message in place of rows on lost pages.
func brokenAt(sessionID string, seq int64, err error) Message {
	return Message{Session: sessionID, Seq: seq, Broken: "a part of the history can't be read: " + err.Error()}
}

func lastSeq(all []Message) int64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Seq
}

// scanMessage reads one row whatever is in its columns.
func scanMessage(scan db.Scan, sessionID string) (Message, error) {
	var id int64
	var role, parts, usage sql.RawBytes
	var archived, created any
	if err := scan(&id, &role, &parts, &usage, &archived, &created); err != nil {
		return Message{}, err
	}
	m := Message{Session: sessionID, Seq: id & maxSeq, Role: roleName(role)}
	m.Archived, _ = archived.(int64) // anything else: not archived
	m.Created = anyTime(created)
	if err := decodeParts(parts, &m.Parts); err != nil {
		m.Parts = nil
		m.Broken = fmt.Sprintf("message %d can't be read: %v", m.Seq, err)
	}
	if len(usage) > 0 {
		m.Usage = &Usage{}
		if err := json.Unmarshal(usage, m.Usage); err != nil {
			m.Usage = nil // the message is good without its count
		}
	}
	if string(role) == lostRole {
		m.Broken = fmt.Sprintf("message %d was lost when the database was damaged", m.Seq)
	}
	if m.Role == "" && m.Broken == "" {
		m.Broken = fmt.Sprintf("message %d can't be read: unknown role %q", m.Seq, strings.ToValidUTF8(string(role), "?"))
	}
	return m, nil
}

// roleName returns the role that a column holds, "" for an unknown one.
func roleName(b []byte) string {
	for _, role := range []string{RoleUser, RoleAssistant, RoleSystem, RoleSummary} {
		if string(b) == role {
			return role
		}
	}
	return ""
}

// Compact commits a summary message and archives in one transaction what it replaces: the
// summaries before it, and the other live messages up to a seq. An earlier summary comes
// first in the history, but its seq is above those of the messages that were kept then. It
// returns the summary's seq.
func (h History) Compact(ctx context.Context, summary Message, upTo int64) (seq int64, err error) {
	s, done := h.s.of(summary.Session)
	defer done()
	summary.Role = RoleSummary
	parts, usage, err := encodeMessage(summary)
	if err != nil {
		return 0, fmt.Errorf("compact: %w", err)
	}
	err = s.change(ctx, "compact session "+summary.Session, func(t *tx) error {
		if seq, err = t.appendMessage(summary, parts, usage); err != nil {
			return err
		}
		n, err := t.key(summary.Session)
		if err != nil {
			return err
		}
		return t.run(`UPDATE messages SET archived_by = ?3 WHERE session = ?1
			AND (seq <= ?2 OR role = 'summary') AND seq <> ?3 AND archived_by = 0 AND rewound = 0`, n, upTo, seq)
	})
	if err != nil {
		return 0, err
	}
	return seq, nil
}

// Rewind takes the messages from a seq on out of the history, revives what a summary among
// them had archived, and returns the number taken out. The rows stay in the file, and their
// seqs are not used again. Checkpoints.UndoFrom undoes what the turns did to files.
func (h History) Rewind(ctx context.Context, sessionID string, from int64) (int, error) {
	var count int64
	err := h.s.changeIn(ctx, sessionID, "rewind session "+sessionID, func(t *tx) error {
		n, err := t.key(sessionID)
		if err != nil {
			return err
		}
		low, high := n<<seqBits|max(from, 1), (n+1)<<seqBits
		if err := t.forgetSeen(n, max(from, 1)); err != nil {
			return err
		}
		var counted int64
		if err := t.Row(`SELECT count(*) FROM messages WHERE id >= ? AND id < ? AND rewound = 0 AND role IN ('user', 'assistant')`,
			[]any{low, high}, &counted); err != nil {
			return err
		}
		if count, err = changedRows(t.Exec("UPDATE messages SET rewound = 1 WHERE id >= ? AND id < ? AND rewound = 0", low, high)); err != nil {
			return err
		}
		if err := t.run("UPDATE messages SET archived_by = 0 WHERE session = ? AND archived_by >= ?", n, max(from, 1)); err != nil {
			return err
		}
		if err := t.run("DELETE FROM search WHERE rowid >= ? AND rowid < ?", low, high); err != nil {
			return err
		}
		return t.run("UPDATE sessions SET messages = max(messages - ?, 0), updated = ?, used = "+nextUse+" WHERE n = ?", counted, toMillis(t.now()), n)
	})
	if err != nil {
		return 0, err
	}
	return int(count), nil
}
