package session

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"jcode/session/db"
)

// Status is the state of a tool call.
type Status string

// The states of a call.
const (
	StatusPending     Status = "pending"
	StatusRunning     Status = "running"
	StatusDone        Status = "done"
	StatusFailed      Status = "failed"
	StatusInterrupted Status = "interrupted"
	StatusDenied      Status = "denied"
)

// Call is one row of tool_calls.
type Call struct {
	Session   string
	Seq       int64 // of the assistant message
	Index     int
	ID        string
	Name      string // canonical
	Wire      string // as it was sent
	Arguments string // byte for byte as the model wrote it
	Status    Status
	Result    string          // capped, as the model read it
	Data      json.RawMessage // the structured result
	Display   json.RawMessage // what the person sees of it
	Parts     []Part
	Started   time.Time
	Ended     time.Time
}

// StartCall records that a call is running.
func (h History) StartCall(ctx context.Context, sessionID string, seq int64, index int) error {
	return h.s.changeIn(ctx, sessionID, fmt.Sprintf("start call %d of message %d", index, seq), func(t *tx) error {
		id, err := t.messageID(sessionID, seq)
		if err != nil {
			return err
		}
		return affected(t.Exec("UPDATE tool_calls SET status = ?, started = ? WHERE message = ? AND idx = ?",
			StatusRunning, toMillis(t.now()), id, index))
	})
}

// FinishCall commits a call's end: Status, Result, Data, Display, Parts and Ended
// (now, where zero). Session, Seq and Index say which call.
func (h History) FinishCall(ctx context.Context, c Call) error {
	var parts json.RawMessage
	if len(c.Parts) > 0 {
		var err error
		if parts, err = json.Marshal(c.Parts); err != nil {
			return fmt.Errorf("finish call %s: %w", c.ID, err)
		}
	}
	return h.s.changeIn(ctx, c.Session, "finish call "+c.ID, func(t *tx) error {
		id, err := t.messageID(c.Session, c.Seq)
		if err != nil {
			return err
		}
		if c.Ended.IsZero() {
			c.Ended = t.now()
		}
		return affected(t.Exec(`UPDATE tool_calls SET status = ?, result = ?, data = ?, display = ?, parts = ?,
			started = CASE WHEN started = 0 THEN ?6 ELSE started END, ended = ?6 WHERE message = ? AND idx = ?`,
			c.Status, c.Result, rawText(c.Data), rawText(c.Display), rawText(parts), toMillis(c.Ended), id, c.Index))
	})
}

// rawText returns JSON as a column stores it, NULL where there is none.
func rawText(m json.RawMessage) *string {
	if len(m) == 0 {
		return nil
	}
	s := string(m)
	return &s
}

// InterruptOpenCalls ends every call of the session that still waits for a result, with
// the text as its result, and returns their number. A resumed session does so with calls
// that a killed process left.
func (h History) InterruptOpenCalls(ctx context.Context, sessionID, text string) (int, error) {
	var count int64
	err := h.s.changeIn(ctx, sessionID, "interrupt open calls of session "+sessionID, func(t *tx) error {
		n, err := t.key(sessionID)
		if err != nil {
			return err
		}
		count, err = changedRows(t.Exec(`UPDATE tool_calls SET status = ?, result = ?, ended = ?
			WHERE message > ? AND message < ? AND status IN (?, ?)`,
			StatusInterrupted, text, toMillis(t.now()), n<<seqBits, (n+1)<<seqBits, StatusPending, StatusRunning))
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(count), nil
}

func (t *tx) messageID(sessionID string, seq int64) (int64, error) {
	n, err := t.key(sessionID)
	if err != nil {
		return 0, fmt.Errorf("session %s: %w", sessionID, err)
	}
	return n<<seqBits | seq&maxSeq, nil
}

// attachCalls reads the calls of a range of messages, in order, into them. A call whose
// message is missing or not an assistant's is dropped.
func attachCalls(ctx context.Context, d *db.DB, all []Message, low, high int64) error {
	at := 0
	return d.Each(ctx, `SELECT message, idx, call_id, name, wire, arguments, status, result, data, display, parts, started, ended
		FROM tool_calls WHERE message > ? AND message < ? ORDER BY message, idx`, []any{low, high}, func(scan db.Scan) error {
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

func scanCall(scan db.Scan) (Call, error) {
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
		c.Data = json.RawMessage(bytes.Clone(data))
	}
	if json.Valid(display) {
		c.Display = json.RawMessage(bytes.Clone(display))
	}
	if len(parts) > 0 && json.Unmarshal(parts, &c.Parts) != nil {
		c.Parts = nil // the text is still there
	}
	return c, nil
}
