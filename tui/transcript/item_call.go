package transcript

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/look"
)

// callState is what is known of a tool call: what it does, its state, how long it takes, and its result. It is all that
// the row of a call shows.
type callState struct {
	ID, Name string
	Brief    string
	args     json.RawMessage
	started  time.Time
	Took     time.Duration
	Status   string        // "" while it runs, then done, failed, denied, interrupted
	Waits    bool          // for the person
	since    time.Time     // waiting since
	waited   time.Duration // how long it has waited; its own time excludes that
	state    string        // its own progress line
	Result   tools.Result
}

func newCallState(id, name string, args json.RawMessage, at time.Time) callState {
	return callState{ID: id, Name: name, args: args, Brief: briefArguments(name, args), started: at}
}

// Call is a tool call in the transcript, with the tail of its output while it runs.
type Call struct {
	foldable
	callState
	Tail   string // output so far, at most tailBytes
	Nested *Nested
	group  *Group // the row that it shares, nil if it has its own
	frame  int    // spin at which lines were drawn while it runs
}

func NewCall(id, name string, args json.RawMessage, at time.Time) *Call {
	return &Call{callState: newCallState(id, name, args, at)}
}

// change replaces the arguments with those that the call runs with.
func (c *callState) change(args json.RawMessage) {
	c.args, c.Brief = args, briefArguments(c.Name, args)
}

// Answered ends the wait for the person, who may have edited the arguments.
func (c *Call) Answered(a tools.Answer) {
	if c != nil && a.Arguments != nil && a.Scope != tools.AnswerNo {
		c.change(a.Arguments)
		c.Drop()
	}
	c.Wait(false)
}

// Drop makes the next frame redraw it and the row that it shares.
func (c *Call) Drop() {
	c.kept.Drop()
	if c.group != nil {
		c.group.Drop()
	}
}

func (c *callState) running() bool { return c.Status == "" }

// Asks reports whether it puts a question to the person that reads so.
func (c *callState) Asks(question string) bool {
	var args struct{ Question string }
	return c.running() && json.Unmarshal(c.args, &args) == nil && args.Question == question
}

// Wait records that a call starts or stops waiting for the person; there may be no call.
func (c *Call) Wait(on bool) {
	switch {
	case c == nil || c.Waits == on:
		return
	case on:
		c.since = time.Now()
	default:
		c.waited += time.Since(c.since)
	}
	c.Waits = on
	c.Drop()
}

func (c *Call) Progress(state, output string) {
	if state != "" {
		c.state = state
	}
	if output != "" {
		c.Tail += output
		if len(c.Tail) > look.TailBytes {
			c.Tail = text.CutTail(c.Tail, look.TailBytes/2)
		}
	}
	c.Drop()
}

// End records how a call ended.
func (c *Call) End(ev event.CallEnd) {
	c.Wait(false)
	c.end(ev)
	c.Tail = ""
	c.Nested.end()
	c.Drop()
}

func (c *callState) end(ev event.CallEnd) {
	c.Status, c.Took, c.Result = ev.Status, max(ev.Duration-c.waited, 0), ev.Result
	if c.Status == "" {
		c.Status = "done"
	}
	if ran := ev.Result.Display.RanWith(c.args); !bytes.Equal(ran, c.args) {
		c.change(ran)
	}
}

func (c *Call) Height(l *look.Look) int {
	if c.running() && c.frame != l.Spin {
		c.Drop()
		c.frame = l.Spin
	}
	return c.fill(l, c.drawLines)
}

func (c *Call) Text() string {
	out := c.Name + " " + c.Brief
	if said := c.output(); said != "" {
		out += "\n" + said
	}
	return out
}

func (c *Call) drawLines(l *look.Look) []string {
	lines := []string{c.head(l)}
	if c.Open {
		lines = append(lines, c.arguments(l)...)
	}
	if c.Nested != nil {
		lines = append(lines, c.Nested.draw(l, c.Open)...)
	}
	return append(lines, c.body(l)...)
}

