package undo

import (
	"context"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin"
)

// Recorder keeps what undo needs: it passes the changes of the file tools to the store's checkpoints.
type Recorder struct {
	Store *session.Store
	Seen  *builtin.Seen
	// Worktree says that only who changed what is kept: a worktree is merged or discarded as a whole.
	Worktree bool
	Author   string // what changes files, where that is not one tool
}

// Track records the state of files, and with done their new state.
func (r Recorder) Track(ctx context.Context, call tools.Call, paths []string) (done func(context.Context, builtin.Written) error, err error) {
	var keep func(context.Context, session.Written) error
	if r.Worktree {
		keep = func(ctx context.Context, _ session.Written) error {
			return r.Store.Edits().Note(ctx, call.Caller.Session, paths)
		}
	} else if keep, err = r.checkpoints().Track(ctx, call.Caller.Session, call.Caller.Turn, paths); err != nil {
		return nil, err
	}
	return func(ctx context.Context, written builtin.Written) error {
		r.Seen.Written(paths...)
		return keep(ctx, session.Written(written))
	}, nil
}

func (r Recorder) checkpoints() *session.Checkpoints {
	if r.Author != "" {
		return r.Store.Checkpoints().As(r.Author)
	}
	return r.Store.Checkpoints()
}

// Found implements builtin.Recorder.
func (r Recorder) Found(ctx context.Context, call tools.Call, path string, read, found []byte) error {
	if r.Worktree {
		return nil
	}
	return r.checkpoints().Found(ctx, call.Caller.Session, call.Caller.Turn, path, read, found)
}

// Irreversible records for each turn what cannot be undone: an undo reports it.
type Irreversible struct {
	Checkpoints *session.Checkpoints
	Say         func(level event.Level, format string, args ...any)
	Followed    bool // the files that commands and calls change are kept
}

// BeforeCall implements tools.Hook and changes nothing.
func (Irreversible) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook.
func (i Irreversible) AfterCall(call tools.Call, out tools.Outcome) {
	if !out.Ran || call.Caller.Session == "" || out.Decision.Rule == "read-only" {
		return
	}
	for _, access := range call.Plan.Accesses {
		what := ""
		switch access.Kind {
		case tools.AccessExec:
			what = "exec: " + text.Headline(access.Command)
		case tools.AccessMCP, tools.AccessLua:
			if !access.ReadOnly {
				what = call.Name
			}
		case tools.AccessInput:
			what = "exec: text for " + access.Target
		case tools.AccessRead, tools.AccessWrite, tools.AccessDelete, tools.AccessFetch, tools.AccessConnect:
		}
		if what == "" {
			continue
		}
		if i.Followed {
			what = "ran: " + strings.TrimPrefix(what, "exec: ")
		}
		if err := i.Checkpoints.Cannot(context.Background(), call.Caller.Session, call.Caller.Turn, what); err != nil {
			i.Say(event.LevelWarn, "%v", err)
		}
	}
}
