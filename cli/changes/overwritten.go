package changes

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

// Say tells the person something.
type Say func(level event.Level, format string, args ...any)

// noteLimit bounds how long recording a change by a command takes.
const noteLimit = 10 * time.Second

// OfCommands records what commands change beside tools and other conversations, and tells who has to know it.
type OfCommands struct {
	Store    *session.Store
	Agents   *Agents
	Follower *undo.Follower // may be nil
	Say      Say
	// Tell tells the model something with the next prompt of the person.
	Tell func(text string)
	// Session returns the session of the person's own commands, Shown the name of a file in texts.
	Session func() string
	Shown   func(path string) string
}

// Note records which files changed while a command of a conversation ran. The call may be canceled by then: an
// interrupted command has changed files, too.
func (o OfCommands) Note(caller tools.Caller, files map[string]time.Time) {
	if caller.Origin == tools.OriginPerson {
		return // what they change is theirs
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
	defer cancel()
	o.Agents.ran(files)
	if err := o.Store.Edits().NoteCommand(ctx, caller.Session, files); err != nil {
		o.Say(event.LevelWarn, "who changed files while a command ran is not recorded: %v", err)
	}
}

// Overwritten looks, after a command of a conversation or of the person, whether it overwrote what tools of any
// conversation changed while it ran. What is lost is kept for an undo and told: to the conversation of the command at
// once, to the person, and to the others at their next step.
func (o OfCommands) Overwritten(caller tools.Caller, since time.Time) string {
	ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
	defer cancel()
	list, err := o.keep(ctx, &caller, since)
	if err != nil {
		o.Say(event.LevelWarn, "what a command overwrote is not known: %v", err)
	}
	if len(list) == 0 {
		return ""
	}
	edits := o.Store.Edits()
	var lines []string
	noted, losers := map[string]time.Time{}, map[string][]string{}
	for _, lost := range list {
		line := o.Shown(lost.Path)
		if who, err := edits.Editors(ctx, caller.Session, lost.Path, since); err == nil && len(who) > 0 {
			line += " (changed by " + names(who) + ")"
			for _, e := range who {
				losers[lost.Path] = append(losers[lost.Path], e.Session)
			}
		}
		lines = append(lines, line)
		noted[lost.Path] = time.Now()
	}
	if err := errors.Join(edits.NoteCommand(ctx, caller.Session, noted), edits.NoteOverwritten(ctx, caller.Session, losers)); err != nil {
		o.Say(event.LevelWarn, "other sessions are not told what a command overwrote: %v", err)
	}
	said := fmt.Sprintf("while the command ran, %s changed by tools too, and the command wrote over it what it had read before: %s; /undo restores what was there, or make that change again",
		text.Count(len(list), "file")+isAre(len(list)), strings.Join(lines, ", "))
	o.Say(event.LevelWarn, "%s", text.Visible(said))
	if caller.Origin == tools.OriginPerson {
		o.Tell("A command that the user ran: " + text.Visible(said) + ".")
	}
	return said
}

// keep keeps for an undo what a command overwrote; for one of the person it finds their session and turn.
func (o OfCommands) keep(ctx context.Context, caller *tools.Caller, since time.Time) ([]session.Overwritten, error) {
	checkpoints := o.Store.Checkpoints()
	list, err := checkpoints.Overwritten(ctx, since)
	if err != nil || len(list) == 0 {
		return list, err
	}
	if caller.Origin == tools.OriginPerson {
		caller.Session = o.Session()
		if turn, ok := o.Follower.OwnTurn(caller.Session); ok {
			caller.Turn = turn
		} else if caller.Session != "" {
			if caller.Turn, err = checkpoints.Begin(ctx, caller.Session, undo.ShellLine); err != nil {
				return list, err
			}
		}
	}
	return list, checkpoints.KeepOverwritten(ctx, caller.Session, caller.Turn, list)
}

// names joins the names of those who changed a file.
func names(who []session.Editor) string {
	var list []string
	for _, e := range who {
		list = append(list, e.Who())
	}
	return strings.Join(slices.Compact(list), " and ")
}

// Losses tells a conversation which of its changes commands of others wrote over.
type Losses struct {
	Edits session.Edits
	Shown func(path string) string
}

// Extension returns what it adds to jcode.
func (l Losses) Extension() core.Extension {
	return core.Extension{Own: l.own(), Agents: l.agents()}
}

func (l Losses) own() agent.Extension    { return agent.Extension{Before: l.before} }
func (l Losses) agents() agent.Extension { return agent.Extension{Before: l.before} }

func (l Losses) before(ctx context.Context, sessionID string) agent.Announcement {
	if sessionID == "" {
		return agent.Announcement{}
	}
	list, err := l.Edits.TakeOverwritten(ctx, sessionID)
	if err != nil || len(list) == 0 {
		return agent.Announcement{} // the next step asks again
	}
	var lines []string
	for _, o := range list {
		lines = append(lines, l.Shown(o.Path)+" (by a command of "+o.By.Who()+")")
	}
	said := "your change is no longer in " + strings.Join(lines, ", ") + ": the command wrote over it what it had read before"
	return agent.Announcement{
		Text:  text.Visible(said) + ". Read the file again and make the change again if it is still needed; /undo in the session of the command restores it too.",
		Shown: text.Visible(strings.Replace(said, "your change", "a change of this session", 1)) + "; /undo there restores it",
	}
}

func isAre(n int) string {
	if n == 1 {
		return " was"
	}
	return " were"
}
