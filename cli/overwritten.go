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

// overwritten returns a func that looks, after a command of a conversation, whether it overwrote what tools
// of any conversation changed while it ran. What is lost is kept for an undo and told: to the conversation
// of the command at once, to the person, and to the others when they come back to the file.
func overwritten(a *app) func(tools.Caller, time.Time) string {
	return func(caller tools.Caller, since time.Time) string {
		ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
		defer cancel()
		checkpoints := a.store.Checkpoints()
		list, err := checkpoints.Overwritten(ctx, since)
		if err == nil && len(list) > 0 {
			err = checkpoints.KeepOverwritten(ctx, caller.Session, caller.Turn, list)
		}
		if err != nil {
			a.board.say(event.LevelWarn, "what a command overwrote is not known: %v", err)
		}
		if len(list) == 0 {
			return ""
		}
		var lines []string
		noted := map[string]time.Time{}
		for _, o := range list {
			line := a.workspace.Shown(o.Path)
			if who, err := a.store.Edits().Editors(ctx, caller.Session, o.Path, since); err == nil && len(who) > 0 {
				line += " (changed by " + strings.Join(slices.Compact(mapSlice(who, session.Editor.Who)), " and ") + ")"
			}
			lines = append(lines, line)
			noted[o.Path] = time.Now()
		}
		noteCommands(a)(caller, noted)
		said := fmt.Sprintf("while the command ran, %s changed by tools too, and the command wrote over it what it had read before: %s; /undo brings back what was there, or make that change again",
			text.Count(len(list), "file")+isAre(len(list)), strings.Join(lines, ", "))
		a.board.say(event.LevelWarn, "%s", text.Visible(said))
		return said
	}
}

func isAre(n int) string {
	if n == 1 {
		return " was"
	}
	return " were"
}
