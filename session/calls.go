package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// StartCall notes that a call runs.
func (s *Store) StartCall(ctx context.Context, sessionID string, seq int64, index int) error {
	err := s.write(ctx, func(t *tx) error {
		id, err := t.messageID(sessionID, seq)
		if err != nil {
			return err
		}
		return affected(t.exec("UPDATE tool_calls SET status = ?, started = ? WHERE message = ? AND idx = ?",
			StatusRunning, toMillis(s.now()), id, index))
	})
	if err != nil {
		return fmt.Errorf("start call %d of message %d: %w", index, seq, err)
	}
	return nil
}

// FinishCall commits a call's end: Status, Result, Data, Display, Parts and Ended
// (now, where zero). Session, Seq and Index say which call.
func (s *Store) FinishCall(ctx context.Context, c Call) error {
	var parts *string
	if len(c.Parts) > 0 {
		b, err := json.Marshal(c.Parts)
		if err != nil {
			return fmt.Errorf("finish call %s: %w", c.ID, err)
		}
		text := string(b)
		parts = &text
	}
	if c.Ended.IsZero() {
		c.Ended = s.now()
	}
	err := s.write(ctx, func(t *tx) error {
		id, err := t.messageID(c.Session, c.Seq)
		if err != nil {
			return err
		}
		return affected(t.exec(`UPDATE tool_calls SET status = ?, result = ?, data = ?, display = ?, parts = ?,
			started = CASE WHEN started = 0 THEN ?6 ELSE started END, ended = ?6 WHERE message = ? AND idx = ?`,
			c.Status, c.Result, rawText(c.Data), rawText(c.Display), parts, toMillis(c.Ended), id, c.Index))
	})
	if err != nil {
		return fmt.Errorf("finish call %s: %w", c.ID, err)
	}
	return nil
}

func rawText(m json.RawMessage) *string {
	if len(m) == 0 {
		return nil
	}
	s := string(m)
	return &s
}

