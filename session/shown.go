package session

import (
	"context"
	"fmt"
	"time"

	"jcode/session/db"
)

// Shown is something that a person saw of a session beside its messages: a notice, a line of
// their own shell, what a turn came to. It never goes to a model.
type Shown struct {
	// After is the seq of the message that it followed, 0 where there was none. AddShown
	// sets it.
	After int64
	At    time.Time
	// Kind says how to read Data. Both are up to the user interface.
	Kind string
	Data []byte
}

// maxShown bounds the data of one Shown, in bytes.
const maxShown = 64 << 10

// AddShown stores what was shown, in order, after the newest message of the session.
func (h History) AddShown(ctx context.Context, sessionID string, list []Shown) error {
	return h.s.changeIn(ctx, sessionID, fmt.Sprintf("store what session %s showed", sessionID), func(t *tx) error {
		n, err := t.key(sessionID)
		if err != nil {
			return err
		}
		last, err := t.lastMessage(n, 0)
		if err != nil {
			return err
		}
		for _, v := range list {
			if len(v.Data) > maxShown {
				return fmt.Errorf("%s of %d bytes: at most %d are kept", v.Kind, len(v.Data), maxShown)
			}
			if err := t.run("INSERT INTO shown (session, after, kind, data, at) VALUES (?,?,?,?,?)", n, last, v.Kind, v.Data, toMillis(v.At)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Shown returns what was shown in a session beside its messages, oldest first, without what
// followed rewound messages.
func (h History) Shown(ctx context.Context, sessionID string) ([]Shown, error) {
	s, done := h.s.of(sessionID)
	defer done()
	return fetch(ctx, s, fmt.Sprintf("what session %s showed", sessionID), `SELECT v.after, v.kind, v.data, v.at FROM shown v JOIN sessions s ON s.n = v.session
		WHERE s.id = ?1 AND (v.after = 0 OR EXISTS (SELECT 1 FROM messages m WHERE m.id = s.n << ?2 | v.after AND m.rewound = 0)) ORDER BY v.id`,
		[]any{sessionID, seqBits}, func(scan db.Scan) (v Shown, err error) {
			err = scan(&v.After, &v.Kind, &v.Data, millis{&v.At})
			return v, err
		})
}
