package front

import (
	"encoding/json"
	"time"

	"jcode/session"
)

// Shown are what is shown in addition to the messages and was not stored yet.
type Shown struct {
	Pending []session.Shown
	Acted   bool // the person did something here: what is shown at each start is not stored
}

// Note stores something that was just shown.
func (r *Shown) Note(kind string, what any) {
	data, err := json.Marshal(what)
	if err != nil || !r.Acted {
		return // strings and numbers only: it never fails
	}
	r.Pending = append(r.Pending, session.Shown{At: time.Now(), Kind: kind, Data: data})
}
