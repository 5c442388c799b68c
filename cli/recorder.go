package cli

import (
	"context"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin"
)

// recorder keeps what undo needs: it passes the changes of the file tools to the store's checkpoints. For a
// worktree it keeps only who changed what: a worktree is merged or discarded as a whole.
type recorder struct {
	store    *session.Store
	seen     *builtin.Seen
	worktree bool
	author   string // what changes files, where that is not one tool; "" otherwise
}

func newRecorder(a *app) recorder { return recorder{a.store, a.seen, a.ofAgent, ""} }

// Track records the state of files, and with done their new state.
func (r recorder) Track(ctx context.Context, call tools.Call, paths []string) (done func(context.Context, builtin.Written) error, err error) {
	var keep func(context.Context, session.Written) error
	if r.worktree {
		keep = func(ctx context.Context, _ session.Written) error {
			return r.store.Edits().Note(ctx, call.Caller.Session, paths)
		}
	} else if keep, err = r.checkpoints().Track(ctx, call.Caller.Session, call.Caller.Turn, paths); err != nil {
		return nil, err
	}
	return func(ctx context.Context, written builtin.Written) error {
		r.seen.Written(paths...)
		return keep(ctx, session.Written(written))
	}, nil
}

func (r recorder) checkpoints() *session.Checkpoints {
	if r.author != "" {
		return r.store.Checkpoints().As(r.author)
	}
	return r.store.Checkpoints()
}

// Found implements builtin.Recorder.
func (r recorder) Found(ctx context.Context, call tools.Call, path string, read, found []byte) error {
	if r.worktree {
		return nil
	}
	return r.checkpoints().Found(ctx, call.Caller.Session, call.Caller.Turn, path, read, found)
}

// irreversible records for each turn what cannot be undone: an undo reports it.
type irreversible struct {
	checkpoints *session.Checkpoints
	board       *board
	followed    bool // the files that commands and calls change are kept
}

// BeforeCall implements tools.Hook and changes nothing.
func (irreversible) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook.
func (i irreversible) AfterCall(call tools.Call, out tools.Outcome) {
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
		if i.followed {
			what = "ran: " + strings.TrimPrefix(what, "exec: ")
		}
		if err := i.checkpoints.Cannot(context.Background(), call.Caller.Session, call.Caller.Turn, what); err != nil {
			i.board.say(event.LevelWarn, "%v", err)
		}
	}
}
