package transcript

import "strings"

// job reports whether a call ended because its command goes on as a job.
func (c *callState) job() bool {
	if c.Name != "exec" && c.Name != "!" || c.Status != "done" || c.Failed() {
		return false
	}
	_, moved := c.output()
	return moved || strings.HasPrefix(c.Result.Display.Summary, "job ") && !strings.HasPrefix(c.Result.Text, "Job ")
}

// movedNote is how the line begins that tells the model where a command goes on that the person moved to the jobs.
const movedNote = "[the user moved it to the background"

// output returns what a finished call shows below its row, without what is told to the model alone; moved says that
// the person moved its command to the jobs.
func (c *callState) output() (out string, moved bool) {
	out = c.Result.Text
	if i := strings.LastIndexByte(out, '\n') + 1; strings.HasPrefix(out[i:], movedNote) && strings.HasSuffix(out, "]") {
		return out[:i], true
	}
	return out, false
}
