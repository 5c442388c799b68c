package builtin

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"jcode/internal/terminal"
	"jcode/internal/text"
	"jcode/tools"
)

// The times of waiting for a job.
const (
	look        = 25 * time.Millisecond  // between two looks at what it wrote
	still       = 400 * time.Millisecond // without output: it waits for something
	stillLong   = 2 * time.Second        // the same, for who waits on purpose
	beginLimit  = 5 * time.Second        // for a program that never stops to draw
	defaultWait = 30 * time.Second
)

// settled waits until a job is silent for a time, has ended, or shows a pattern, which may be nil. It says why it ends.
func (s *Shell) settled(ctx context.Context, j *job, silence, limit time.Duration, pattern *regexp.Regexp) (why string, err error) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	until := time.Now().Add(limit)
	seen, since := int64(-1), time.Now()
	for {
		n := j.cmd.capture.Count()
		if n != seen {
			seen, since = n, time.Now()
			if pattern != nil && pattern.MatchString(j.shown()) {
				return "the pattern is there", nil
			}
		}
		switch now := time.Now(); {
		case j.isOver():
			if pattern != nil && pattern.MatchString(j.shown()) {
				return "the pattern is there", nil
			}
			return "it has ended", nil
		case pattern == nil && now.Sub(since) >= silence && (n > 0 || now.Sub(since) >= stillLong):
			return fmt.Sprintf("it is silent for %s", silence), nil
		case now.After(until):
			return fmt.Sprintf("%s are over", limit), nil
		}
		select {
		case <-ticker.C:
		case <-j.over:
		case <-ctx.Done():
			return "", tools.Errorf(tools.KindCancelled, "interrupted")
		}
	}
}

// shown is what a pattern is looked for in: the screen, and what was not read yet.
func (j *job) shown() string {
	j.mu.Lock()
	from := j.seen
	j.mu.Unlock()
	snap := j.cmd.capture.Snapshot()
	out, _, _ := snap.Since(from, maxExecText) // what was not kept can't be searched
	out += snap.Lines[0] + snap.Lines[1]
	if j.cmd.term != nil {
		out += "\n" + j.cmd.term.Screen().Text
	}
	return out
}

// begun is the result of a command that was started in a terminal.
func (s *Shell) begun(ctx context.Context, id int) (tools.Result, error) {
	j, err := s.find(id)
	if err != nil {
		return tools.Result{}, err
	}
	if _, err := s.settled(ctx, j, still, beginLimit, nil); err != nil {
		return tools.Result{}, err
	}
	res, err := s.look(j, "")
	head := fmt.Sprintf("Started job %d in a terminal of %d columns and %d rows; write, read and wait of the tool job use it, the user sees it in /jobs.\n", id, terminal.Cols, terminal.Rows)
	if j.cmd.term == nil {
		head = fmt.Sprintf("Started job %d. There are no terminals on this system: it has pipes, write of the tool job sends it text.\n", id)
	}
	if j.isOver() {
		head = ""
	}
	res.Text = head + res.Text
	return res, err
}

// look is the result of a call that looks at a job: its screen while it runs, else what it wrote.
func (s *Shell) look(j *job, why string) (tools.Result, error) {
	info := j.info()
	head := describe(info)
	if why != "" {
		head += " (" + why + ")"
	}
	if note := j.secretNote(); note != "" {
		head += "\n[" + note + "]"
	}
	data := map[string]any{"job": j.id, "state": info.State}
	if j.cmd.term == nil || j.isOver() {
		out, err := s.JobOutput(j.id)
		if err != nil {
			return tools.Result{}, err
		}
		data["output"] = out
		if out == "" {
			out = "(no new output)"
		}
		return tools.Result{Text: head + "\n" + out, Data: data, Display: tools.Display{Summary: describe(info), Log: info.Log}}, nil
	}
	screen := j.cmd.term.Screen()
	reader := j.cmd.term.Reader()
	if reader.Name != "" {
		head += fmt.Sprintf("\n[%s reads; cursor in row %d, column %d]", reader.Name, screen.Row, screen.Col)
	}
	data["screen"], data["row"], data["col"] = screen.Text, screen.Row, screen.Col
	shown := screen.Text
	if shown == "" {
		shown = "(the screen is empty)"
	}
	return tools.Result{Text: head + "\n" + shown, Data: data, Display: tools.Display{Summary: describe(info), Log: info.Log}}, nil
}

// JobScreen returns what a job's terminal shows; ok is false if it has none.
func (s *Shell) JobScreen(id int) (screen string, ok bool) {
	j, err := s.find(id)
	if err != nil || j.cmd.term == nil {
		return "", false
	}
	return j.cmd.term.Screen().Text, true
}

// ShowJob opens a window on a job's terminal for a person, who types there unasked.
func (s *Shell) ShowJob(id, cols, rows int) (*terminal.Window, error) {
	j, err := s.find(id)
	if err != nil {
		return nil, err
	}
	switch {
	case j.cmd.term == nil:
		return nil, fmt.Errorf("job %d has no terminal", id)
	case j.isOver():
		return nil, fmt.Errorf("job %d has ended", id)
	}
	j.mu.Lock()
	j.line = typedLine{unknown: true}
	j.mu.Unlock()
	return j.cmd.term.Show(cols, rows), nil
}

// typeInto types what a call was allowed to type. was is who read when it was judged.
func (j *job) typeInto(in typing, was terminal.Reader, line typedLine) error {
	if j.cmd.term == nil {
		if j.cmd.input == nil {
			return tools.Errorf(tools.KindInvalidArgs, "job %d has no input: start it with tty", j.id)
		}
		for _, key := range in.keys {
			if key != "enter" {
				return tools.Errorf(tools.KindInvalidArgs, "job %d has no terminal but a pipe, which knows no keys but enter", j.id)
			}
			in.text += "\n"
		}
		if _, err := j.cmd.input.WriteString(in.text); err != nil {
			return tools.Errorf(tools.KindIO, "write to job %d: %w", j.id, err)
		}
		return nil
	}
	now := j.cmd.term.Reader()
	j.mu.Lock()
	defer j.mu.Unlock()
	if in.text != "" && (now.Group != was.Group || now.Shell != was.Shell || now.Name != was.Name || j.line != line) {
		return tools.Errorf(tools.KindIO, "nothing was typed: another program reads than a moment ago (%s). Look again", j.reads(now))
	}
	j.line = line.judged(was, in).after
	if in.text != "" {
		if j.cmd.term.Secret() {
			return secretRefusal(j.id)
		}
		if err := j.cmd.term.Type(in.text); err != nil {
			return tools.Errorf(tools.KindIO, "type into job %d: %w", j.id, err)
		}
	}
	for _, key := range in.keys {
		if err := j.cmd.term.Press(key); err != nil {
			return tools.Errorf(tools.KindIO, "type into job %d: %w", j.id, err)
		}
	}
	return nil
}

func secretRefusal(id int) error {
	return tools.Errorf(tools.KindDenied, "job %d waits for a password: the user is asked for it, and it is not for you to type. Use action wait", id)
}

// keyNames takes the names of keys apart, which blanks separate.
func keyNames(list string) ([]string, error) {
	names := strings.Fields(list)
	for _, name := range names {
		if !terminal.Known(name) {
			return nil, tools.Errorf(tools.KindInvalidArgs, "there is no key %q; there are: %s", text.Visible(name), terminal.Keys)
		}
	}
	return names, nil
}
