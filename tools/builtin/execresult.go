package builtin

import (
	"fmt"
	"strings"
	"time"

	"jcode/internal/capture"
	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/internal/toolcard"
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
	s := e.cmd.capture.Snapshot()
	if e.binary = s.Kind(); e.binary != "" {
		e.cmd.capture.KeepBinary()
		s = e.cmd.capture.Snapshot()
	}
	e.log = s.Log
	if e.output = s.Text(maxExecText); e.binary != "" {
		e.output = s.OfBinary(e.binary)
	}
	e.data = ExecData{
		Stdout: s.Stdout.Join(), Stderr: s.Stderr.Join(),
		Truncated: s.Stdout.Missing() > 0 || s.Stderr.Missing() > 0, TimedOut: e.timedOut > 0,
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

// failure returns in one line why a command failed, or "".
func (e *ended) failure(s capture.Snapshot) string {
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
	last := lastLine(s.Stderr.Kept())
	if !e.cmd.apart() && e.binary == "" {
		last = lastLine(s.Stdout.Kept())
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
		res.Text = strings.TrimPrefix(strings.TrimSuffix(e.output, "\n")+"\n"+toolcard.MovedToJob(e.job), "\n")
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