// InterruptOpenCalls ends every call of the session that still waits for a result, with
// the text as its result, and gives their number: what a resumed session does about calls
// that a killed process left.
func (s *Store) InterruptOpenCalls(ctx context.Context, sessionID, text string) (int, error) {
	var count int64
	err := s.write(ctx, func(t *tx) error {
		var n int64
		if err := t.row("SELECT n FROM sessions WHERE id = ?", []any{sessionID}, &n); err != nil {
			return err
		}
		res, err := t.exec(`UPDATE tool_calls SET status = ?, result = ?, ended = ?
			WHERE message > ? AND message < ? AND status IN (?, ?)`,
			StatusInterrupted, text, toMillis(s.now()), n<<seqBits, (n+1)<<seqBits, StatusPending, StatusRunning)
		if err != nil {
			return err
		}
		count, err = res.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("interrupt open calls of session %s: %w", sessionID, err)
	}
	return int(count), nil
}

// CallArguments gives the arguments of a session's calls of one tool that ended well, in
// order: those in live messages, and those in messages that a summary has replaced. Calls
// that a rewind took out are in neither.
func (s *Store) CallArguments(ctx context.Context, sessionID, tool string) (live, archived []string, err error) {
	err = s.read(ctx, `SELECT c.arguments, m.archived_by FROM sessions s
		JOIN tool_calls c ON c.message > (s.n << ?1) AND c.message < ((s.n + 1) << ?1)
		JOIN messages m ON m.id = c.message AND m.rewound = 0
		WHERE s.id = ?2 AND c.name = ?3 AND c.status = ?4 ORDER BY c.message, c.idx`,
		[]any{seqBits, sessionID, tool, StatusDone}, func(scan func(...any) error) error {
			var text sql.NullString
			var by int64
			if err := scan(&text, &by); err != nil {
				return err
			}
			if by == 0 {
				live = append(live, text.String)
			} else {
				archived = append(archived, text.String)
			}
			return nil
		})
	if err != nil {
		return nil, nil, fmt.Errorf("calls of %s in session %s: %w", tool, sessionID, err)
	}
	return live, archived, nil
}

// PromptParts gives the text of one kind of parts of the person's messages of a session, in
// order: those of live messages, and those of messages that a summary has replaced.
// Messages that a rewind took out are in neither.
func (s *Store) PromptParts(ctx context.Context, sessionID, kind string) (live, archived []string, err error) {
	err = s.read(ctx, `SELECT m.parts, m.archived_by FROM sessions s
		JOIN messages m ON m.id > (s.n << ?1) AND m.id < ((s.n + 1) << ?1)
		WHERE s.id = ?2 AND m.role = ?3 AND m.rewound = 0 AND instr(m.parts, ?4) > 0 ORDER BY m.id`,
		[]any{seqBits, sessionID, RoleUser, `"kind":"` + kind + `"`}, func(scan func(...any) error) error {
			var raw sql.RawBytes
			var by int64
			if err := scan(&raw, &by); err != nil {
				return err
			}
			var parts []Part
			if decodeParts(raw, &parts) != nil {
				return nil // a row that cannot be read holds nothing; whoever shows it says so
			}
			for _, p := range parts {
				switch {
				case p.Kind != kind:
				case by == 0:
					live = append(live, p.Text)
				default:
					archived = append(archived, p.Text)
				}
			}
			return nil
		})
	if err != nil {
		return nil, nil, fmt.Errorf("%s parts of session %s: %w", kind, sessionID, err)
	}
	return live, archived, nil
}

func (t *tx) messageID(sessionID string, seq int64) (int64, error) {
	var n int64
	if err := t.row("SELECT n FROM sessions WHERE id = ?", []any{sessionID}, &n); err != nil {
		return 0, fmt.Errorf("session %s: %w", sessionID, err)
	}
	return n<<seqBits | seq&maxSeq, nil
}

// attachCalls reads the calls of a range of messages, in order, into them. A call whose
// message is missing or no assistant's is dropped: nobody could answer it.
func (s *Store) attachCalls(ctx context.Context, all []Message, low, high int64) error {
	at := 0
	return s.read(ctx, `SELECT message, idx, call_id, name, wire, arguments, status, result, data, display, parts, started, ended
		FROM tool_calls WHERE message > ? AND message < ? ORDER BY message, idx`, []any{low, high}, func(scan func(...any) error) error {
		c, err := scanCall(scan)
		if err != nil {
			return err
		}
		for at < len(all) && all[at].Seq < c.Seq {
			at++
		}
		if at < len(all) && all[at].Seq == c.Seq && (all[at].Role == RoleAssistant || all[at].Broken != "") {
			c.Session = all[at].Session
			all[at].Calls = append(all[at].Calls, c)
		}
		return nil
	})
}

func scanCall(scan func(...any) error) (Call, error) {
	var c Call
	var message int64
	var id, name, wire, arguments, status, result sql.NullString
	var data, display, parts sql.RawBytes
	var index, started, ended any
	if err := scan(&message, &index, &id, &name, &wire, &arguments, &status, &result, &data, &display, &parts, &started, &ended); err != nil {
		return Call{}, err
	}
	c.Seq = message & maxSeq
	c.ID, c.Name, c.Wire, c.Arguments, c.Result = id.String, name.String, wire.String, arguments.String, result.String
	if i, ok := index.(int64); ok {
		c.Index = int(i)
	}
	c.Started, c.Ended = anyTime(started), anyTime(ended)
	c.Status = Status(status.String)
	switch c.Status {
	case StatusPending, StatusRunning, StatusDone, StatusFailed, StatusInterrupted, StatusDenied:
	default:
		c.Status = StatusInterrupted
	}
	if json.Valid(data) {
		c.Data = append(json.RawMessage(nil), data...)
	}
	if json.Valid(display) {
		c.Display = append(json.RawMessage(nil), display...)
	}
	if len(parts) > 0 && json.Unmarshal(parts, &c.Parts) != nil {
		c.Parts = nil // the text is there all the same
	}
	return c, nil
}
