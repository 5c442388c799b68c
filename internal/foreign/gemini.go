package foreign

import (
	"encoding/json"
	"time"
)

// readGemini reads a file of Gemini CLI: one object with all messages.
func readGemini(r *reading) {
	var f struct {
		SessionID, Summary string
		Directories        []string
		Messages           []struct {
			Type, Model string
			Timestamp   time.Time
			Content     json.RawMessage
			Thoughts    []struct{ Subject, Description string }
			ToolCalls   []struct {
				Name   string
				Args   json.RawMessage
				Result []struct {
					FunctionResponse struct{ Response json.RawMessage }
				}
			}
		}
	}
	if err := whole(r.path, &f); err != nil {
		r.fault(0, "%v", err)
		return
	}
	r.ID, r.Title = f.SessionID, f.Summary
	if len(f.Directories) > 0 {
		r.Folder = f.Directories[0]
	}
	for _, m := range f.Messages {
		role := map[string]string{"user": User, "gemini": Assistant}[m.Type]
		if role == "" {
			continue
		}
		if m.Model != "" {
			r.Model = m.Model
		}
		msg := r.at(role, m.Timestamp)
		for _, t := range m.Thoughts {
			msg.Thinking = join(msg.Thinking, join(t.Subject, t.Description))
		}
		for _, c := range m.ToolCalls {
			msg.call(c.Name, c.Args)
			for _, res := range c.Result {
				var out struct{ Output string }
				if json.Unmarshal(res.FunctionResponse.Response, &out) == nil && out.Output != "" {
					msg.result(out.Output)
				} else {
					msg.result(string(res.FunctionResponse.Response))
				}
			}
		}
		msg.say(plain(m.Content))
	}
}
