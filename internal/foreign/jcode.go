package foreign

import (
	"encoding/json"
	"time"
)

// readJcode reads a session that jcode exported as JSON, such as one of a task on another machine.
func readJcode(r *reading) {
	var doc struct {
		Session  struct{ ID, Title, Cwd, Model string }
		Messages []struct {
			Role    string
			Created time.Time
			Parts   []struct {
				Kind, Text, MIME string
				Data             []byte
			}
			Calls []struct {
				Name           string
				Arguments      json.RawMessage
				Status, Result string
			} `json:"tool_calls"`
		}
	}
	if err := whole(r.path, &doc); err != nil {
		r.fault(0, "is left out: %v", err)
		return
	}
	r.ID, r.Title, r.Folder, r.Model = doc.Session.ID, doc.Session.Title, doc.Session.Cwd, doc.Session.Model
	for _, m := range doc.Messages {
		if m.Role != User && m.Role != Assistant {
			continue
		}
		at := r.at(m.Role, m.Created)
		for _, p := range m.Parts {
			switch p.Kind {
			case "text":
				at.say(p.Text)
			case "reasoning":
				at.Thinking = join(at.Thinking, p.Text)
			case "image":
				at.Pictures = append(at.Pictures, Picture{p.MIME, p.Data})
			}
		}
		for _, c := range m.Calls {
			if len(c.Arguments) > 0 {
				at.Calls = append(at.Calls, Call{Name: c.Name, Arguments: c.Arguments, Result: cut(c.Result, maxOurResult), Done: c.Result != "", Failed: c.Status != "done"})
			}
		}
	}
}
