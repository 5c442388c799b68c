package doctorcli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/internal/text"
	"jcode/session"
)

// Database opens the database as a start would, but moves nothing aside silently: what was done is a finding. If it is to
// be repaired, what can be read of a damaged one is copied first. opened is called with it; remedy says what to do where it
// can't be written. It reports whether all is well.
func Database(ctx context.Context, path string, repair bool, opened func(*session.Store), remedy func(error) string, r *health.Report) bool {
	if repair && !repairDatabase(ctx, path, r) {
		return false
	}
	store, err := session.Open(ctx, path, session.Options{})
	if err != nil {
		advice := remedy(err)
		if errors.Is(err, session.ErrReadOnly) {
			advice += "; jcode sessions lists, shows, searches and exports what is there"
		}
		r.Fail("database", advice, console.ExitUsage, "%v", err)
		return false
	}
	for _, n := range store.Notices() {
		r.Warn("database", "", "%s", n.Text)
	}
	opened(store)
	faults, err := store.Check(ctx)
	written := errors.Join(err, store.CheckWrite(ctx))
	if err := store.Close(); err != nil && written == nil {
		written = fmt.Errorf("close %s: %w", path, err)
	}
	if len(faults) > 0 {
		r.Fail("database", "end jcode everywhere and run jcode doctor --repair: it copies what can be read into a new file and keeps this one", console.ExitUsage,
			"%s is damaged inside: %s", path, strings.Join(faults, "; "))
		return false
	}
	if written != nil {
		r.Fail("database", "make room on its disk, or set JCODE_HOME to another one", console.ExitUsage, "%v", written)
		return false
	}
	r.OK("database", "%s opens and can be written", path)
	return true
}

// repairDatabase copies what can be read of a damaged database, and reports whether that went well.
func repairDatabase(ctx context.Context, path string, r *health.Report) bool {
	done, err := session.Repair(ctx, path, session.Options{})
	if done.Aside != "" {
		r.Warn("database", "delete the damaged file once you miss nothing", "repaired: what can be read was copied; %s; the damaged file is %s",
			session.DescribeLost(done.Lost), done.Aside)
	}
	if done.Back > 0 {
		r.OK("database", "%s came back from files that were moved aside", text.Count(done.Back, "session"))
	}
	if err != nil {
		r.Fail("database", "", console.ExitUsage, "%v", err)
		return false
	}
	if done.Aside == "" && done.Back == 0 {
		r.OK("database", "there is nothing to repair")
	}
	return true
}
