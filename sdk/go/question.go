package sdk

import "context"

// Question is something that waits for an answer.
type Question struct {
	Kind    string // approval (may a call run?), ask (of the model), form
	ID      string
	Text    string   // what is asked
	Tool    string   // of an approval
	Command string   // of an approval, if it is one
	Diff    string   // of an approval of a change
	Options []Option // of an approval
	Choices []string // of an ask
	Event   Event    // all of it
}

// Option is a possible answer to an approval.
type Option struct {
	Scope string `json:"scope"` // no, once, session, project
	Label string `json:"label"`
}

// Answer is an answer to a question. The zero value is no.
type Answer struct {
	kind   string
	fields map[string]any
}

// Allow lets a call run, this once.
func (q Question) Allow() Answer {
	for i, o := range q.Options {
		if o.Scope == "once" {
			return q.Choose(i)
		}
	}
	return Answer{}
}

// Choose takes an option of an approval by its place.
func (q Question) Choose(option int) Answer {
	return Answer{"answer", map[string]any{"option": option}}
}

// Deny refuses, and tells the model why.
func (q Question) Deny(why string) Answer {
	switch q.Kind {
	case "ask":
		if why == "" {
			why = "Nobody answers: decide yourself, and say what you decided."
		}
		return Reply(why)
	case "form":
		return Answer{"fill", map[string]any{"action": "decline"}}
	}
	for i, o := range q.Options {
		if o.Scope == "no" {
			return Answer{"answer", map[string]any{"option": i, "word": why}}
		}
	}
	return Answer{"interrupt", nil}
}

// Reply answers a question of the model.
func Reply(text string) Answer { return Answer{"reply", map[string]any{"text": text}} }

// Fill fills in a form.
func Fill(values map[string]any) Answer {
	return Answer{"fill", map[string]any{"action": "accept", "values": values}}
}

// questionOf returns the question that an event is.
func questionOf(ev Event) (Question, bool) {
	q := Question{ID: ev.Text("id"), Event: ev}
	switch ev.Type {
	case "approval_asked":
		var line struct {
			Question struct {
				Title   string   `json:"title"`
				Tool    string   `json:"tool"`
				Command string   `json:"command"`
				Diff    string   `json:"diff"`
				Options []Option `json:"options"`
			} `json:"question"`
		}
		if ev.Decode(&line) != nil {
			return q, false
		}
		d := line.Question
		q.Kind, q.Text, q.Tool, q.Command, q.Diff, q.Options = "approval", d.Title, d.Tool, d.Command, d.Diff, d.Options
	case "ask":
		var line struct {
			Options []string `json:"options"`
		}
		if ev.Decode(&line) != nil {
			return q, false
		}
		q.Kind, q.Text, q.Choices = "ask", ev.Text("text"), line.Options
	case "form":
		var line struct {
			Form struct {
				Text string `json:"text"`
			} `json:"form"`
		}
		if ev.Decode(&line) != nil {
			return q, false
		}
		q.Kind, q.Text = "form", line.Form.Text
	default:
		return q, false
	}
	return q, true
}

// answer answers questions in their order.
func (s *Session) answer() {
	for q := range s.asked {
		a := Answer{}
		if s.opt.OnQuestion != nil {
			a = s.opt.OnQuestion(q)
		}
		if a.kind == "" {
			a = q.Deny("")
		}
		fields := map[string]any{"id": q.ID}
		if a.kind == "interrupt" {
			fields = nil
		}
		for name, v := range a.fields {
			fields[name] = v
		}
		_ = s.Do(context.Background(), a.kind, fields, nil) // another window may have been faster
	}
}
