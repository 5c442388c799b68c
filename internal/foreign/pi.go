package foreign

import (
	"encoding/json"
	"time"
)

// readPi reads a file of pi: a header, then an entry a line. Entries form a tree by their parents; the branch of the last
// one counts.
func readPi(r *reading) {
	type entry struct {
		Type, ID, ParentID, Cwd, Name string
		Timestamp                     time.Time
		Message                       struct {
			Role, Model string
			ToolCallID  string
			IsError     bool
			Content     json.RawMessage
		}
	}
	var all []entry
	r.lines(func(raw []byte) error {
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		switch e.Type {
		case "session":
			r.ID, r.Folder = e.ID, e.Cwd
			return nil
		case "session_info":
			r.Title = e.Name
		}
		all = append(all, e)
		return nil
	})
	used := map[string]bool{}
	for i, next := len(all)-1, ""; i >= 0; i-- {
		e := all[i]
		if i == len(all)-1 || e.ID == "" || e.ID == next {
			used[e.ID], next = true, e.ParentID
		}
	}
	for _, e := range all {
		if e.Type != "message" || !used[e.ID] {
			continue
		}
		if e.Message.Model != "" {
			r.Model = e.Message.Model
		}
		switch e.Message.Role {
		case User, Assistant:
			for _, b := range blocks(e.Message.Content) {
				r.block(b, e.Message.Role, e.Timestamp)
			}
		case "toolResult":
			r.result(e.Message.ToolCallID, plain(e.Message.Content), e.Message.IsError, pictures(e.Message.Content), e.Timestamp)
		}
	}
}