func (c *callState) mark(l *look.Look) (string, cells.Style) {
	switch {
	case c.Waits:
		return "?", l.Theme.Warn
	case c.running():
		return l.Spinner(), l.Theme.Accent
	case c.job():
		return "→", l.Theme.Info
	case c.Status == "done" && !c.Failed():
		return "✓", l.Theme.Good
	case c.Status == "denied":
		return "⊘", l.Theme.Warn
	case c.Status == "interrupted":
		return "◌", l.Theme.Warn
	}
	return "✗", l.Theme.Bad
}

// Ran returns for how long a call has run, without its waits for the person.
func (c *callState) Ran(now time.Time) time.Duration { return now.Sub(c.started) - c.waited }

// Failed reports whether the call failed: a command does so by its exit code.
func (c *callState) Failed() bool {
	return c.Result.Failed || c.Status == "failed" || c.exit() > 0
}

// exit returns the exit code of a command, 0 for anything else.
func (c *callState) exit() int {
	if code := c.Result.Display.ExitCode; code != nil {
		return *code
	}
	return 0
}

// head returns the line that is always shown.
func (c *callState) head(l *look.Look) string {
	mark, style := c.mark(l)
	name, brief, right := c.parts(l)
	spans := []cells.Span{{Text: mark, Style: style}, {Text: " "}, {Text: name, Style: l.Theme.Strong}}
	if brief != "" {
		spans = append(append(spans, cells.Span{Text: " "}), c.named(l, brief)...)
	}
	if right != "" {
		style := l.Theme.Faint
		if !c.running() && c.Failed() {
			style = l.Theme.Bad
		}
		spans = append(spans, counted(l, "  "+right, style)...)
	}
	return cells.Render(look.Clip(spans, l.Width))
}

// named returns what a call is about, as a link if it is a file.
func (c *callState) named(l *look.Look, brief string) []cells.Span {
	if target := l.Files.Of(look.OneLine(c.Brief)); l.Links && target != "" { // also with blanks in it, and if it is cut
		return []cells.Span{{Text: brief, Link: target}}
	}
	return l.Named(cells.Span{Text: brief})
}

// parts returns what the head shows, each within its space: the tool, what the call is about, and its
// progress or result.
func (c *callState) parts(l *look.Look) (name, brief, right string) {
	switch {
	case c.Waits:
		right = "waits for you"
	case c.running():
		if d := c.Ran(l.Now); d >= time.Second {
			right = d.Truncate(time.Second).String()
		}
		if c.state != "" {
			right = strings.TrimSpace(look.OneLine(c.state) + " " + right)
		}
	default:
		right = c.Outcome()
	}
	name = cells.Fit(text.Clean(c.Name), max(l.Width/2, 8))
	room := l.Width - 3 - cells.Width(name)
	right = cells.Fit(right, max(room-2, 0))
	if w := cells.Width(right); w > 0 {
		room -= w + 2
	}
	brief = look.OneLine(c.Brief)
	if c.Name != "exec" { // a command is shown as it is
		brief = l.Tilde(brief)
	}
	return name, cells.Fit(brief, max(room, 0)), right
}

// Outcome returns the short report at the right of a finished call.
func (c *callState) Outcome() string {
	var parts []string
	d := c.Result.Display
	switch {
	case c.Status == "denied":
		parts = append(parts, refusal(c.Result.Text))
	case c.Status == "interrupted":
		parts = append(parts, "interrupted")
	case d.Summary != "":
		parts = append(parts, look.OneLine(d.Summary))
	case d.Added != 0 || d.Removed != 0:
		parts = append(parts, "+"+strconv.Itoa(d.Added)+" -"+strconv.Itoa(d.Removed))
	}
	if d.ExitCode != nil && *d.ExitCode != 0 && d.Summary == "" {
		parts = append(parts, "exit "+strconv.Itoa(*d.ExitCode))
	}
	if c.Took >= 100*time.Millisecond {
		parts = append(parts, look.Seconds(c.Took))
	}
	return strings.Join(parts, " · ")
}

// Ending says how a call ended.
func (c *callState) Ending() string {
	status := c.Status
	if status == "done" && c.Failed() {
		status = "failed"
	}
	return strings.TrimSpace(status + ". " + c.Outcome())
}

