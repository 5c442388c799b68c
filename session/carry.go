package session

import (
	"context"
	"fmt"
	"slices"
)

// Carry creates a session with the settings of another. It begins with the other's last
// exchange: the last prompt and its answer, as text. Carry returns ErrNothing if that
// exchange is incomplete.
func (s *Store) Carry(ctx context.Context, id string) (Session, error) {
	s, done := s.of(id)
	defer done()
	from, err := s.Get(ctx, id)
	if err != nil {
		return Session{}, err
	}
	prompt, answer, ok, err := s.History().lastExchange(ctx, id)
	if err == nil && !ok {
		err = fmt.Errorf("carry over from session %s: %w: its last exchange is not complete", id, ErrNothing)
	}
	if err != nil {
		return Session{}, err
	}
	var carried string
	err = s.change(ctx, "carry over from session "+id, func(t *tx) error {
		created, _, err := t.create(Session{
			Cwd: from.Cwd, ProjectID: from.ProjectID, RoleName: from.RoleName, RoleSnapshot: from.RoleSnapshot, RoleValues: from.RoleValues, Model: from.Model, Mode: from.Mode,
		})
		if err != nil {
			return err
		}
		carried = created.ID
		for _, m := range []Message{prompt, answer} {
			copied := Message{Session: created.ID, Role: m.Role, Created: m.Created, Parts: spoken(m.Parts)}
			parts, usage, err := encodeMessage(copied)
			if err != nil {
				return err
			}
			if _, err := t.appendMessage(copied, parts, usage); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Session{}, err
	}
	return s.Get(ctx, carried)
}

// exchangeWindow is how many messages Carry looks back for the last prompt.
const exchangeWindow = 1000

// lastExchange returns the last prompt and the answer that ended its turn; ok is false where
// the turn has no end.
func (h History) lastExchange(ctx context.Context, id string) (prompt, answer Message, ok bool, err error) {
	all, err := h.In(ctx, id, Window{Last: exchangeWindow})
	if err != nil {
		return prompt, answer, false, err
	}
	for _, m := range slices.Backward(all) {
		switch {
		case m.Broken != "":
			return prompt, answer, false, nil
		case m.Role == RoleAssistant && answer.Seq == 0:
			if len(m.Calls) > 0 || m.Text() == "" {
				return prompt, answer, false, nil
			}
			answer = m
		case m.Role == RoleUser:
			return m, answer, answer.Seq != 0, nil
		}
	}
	return prompt, answer, false, nil
}

// spoken returns the parts that were said and shown, without the reasoning of another session.
func spoken(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if p.Kind == PartText || p.Kind == PartShown || p.Kind == PartImage || p.Kind == PartSkill {
			out = append(out, p)
		}
	}
	return out
}
