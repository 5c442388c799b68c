package builtin

import (
	"fmt"
	"strings"
	"time"

	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/tools"
)

// maxExecText bounds the output in a result's text, in bytes.
const maxExecText = 30 << 10

// ExecData is what exec returns to scripts. For a script's own calls the streams are separate;
// otherwise Stdout holds both, in the order in which they were written.
type ExecData struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	// Code is absent when a signal ended the command.
	Code             *int   `json:"code,omitempty"`
	SignalTerminated bool   `json:"signal_terminated,omitempty"`
	Signal           string `json:"signal,omitempty"`
	TimedOut         bool   `json:"timed_out,omitempty"`
	// Truncated says that the middle of stdout or stderr is missing.
	Truncated bool `json:"truncated,omitempty"`
	// Error is set if the command did not end with exit code 0.
	Error string `json:"error,omitempty"`
}

// ended is a command that has ended, or whose shell has ended and left processes running.
type ended struct {
	cmd       *command
	exit      proc.Exit
	timedOut  time.Duration // the limit that was exceeded
	cancelled bool
	moved     bool // the user moved it to the background while it ran
	killErr   error
	left      []proc.Info // processes that are still running
	job       int         // their job number

	output string // cleaned, cut
	binary string // what the output is, if it is not text
	data   ExecData
	log    string
}

// collect fills in what was captured.
func (e *ended) collect() {
	s := e.cmd.capture.snapshot()
	if e.binary = describeBinary(s.stdout); e.binary != "" {
		e.cmd.capture.keepBinary()
		s = e.cmd.capture.snapshot()
	}
	e.log = s.log
	if e.output = s.output(); e.binary != "" {
		e.output = s.binaryOutput(e.binary)
	}
	e.data = ExecData{
		Stdout: s.stdout.join(), Stderr: s.stderr.join(),
		Truncated: s.stdout.missing() > 0 || s.stderr.missing() > 0, TimedOut: e.timedOut > 0,
	}
	switch {
	case e.moved: // it still runs
	case e.exit.Signal != "":
		e.data.SignalTerminated, e.data.Signal = true, e.exit.Signal
	default:
		e.data.Code = &e.exit.Code
	}
	e.data.Error = e.failure(s)
}

// output returns the text for the model: the whole output, or its head and tail with the size and
// the place of the rest.
func (s snapshot) output() string {
	head, tail, missing := string(s.text.head), string(s.text.last())+s.lines[0]+s.lines[1], s.text.missing()
	mark := func(n int64) string {
		return fmt.Sprintf("\n[… %d of %d bytes left out here; %s …]\n", n, s.text.total, s.whole())
	}
	if missing == 0 {
		out, _ := text.HeadTail(head+tail, maxExecText, func(n, _ int) string { return mark(int64(n)) })
		return out
	}
	first, last := text.Cut(head, maxExecText/2), text.CutTail(tail, maxExecText/2)
	return text.Valid(first + mark(s.text.total-int64(len(first)+len(last))) + last)
}

// binaryOutput is output for bytes that are not text: what they are, where they are, and what was
// written to standard error.
func (s snapshot) binaryOutput(what string) string {
	out := "[the output is not text: " + what + "]"
	if s.binary {
		out = "[the output is not text: " + what + "; " + s.whole() + "]"
	}
	if err := text.CutTail(text.Clean(s.stderr.kept()), 4<<10); strings.TrimSpace(err) != "" {
		out += "\nstderr: " + err
	}
	return out
}

// whole says where the whole output is.
func (s snapshot) whole() string {
	switch {
	case s.logErr != nil:
		return "the whole was not kept: " + s.logErr.Error()
	case s.log == "":
		return "the whole was not kept"
	case s.logFull:
		return "its first part is in " + s.log
	}
	return "the whole is in " + s.log
}

