package agent

import (
	"jcode/agent/model"
	"jcode/session"
)

// record is what a conversation knows of its stored session: the row, what it has used, and whether it is in the
// store. It is a value that stores nothing itself.
type record struct {
	row   session.Session
	saved bool // the row is in the store
	hold  *session.Hold
	rows  []session.Message // as they were read, until they are taken
	total model.Usage
	cost  float64
	turns int
}

// began takes the row that was stored with the first message.
func (r *record) began(row session.Session, hold *session.Hold) {
	r.row, r.hold, r.saved = row, hold, true
}

// read takes over the totals and the messages of a stored session.
func (r *record) read(kept session.Session, rows []session.Message) {
	r.total = model.Usage{Input: int(kept.InputTokens), Output: int(kept.OutputTokens), Cached: int(kept.CachedTokens), Written: int(kept.WrittenTokens), Estimated: kept.Estimated}
	r.cost, r.rows, r.turns = kept.Cost, rows, 0
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

// count adds what an answer used.
func (r *record) count(u *session.Usage) {
	r.total.Input += u.Input
	r.total.Output += u.Output
	r.total.Cached += u.Cached
	r.total.Written += u.Written
	r.total.Searches += u.Searches
	r.total.Estimated = r.total.Estimated || u.Estimated
	r.cost += u.Cost
}
