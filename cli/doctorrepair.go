package cli

import (
	"context"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/session"
)

// repairDatabase copies what can be read of a damaged database, and reports whether that went well.
func (d *doctor) repairDatabase(ctx context.Context, path string) bool {
	done, err := session.Repair(ctx, path, session.Options{})
	if done.Aside != "" {
		d.Warn("database", "delete the damaged file once you miss nothing", "repaired: what can be read was copied; %s; the damaged file is %s",
			session.DescribeLost(done.Lost), done.Aside)
	}
	if done.Back > 0 {
		d.OK("database", "%s came back from files that were moved aside", text.Count(done.Back, "session"))
	}
	if err != nil {
		d.Fail("database", "", console.ExitUsage, "%v", err)
		return false
	}
	if done.Aside == "" && done.Back == 0 {
		d.OK("database", "there is nothing to repair")
	}
	return true
}
