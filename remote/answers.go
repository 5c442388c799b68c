package remote

import (
	"context"
	"fmt"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
)

func (c *connection) answer(_ context.Context, p Answer) (any, error) {
	h, err := c.controlled(p.Session)
	if err != nil {
		return nil, err
	}
	q, ok := h.waiting()[p.ID].(event.ApprovalAsked)
	if !ok {
		return nil, gone("this question is closed")
	}
	if p.Option < 0 || p.Option >= len(q.Question.Options) {
		return nil, invalid("option %d: the question has %d", p.Option, len(q.Question.Options))
	}
	o := q.Question.Options[p.Option]
	if o.Scope == tools.AnswerProject && !h.offer.Lasting {
		return nil, refused("%q outlasts the session: give this answer at the terminal, or set remote_answers to \"all\" in your settings", o.Label)
	}
	said := o.Label
	if o.Scope == tools.AnswerNo {
		p.Hunks = nil
	}
	if p.Hunks != nil {
		all := len(q.Question.Hunks())
		if err := taken(p.Hunks, o, all); err != nil {
			return nil, err
		}
		said = fmt.Sprintf("%s, %d of %d hunks", said, len(p.Hunks), all)
	}
	if err := h.offer.From(c.who()).Answer(p.ID, tools.Answer{Scope: o.Scope, Option: p.Option, Word: p.Word, Hunks: p.Hunks}); err != nil {
		return nil, gone("%v", err)
	}
	c.tell(h, "%s answered %q: %s.", c.who(), q.Question.Heading(), said)
	return struct{}{}, nil
}

// taken refuses hunks that a question does not have, or that can't be taken with an answer.
func taken(hunks []int, o tools.AnswerOption, all int) error {
	switch {
	case o.Scope != tools.AnswerOnce:
		return invalid("single hunks are taken once: %q holds longer", o.Label)
	case all == 0:
		return invalid("the hunks of this question can't be taken one by one")
	case len(hunks) == 0:
		return invalid("no hunk is named: answer no to take none of them")
	}
	seen := map[int]bool{}
	for _, n := range hunks {
		if n < 0 || n >= all || seen[n] {
			return invalid("hunk %d: the question has %d, and each is named once", n, all)
		}
		seen[n] = true
	}
	return nil
}

func (c *connection) reply(_ context.Context, p Reply) (any, error) {
	h, err := c.controlled(p.Session)
	if err != nil {
		return nil, err
	}
	if _, ok := h.waiting()[p.ID].(event.AskPerson); !ok {
		return nil, gone("this question is closed")
	}
	if err := h.offer.From(c.who()).Reply(p.ID, text.Valid(p.Text)); err != nil {
		return nil, gone("%v", err)
	}
	c.tell(h, "%s replied: %s", c.who(), text.Visible(p.Text))
	return struct{}{}, nil
}

func (c *connection) fill(_ context.Context, p Fill) (any, error) {
	h, err := c.controlled(p.Session)
	if err != nil {
		return nil, err
	}
	q, ok := h.waiting()[p.ID].(event.AskForm)
	if !ok {
		return nil, gone("this question is closed")
	}
	if q.Form.Person && c.own == nil {
		return nil, refused("this form belongs to something that is done at the terminal: fill it in there")
	}
	if q.Form.Secret() && c.own == nil && p.Action == string(tools.FormAccept) {
		return nil, refused("a password is typed at the terminal: fill it in there")
	}
	answer := tools.FormAnswer{Action: tools.FormAction(p.Action), Values: p.Values}
	switch answer.Action {
	case tools.FormAccept:
		if answer.Values, err = filled(q.Form, p.Values); err != nil {
			return nil, err
		}
	case tools.FormDecline, tools.FormCancel:
	default:
		return nil, invalid("action is %q: it is accept, decline or cancel", p.Action)
	}
	if err := h.offer.From(c.who()).Fill(p.ID, answer); err != nil {
		return nil, gone("%v", err)
	}
	c.tell(h, "%s answered a form of %s: %s.", c.who(), q.Form.From, p.Action)
	return struct{}{}, nil
}

// filled returns the values of a form in the types of their fields; it refuses those that do not fit.
func filled(f tools.Form, values map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, field := range f.Fields {
		v, given := values[field.Name]
		if list, ok := v.([]any); ok {
			words := make([]string, 0, len(list))
			for _, w := range list {
				word, ok := w.(string)
				if !ok {
					return nil, invalid("%s: a list of texts is needed", field.Label())
				}
				words = append(words, word)
			}
			v = words
		}
		if !given {
			v = field.Default
		}
		if err := field.Check(v); err != nil {
			return nil, invalid("%s: %v", field.Label(), err)
		}
		if v != nil {
			out[field.Name] = v
		}
	}
	for name := range values {
		if _, known := out[name]; !known && values[name] != nil {
			return nil, invalid("the form has no field %q", name)
		}
	}
	return out, nil
}