// join returns a stream's text, with a mark in place of the missing middle.
func (e ends) join() string {
	if n := e.missing(); n > 0 {
		return text.Valid(string(e.head)) + fmt.Sprintf("\n[… %d bytes left out …]\n", n) + text.Valid(string(e.last()))
	}
	return text.Valid(e.kept())
}

// failure returns in one line why a command failed, or "".
func (e *ended) failure(s snapshot) string {
	switch {
	case e.moved:
		return ""
	case e.cancelled:
		return "interrupted"
	case e.timedOut > 0:
		return "timed out after " + e.timedOut.String()
	case e.exit.Signal != "":
		return "ended by signal: " + e.exit.Signal
	case e.exit.Code == 0:
		return ""
	}
	last := lastLine(s.stderr.kept())
	if !e.cmd.apart() && e.binary == "" {
		last = lastLine(s.stdout.kept())
	}
	if last == "" {
		return fmt.Sprintf("exit status %d", e.exit.Code)
	}
	return fmt.Sprintf("exit status %d: %s", e.exit.Code, last)
}

func lastLine(s string) string {
	s = strings.TrimSpace(text.Clean(s))
	return text.Cut(s[strings.LastIndexByte(s, '\n')+1:], 300)
}

// result returns the tool's result. An exit code is up to the command and not a failure of the
// tool; a timeout or an interrupt is.
func (e *ended) result() tools.Result {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, "["+fmt.Sprintf(format, args...)+"]") }
	res := tools.Result{Data: e.data, Display: tools.Display{Log: e.log}}
	if e.moved {
		note("the user moved it to the background, where it runs as job %d; job shows its further output and ends it", e.job)
		res.Text = strings.TrimPrefix(strings.TrimSuffix(e.output, "\n")+"\n"+notes[0], "\n")
		res.Display.Summary = fmt.Sprintf("job %d", e.job)
		return res
	}
	switch {
	case e.cancelled:
		res.Failed, res.Kind = true, tools.KindCancelled
		note("interrupted by user: the command and everything it started were ended")
	case e.timedOut > 0:
		res.Failed, res.Kind = true, tools.KindTimeout
		note("timed out after %v: the command and everything it started were ended; give a longer timeout_ms, or background for what runs on", e.timedOut)
	case e.exit.Err != nil:
		note("%v", e.exit.Err)
	case e.exit.Signal != "":
		note("ended by signal: %s", e.exit.Signal)
	case e.exit.Code != 0:
		note("exit code %d", e.exit.Code)
	}
	if e.killErr != nil {
		note("%v", e.killErr)
	}
	if len(e.left) > 0 {
		note("still running as job %d: %s; job shows its output and ends it", e.job, names(e.left))
	}
	out := strings.TrimSuffix(e.output, "\n")
	if out == "" && len(notes) == 0 {
		out = "(no output)"
	}
	if len(notes) > 0 && out != "" {
		out += "\n"
	}
	res.Text = out + strings.Join(notes, "\n")
	res.Display.Summary = e.summary()
	if e.exit.Signal == "" {
		code := e.exit.Code
		res.Display.ExitCode = &code
	}
	return res
}

func (e *ended) summary() string {
	s := "exit 0"
	switch {
	case e.cancelled:
		s = "interrupted"
	case e.timedOut > 0:
		s = "timed out"
	case e.exit.Signal != "":
		s = e.exit.Signal
	case e.exit.Code != 0:
		s = fmt.Sprintf("exit %d", e.exit.Code)
	}
	if len(e.left) > 0 {
		s += fmt.Sprintf(", job %d is running", e.job)
	}
	return s
}

// names lists processes for people.
func names(list []proc.Info) string {
	const most = 5
	var out []string
	for i, p := range list {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		line, _ := text.CutMark(text.Clean(p.Command), 120, "…")
		out = append(out, fmt.Sprintf("%s (pid %d)", strings.ReplaceAll(line, "\n", " "), p.Pid))
	}
	return strings.Join(out, ", ")
}
