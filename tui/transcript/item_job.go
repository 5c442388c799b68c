package transcript

import (
	"strings"

	"jcode/internal/toolcard"
)

// job reports whether a call ended because its command goes on as a job.
func (c *callState) job() bool {
	if c.Name != "exec" && c.Name != "!" || c.Status != "done" || c.Failed() {
		return false
	}
	_, moved := toolcard.CutMoved(c.Result.Text)
	return moved > 0 || strings.HasPrefix(c.Result.Display.Summary, "job ") && !strings.HasPrefix(c.Result.Text, "Job ")
}

// output returns what a finished call shows below its row, without what is told to the model alone.
func (c *callState) output() string {
	out, _ := toolcard.CutMoved(c.Result.Text)
	return out
}
