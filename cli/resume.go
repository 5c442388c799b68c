package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent"
	"jcode/cli/console"
	"jcode/session"
)

// conversation starts or resumes the conversation that the flags name.
func (a *app) conversation(ctx context.Context) (*agent.Conversation, error) {
	return conversationAs(ctx, a, "")
}

// conversationAs is conversation, where a new session is known by an ID before its first prompt.
func conversationAs(ctx context.Context, a *app, fresh string) (*agent.Conversation, error) {
	opt, err := a.options()
	if err != nil {
		return nil, err
	}
	id, err := a.sessionToResume(ctx)
	if err != nil {
		return nil, err
	}
	if id != "" {
		return a.resume(ctx, opt, id)
	}
	opt.Session = fresh
	return newRoleStarts(a).Begin(ctx, opt)
}

// sessionToResume finds the session that -c or -r names; "" for a new one.
func (a *app) sessionToResume(ctx context.Context) (string, error) {
	var found session.Session
	var err error
	switch {
	case a.flags.Resume != "" && a.flags.Resume != pickSession:
		found, err = a.store.Find(ctx, a.project, a.flags.Resume)
	case a.flags.Continue:
		if found, err = a.store.Latest(ctx, a.project); errors.Is(err, session.ErrNotFound) {
			err = fmt.Errorf("there is no session in this folder yet: start one without -c")
		}
	case a.config.Prelude.Session == "continue" && !a.flags.Print:
		if found, err = a.store.Latest(ctx, a.project); errors.Is(err, session.ErrNotFound) {
			return "", nil
		}
	case a.flags.Fork && a.flags.Resume != pickSession:
		return "", console.Usage("--fork branches a session: name it with -r, or take the last one with -c")
	default:
		return "", nil
	}
	if err != nil {
		return "", console.Usage("%w", err)
	}
	if a.flags.Fork {
		if found, err = a.store.Fork(ctx, found.ID, 0); err != nil {
			return "", console.Usage("fork: %w", err)
		}
	}
	return found.ID, nil
}

// takeSession settles what a word after a bare -r means: it must name a session.
func (a *app) takeSession(ctx context.Context) error {
	word, open := strings.CutPrefix(a.flags.Resume, pickSession)
	if agent, ok := strings.CutPrefix(word, "@"); ok {
		id, err := newImporter(a).Latest(ctx, agent)
		if err != nil {
			return console.Usage("%w", err)
		}
		a.flags.Resume = id
		return nil
	}
	switch {
	case !open:
		return nil
	case word != "":
		found, err := a.store.Find(ctx, a.project, word)
		if errors.Is(err, session.ErrNotFound) {
			return console.Usage("no session here is called %q: -r=ID resumes one of any folder, -r alone lists those here, and the words of a prompt go before -r or after --", word)
		}
		if err != nil {
			return console.Usage("%w", err)
		}
		a.flags.Resume = found.ID
	case a.flags.Print:
		return console.Usage("-r needs a session here: jcode sessions list shows them, -c takes the last one")
	}
	return nil
}

// newAppOfSession is newApp for a command that continues the session of -r.
func newAppOfSession(ctx context.Context, f *flags, std Streams) (*app, error) {
	a, err := newApp(ctx, f, std)
	if err != nil {
		return nil, err
	}
	return a.after(ctx, a.takeSession)
}
