package agent

import (
	"jcode/session"
)

// record is what a conversation knows of its stored session: the row, what it has used, and whether it is in the
// store. It is a value that stores nothing itself.
type record struct {
	row   session.Session
	saved bool // the row is in the store
	hold  *session.Hold
	rows  []session.Message // as they were read, until they are taken
	turns int
}

// began takes the row that was stored with the first message.
func (r *record) began(row session.Session, hold *session.Hold) {
	r.row, r.hold, r.saved = row, hold, true
}

// read takes over the messages of a stored session.
func (r *record) read(rows []session.Message) {
	r.rows, r.turns = rows, 0
	for _, row := range rows {
		if row.Role == session.RoleUser {
			r.turns++
		}
	}
}

// takeRows returns the messages as they were read, once.
func (r *record) takeRows() []session.Message {
	rows := r.rows
	r.rows = nil
	return rows
}

// rename sets the title that the person chose.
func (r *record) rename(title string) { r.row.Title, r.row.TitleSource = title, "user" }
