package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// sameTime is how far apart two commands may record one and the same change.
const sameTime = 5 * time.Second

// Others knows which other agents and processes work on the same files.
type Others struct{ Edits session.Edits }

// Changed implements builtin.Others.
func (o Others) Changed(ctx context.Context, call tools.Call, path string, since time.Time) string {
	list, err := o.Edits.Editors(ctx, call.Caller.Session, path, since)
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
	said := how + text.Truncate(names(who), 200, "…")
	if list[0].Command {
		said += " ran"
	}
	said += fmt.Sprintf(", %s ago", time.Since(list[0].At).Round(time.Second))
	if more := len(list) - len(who); more > 0 {
		said += fmt.Sprintf(", and %s", text.Count(more, "other"))
	}
	return said
}

// BeforeCall implements tools.Hook and changes nothing.
func (Others) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook and does nothing.
func (Others) AfterCall(tools.Call, tools.Outcome) {}

// Find implements tools.Finder: it reports a change of a file that someone else works on.
func (o Others) Find(ctx context.Context, call tools.Call, res tools.Result) (model, person string) {
	if res.Failed || call.Caller.Session == "" {
		return "", ""
	}
	var said []string
	for _, access := range call.Plan.Accesses {
		if access.Kind != tools.AccessWrite && access.Kind != tools.AccessDelete {
			continue
		}
		claims, err := o.Edits.Claims(ctx, call.Caller.Session, access.Path)
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
	return "[jcode] " + person + ": come to an agreement before you change more of it", person
}
