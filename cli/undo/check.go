package undo

import (
	"path/filepath"
	"time"

	"jcode/cli/health"
	"jcode/internal/text"
)

// Check is the doctor's check: it says what is kept below a data folder of files that commands changed; off says that
// nothing is.
func Check(data string, off bool, r *health.Report) {
	switch u := NewContents(data).Usage(); {
	case off:
		r.OK("undo", "what commands change is not kept (undo.commands)")
	case u.Files == 0:
		r.OK("undo", "nothing is kept yet of files that commands change")
	case u.Bytes > MaxBytes*9/10:
		r.Warn("undo", "delete sessions that you don't need with jcode sessions rm, or remove "+filepath.Join(data, "snapshots")+", which leaves nothing to undo of what commands did",
			"%d of %d MB are kept for undo: what commands change from now on may not be", u.Bytes>>20, MaxBytes>>20)
	default:
		r.OK("undo", "%.1f MB in %s are kept for undo, the oldest since %s", float64(u.Bytes)/(1<<20), text.Count(u.Files, "file"), u.Oldest.Format(time.DateOnly))
	}
}
