package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// sameTime is how far apart two commands may record one and the same change.
const sameTime = 5 * time.Second

// others knows which other agents and processes work on the same files.
type others struct{ edits session.Edits }

// Changed implements builtin.Others.
func (o others) Changed(ctx context.Context, call tools.Call, path string, since time.Time) string {
	list, err := o.edits.Editors(ctx, call.Caller.Session, path, since)
	if err != nil || len(list) == 0 {
		return ""
	}
	who := list[:1]
	how := "by "
	if list[0].Command {
		// Several may have run at that time: it is not known which of them made the change.
		who = slices.Clone(list)
		who = slices.DeleteFunc(who, func(e session.Editor) bool { return !e.Command || list[0].At.Sub(e.At) > sameTime })
		how = "while a command of "
		if len(who) > 1 {
			how = "while commands of "
		}
	}
	said := how + text.Truncate(strings.Join(mapSlice(who, session.Editor.Who), " and "), 200, "…")
	if list[0].Command {
		said += " ran"
	}
	said += fmt.Sprintf(", %s ago", time.Since(list[0].At).Round(time.Second))
	if more := len(list) - len(who); more > 0 {
		said += fmt.Sprintf(", and %s", text.Count(more, "other"))
	}
	return said
}

// noteLimit bounds how long recording a change by a command takes.
const noteLimit = 10 * time.Second

// noteCommands returns a func that records which files changed while a command of a conversation
// ran. The call may be canceled by then: an interrupted command has changed files, too.
func noteCommands(a *app) func(tools.Caller, map[string]time.Time) {
	return func(caller tools.Caller, files map[string]time.Time) {
		if caller.Origin == tools.OriginPerson {
			return // what they change is theirs
		}
		ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
		defer cancel()
		a.agentChanges.ran(files)
		if err := a.store.Edits().NoteCommand(ctx, caller.Session, files); err != nil {
			a.board.say(event.LevelWarn, "who changed files while a command ran is not recorded: %v", err)
		}
	}
}

// BeforeCall implements tools.Hook and changes nothing.
func (others) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook and does nothing.
func (others) AfterCall(tools.Call, tools.Outcome) {}

// Find implements tools.Finder: it reports a change of a file that someone else works on.
func (o others) Find(ctx context.Context, call tools.Call, res tools.Result) (model, person string) {
	if res.Failed || call.Caller.Session == "" {
		return "", ""
	}
	var said []string
	for _, access := range call.Plan.Accesses {
		if access.Kind != tools.AccessWrite && access.Kind != tools.AccessDelete {
			continue
		}
		claims, err := o.edits.Claims(ctx, call.Caller.Session, access.Path)
		if err != nil {
			return "", ""
		}
		for _, c := range claims {
			if line := fmt.Sprintf("%s works on %s", c.Who(), c.Path); !slices.Contains(said, line) {
				said = append(said, line)
			}
		}
	}
	if said == nil {
		return "", ""
	}
	person = strings.Join(said, "; ")
	return "[jcode] " + person + ": agree with whoever that is before you change more of it", person
}
