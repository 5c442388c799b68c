package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/core"
	"jcode/cli/undo"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// overwritten returns a func that looks, after a command of a conversation or of the person, whether it overwrote
// what tools of any conversation changed while it ran. What is lost is kept for an undo and told: to the conversation
// of the command at once, to the person, and to the others at their next step.
func overwritten(a *app) func(tools.Caller, time.Time) string {
	return func(caller tools.Caller, since time.Time) string {
		ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
		defer cancel()
		checkpoints := a.store.Checkpoints()
		list, err := checkpoints.Overwritten(ctx, since)
		if err == nil && len(list) > 0 && caller.Origin == tools.OriginPerson {
			caller.Session = a.board.session()
			if turn, ok := a.follower.OwnTurn(caller.Session); ok {
				caller.Turn = turn
			} else if caller.Session != "" {
				caller.Turn, err = checkpoints.Begin(ctx, caller.Session, undo.ShellLine)
			}
		}
		if err == nil && len(list) > 0 {
			err = checkpoints.KeepOverwritten(ctx, caller.Session, caller.Turn, list)
		}
		if err != nil {
			a.board.say(event.LevelWarn, "what a command overwrote is not known: %v", err)
		}
		if len(list) == 0 {
			return ""
		}
		edits := a.store.Edits()
		var lines []string
		noted, losers := map[string]time.Time{}, map[string][]string{}
		for _, o := range list {
			line := a.workspace.Shown(o.Path)
			if who, err := edits.Editors(ctx, caller.Session, o.Path, since); err == nil && len(who) > 0 {
				line += " (changed by " + strings.Join(slices.Compact(mapSlice(who, session.Editor.Who)), " and ") + ")"
				losers[o.Path] = mapSlice(who, func(e session.Editor) string { return e.Session })
			}
			lines = append(lines, line)
			noted[o.Path] = time.Now()
		}
		if err := errors.Join(edits.NoteCommand(ctx, caller.Session, noted), edits.NoteOverwritten(ctx, caller.Session, losers)); err != nil {
			a.board.say(event.LevelWarn, "other sessions are not told what a command overwrote: %v", err)
		}
		said := fmt.Sprintf("while the command ran, %s changed by tools too, and the command wrote over it what it had read before: %s; /undo brings back what was there, or make that change again",
			text.Count(len(list), "file")+isAre(len(list)), strings.Join(lines, ", "))
		a.board.say(event.LevelWarn, "%s", text.Visible(said))
		if caller.Origin == tools.OriginPerson {
			a.board.tell("A command that the user ran: " + text.Visible(said) + ".")
		}
		return said
	}
}

// losses tells a conversation which of its changes commands of others wrote over.
type losses struct {
	edits session.Edits
	shown func(path string) string
}

// extension returns what it adds to jcode.
func (l losses) extension() core.Extension {
	return core.Extension{Own: l.own(), Agents: l.agents()}
}

func (l losses) own() agent.Extension    { return agent.Extension{Before: l.before} }
func (l losses) agents() agent.Extension { return agent.Extension{Before: l.before} }

func (l losses) before(ctx context.Context, sessionID string) agent.Announcement {
	if sessionID == "" {
		return agent.Announcement{}
	}
	list, err := l.edits.TakeOverwritten(ctx, sessionID)
	if err != nil || len(list) == 0 {
		return agent.Announcement{} // the next step asks again
	}
	lines := mapSlice(list, func(o session.Overwrite) string { return l.shown(o.Path) + " (by a command of " + o.By.Who() + ")" })
	said := "your change is no longer in " + strings.Join(lines, ", ") + ": the command wrote over it what it had read before"
	return agent.Announcement{
		Text:  text.Visible(said) + ". Read the file again and make the change again if it is still needed; /undo in the session of the command brings it back too.",
		Shown: text.Visible(strings.Replace(said, "your change", "a change of this session", 1)) + "; /undo there brings it back",
	}
}

func isAre(n int) string {
	if n == 1 {
		return " was"
	}
	return " were"
}