// refusal says in a few words why a call was refused: the person's words, a hook's, otherwise that it was not
// allowed.
func refusal(s string) string {
	first, rest, _ := strings.Cut(s, "\n")
	if word, ok := strings.CutPrefix(rest, "The user says: "); ok {
		return "no: " + look.OneLine(text.Clean(word))
	}
	if by, why, ok := strings.Cut(strings.TrimPrefix(first, "refused by "), ": "); ok && by != first && strings.Contains(by, "hook") {
		return "hook: " + look.OneLine(text.Clean(why))
	}
	if strings.HasPrefix(first, "denied by user") {
		return "no"
	}
	return "not allowed"
}

// body returns what is below the head.
func (c *Call) body(l *look.Look) []string {
	said := c.output()
	switch {
	case c.running():
		return c.runningTail(l)
	case c.Result.Display.Diff != "":
		limit := look.DiffLines
		if c.Open {
			limit = look.FullLines
		}
		lines := look.Indent(DrawDiff(c.Result.Display.Diff, l, l.Width-2, limit), "  ")
		return append(lines, c.block(l, c.Result.Display.Found, look.FoundLines, false, l.Theme.Warn)...)
	case c.Open:
		return c.block(l, said, look.FullLines, false, l.Theme.Faint)
	case c.Status == "denied" || c.Status == "interrupted":
		return nil
	case c.Failed():
		// The reason why a command failed is at the end of its output.
		return c.block(l, c.Said(), look.FailedLines, c.Name == "exec", l.Theme.Bad)
	case c.Name == "exec":
		return c.block(l, said, look.TailLines, true, l.Theme.Faint)
	}
	return c.block(l, c.Result.Display.Found, look.FoundLines, false, l.Theme.Warn)
}

// Said returns what a failed call says, for a person: without the exit code at its end, which its row shows,
// and without the words of the Lua interface.
func (c *Call) Said() string {
	s := strings.TrimRight(c.Result.Text, "\n")
	if name, ok := strings.CutPrefix(s, "unknown intent: "); ok {
		s = "there is no tool " + name
	}
	code := "exit code " + strconv.Itoa(c.exit())
	return strings.TrimSuffix(strings.TrimSuffix(s, code), "["+code+"]")
}

func (c *Call) runningTail(l *look.Look) []string {
	limit := look.TailLines
	if c.Open {
		limit = look.FullLines
	}
	return c.block(l, c.Tail, limit, true, l.Theme.Faint)
}

// block shows at most limit lines of a text: the first ones, or with tail the last ones.
func (c *Call) block(l *look.Look, s string, limit int, tail bool, style cells.Style) []string {
	s = strings.TrimRight(text.Clean(s), "\n \t")
	if s == "" {
		return nil
	}
	all := strings.Count(s, "\n") + 1
	var rows []string
	if tail {
		rows = look.LastLines(s, limit)
	} else {
		rows = strings.SplitN(s, "\n", limit+1)
		rows = rows[:min(len(rows), limit)]
	}
	bar := cells.Paint(l.Theme.Border, "  │ ")
	var out []string
	hidden := all - len(rows)
	more := cells.Paint(l.Theme.Faint, cells.Fit("  … "+text.Count(hidden, "more line")+l.Unfolds(), l.Width))
	if hidden > 0 && tail {
		out = append(out, more)
	}
	fold := cells.Fold
	if c.Result.Failed && c.Name != "exec" { // prose, not columns
		fold = cells.Wrap
	}
	for _, row := range rows {
		folded := fold([]cells.Span{{Text: cells.ExpandTabs(row, 4), Style: style}}, max(l.Width-4, 1))
		if !c.Open && len(folded) > 2 {
			folded = folded[:2]
		}
		for _, spans := range folded {
			out = append(out, bar+cells.Render(spans))
		}
	}
	if hidden > 0 && !tail {
		out = append(out, more)
	}
	return out
}

// arguments shows all arguments of an unfolded call.
func (c *Call) arguments(l *look.Look) []string {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(c.args, &m); err != nil {
		return c.block(l, string(c.args), look.FullLines, false, l.Theme.Faint)
	}
	if _, brief, _ := c.parts(l); len(m) == 1 && brief == c.Brief {
		return nil // the head already shows it
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, c.block(l, k+": "+scalar(m[k]), 40, false, l.Theme.Info)...)
	}
	return out
}
