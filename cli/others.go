package cli

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

// others knows which other agents and processes work on the same files.
type others struct{ edits session.Edits }

// Changed implements builtin.Others.
func (o others) Changed(ctx context.Context, call tools.Call, path string, since time.Time) string {
	list, err := o.edits.Editors(ctx, call.Caller.Session, path, since)
	if err != nil || len(list) == 0 {
		return ""
	}
	said := fmt.Sprintf("%s, %s ago", list[0].Who(), time.Since(list[0].At).Round(time.Second))
	if more := len(list) - 1; more > 0 {
		said += fmt.Sprintf(", and %s", text.Count(more, "other"))
	}
	return said
}

// BeforeCall implements tools.Hook and changes nothing.
func (others) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook and does nothing.
func (others) AfterCall(tools.Call, tools.Outcome) {}

// AfterRun implements tools.Commenter: it reports a change of a file that somebody else works on.
func (o others) AfterRun(ctx context.Context, call tools.Call, res tools.Result) string {
	if res.Failed || call.Caller.Session == "" {
		return ""
	}
	var said []string
	for _, access := range call.Plan.Accesses {
		if access.Kind != tools.AccessWrite && access.Kind != tools.AccessDelete {
			continue
		}
		claims, err := o.edits.Claims(ctx, call.Caller.Session, access.Path)
		if err != nil {
			return ""
		}
		for _, c := range claims {
			if line := fmt.Sprintf("%s works on %s", c.Who(), c.Path); !slices.Contains(said, line) {
				said = append(said, line)
			}
		}
	}
	if said == nil {
		return ""
	}
	return "[jcode] " + strings.Join(said, "; ") + ": agree with whoever that is before you change more of it"
}
