package editorscli

import (
	"context"
	"errors"

	"jcode/agent"
	"jcode/cli/acp"
	"jcode/session"
)

// open begins or continues the session that an editor names. One that was begun and has no prompt yet is begun again.
func (s Sessions) open(ctx context.Context, o acp.Opening) (*agent.Conversation, error) {
	begun := begunSessions{s.Data}
	if !o.New {
		if _, err := s.Store.Get(ctx, o.ID); errors.Is(err, session.ErrNotFound) {
			o.New = begun.has(o.ID)
		}
	}
	conv, err := s.conversation(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.New && !s.Private {
		if err := begun.add(o.ID); err != nil {
			conv.Close()
			return nil, err
		}
	}
	return conv, nil
}

func (s Sessions) conversation(ctx context.Context, o acp.Opening) (*agent.Conversation, error) {
	opt, err := s.Options()
	if err != nil {
		return nil, err
	}
	if !o.New {
		conv, err := s.Resume(ctx, opt, o.ID)
		if err != nil {
			return nil, err
		}
		if conv.State().ReadOnly {
			conv.Close()
			hold, err := s.Store.Hold(o.ID)
			if err == nil { // its holder has just closed it
				err = errors.Join(hold.Release(), errors.New("the session was open in another jcode: load it again"))
			}
			return nil, err
		}
		return conv, nil
	}
	opt.Session = o.ID
	return s.Begin(ctx, opt)
}
