package history

import (
	"encoding/json"
	"strings"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
)

// Events returns stored rows as the events that showed them: for somebody who comes later and reads events anyway.
func Events(rows []session.Message) []event.Event {
	var out []event.Event
	for _, m := range rows {
		if m.Broken != "" {
			out = append(out, event.Notice{Level: event.LevelWarn, Text: "A message could not be read and is left out: " + m.Broken})
			continue
		}
		switch m.Role {
		case session.RoleUser:
			if shown := m.Shown(); shown != "" {
				out = append(out, event.TurnStart{Turn: int(m.Seq), Seq: m.Seq, Prompt: shown, At: m.Created})
			}
		case session.RoleAssistant:
			out = append(out, answered(m)...)
		case session.RoleSummary:
			out = append(out, event.Notice{Level: event.LevelInfo, Text: "The conversation up to here was summarised.\n" + strings.TrimSpace(m.Text())})
		}
	}
	return out
}

func answered(m session.Message) []event.Event {
	answer := event.AssistantMessage{Seq: m.Seq, Text: m.Text(), Calls: len(m.Calls)}
	for _, p := range m.Parts {
		if p.Kind == session.PartReasoning {
			answer.Reasoning += p.Text
		}
	}
	out := []event.Event{answer}
	for _, c := range m.Calls {
		out = append(out, event.CallStart{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments), At: c.Started})
		if c.Status == session.StatusPending || c.Status == session.StatusRunning {
			continue // it runs, or the program that ran it ended
		}
		res := tools.Result{Text: c.Result, Failed: c.Status == session.StatusFailed}
		if len(c.Display) > 0 && json.Unmarshal(c.Display, &res.Display) != nil {
			res.Display = tools.Display{} // what cannot be read is left out: the text is shown
		}
		for _, p := range c.Parts {
			res.Parts = append(res.Parts, tools.Part{MIME: p.MIME, Data: p.Data})
		}
		end := event.CallEnd{ID: c.ID, Name: c.Name, Result: res, Status: string(c.Status)}
		if !c.Started.IsZero() && !c.Ended.IsZero() {
			end.Duration = c.Ended.Sub(c.Started)
		}
		out = append(out, end)
	}
	return out
}
