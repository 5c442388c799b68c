package tui

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
)

// callItem is a tool call: what it does, its state, how long it takes, the tail of its output while it runs,
// and its result.
type callItem struct {
	foldable
	id, name string
	brief    string
	args     json.RawMessage
	started  time.Time
	took     time.Duration
	status   string        // "" while it runs, then done, failed, denied, interrupted
	waits    bool          // for the person
	since    time.Time     // waiting since
	waited   time.Duration // how long it has waited; its own time excludes that
	state    string        // its own progress line
	tail     string        // output so far, at most tailBytes
	result   tools.Result
	nested   *nested
	group    *groupItem // the row that it shares, nil if it has its own
	frame    int        // spin at which lines were drawn while it runs
}

func newCall(id, name string, args json.RawMessage, at time.Time) *callItem {
	return &callItem{id: id, name: name, args: args, brief: briefArguments(name, args), started: at}
}

// change replaces the arguments with those that the call runs with.
func (c *callItem) change(args json.RawMessage) {
	c.args, c.brief = args, briefArguments(c.name, args)
	c.drop()
}

// answered ends the wait for the person, who may have edited the arguments.
func (c *callItem) answered(a tools.Answer) {
	if c != nil && a.Arguments != nil && a.Scope != tools.AnswerNo {
		c.change(a.Arguments)
	}
	c.wait(false)
}

// drop makes the next frame redraw it and the row that it shares.
func (c *callItem) drop() {
	c.kept.drop()
	if c.group != nil {
		c.group.drop()
	}
}

func (c *callItem) running() bool { return c.status == "" }

// wait records that a call starts or stops waiting for the person; there may be no call.
func (c *callItem) wait(on bool) {
	switch {
	case c == nil || c.waits == on:
		return
	case on:
		c.since = time.Now()
	default:
		c.waited += time.Since(c.since)
	}
	c.waits = on
	c.drop()
}

func (c *callItem) progress(state, output string) {
	if state != "" {
		c.state = state
	}
	if output != "" {
		c.tail += output
		if len(c.tail) > tailBytes {
			c.tail = text.CutTail(c.tail, tailBytes/2)
		}
	}
	c.drop()
}

func (c *callItem) end(ev event.CallEnd) {
	c.wait(false)
	c.status, c.took, c.result = ev.Status, max(ev.Duration-c.waited, 0), ev.Result
	if c.status == "" {
		c.status = "done"
	}
	if ran := ev.Result.Display.RanWith(c.args); !bytes.Equal(ran, c.args) {
		c.change(ran)
	}
	c.tail = ""
	c.drop()
}

func (c *callItem) height(l *look) int {
	if c.running() && c.frame != l.spin {
		c.drop()
		c.frame = l.spin
	}
	return c.fill(l, c.drawLines)
}

func (c *callItem) text() string {
	out := c.name + " " + c.brief
	if c.result.Text != "" {
		out += "\n" + c.result.Text
	}
	return out
}

func (c *callItem) drawLines(l *look) []string {
	lines := []string{c.head(l)}
	if c.open {
		lines = append(lines, c.arguments(l)...)
	}
	if c.nested != nil {
		lines = append(lines, c.nested.draw(l, c.open)...)
	}
	return append(lines, c.body(l)...)
}

// spinner shows that something is running.
var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (c *callItem) mark(l *look) (string, cells.Style) {
	switch {
	case c.waits:
		return "?", l.theme.Warn
	case c.running():
		return spinner[l.spin%len(spinner)], l.theme.Accent
	case c.status == "done" && !c.failed():
		return "✓", l.theme.Good
	case c.status == "denied":
		return "⊘", l.theme.Warn
	case c.status == "interrupted":
		return "◌", l.theme.Warn
	}
	return "✗", l.theme.Bad
}

// failed reports whether the call failed: a command does so by its exit code.
func (c *callItem) failed() bool {
	return c.result.Failed || c.status == "failed" || c.exit() > 0
}

// exit returns the exit code of a command, 0 for anything else.
func (c *callItem) exit() int {
	if code := c.result.Display.ExitCode; code != nil {
		return *code
	}
	return 0
}

// head returns the line that is always shown.
func (c *callItem) head(l *look) string {
	mark, style := c.mark(l)
	name, brief, right := c.parts(l)
	spans := []cells.Span{{Text: mark, Style: style}, {Text: " "}, {Text: name, Style: l.theme.Strong}}
	if brief != "" {
		spans = append(spans, cells.Span{Text: " " + brief})
	}
	if right != "" {
		style := l.theme.Faint
		if !c.running() && c.failed() {
			style = l.theme.Bad
		}
		spans = append(spans, cells.Span{Text: "  " + right, Style: style})
	}
	return cells.Render(clip(spans, l.width))
}

// parts returns what the head shows, each within its space: the tool, what the call is about, and its
// progress or result.
func (c *callItem) parts(l *look) (name, brief, right string) {
	switch {
	case c.waits:
		right = "waits for you"
	case c.running():
		if d := l.now.Sub(c.started) - c.waited; d >= time.Second {
			right = d.Truncate(time.Second).String()
		}
		if c.state != "" {
			right = strings.TrimSpace(oneLine(c.state) + " " + right)
		}
	default:
		right = c.outcome()
	}
	name = cells.Fit(text.Clean(c.name), max(l.width/2, 8))
	room := l.width - 3 - cells.Width(name)
	right = cells.Fit(right, max(room-2, 0))
	if w := cells.Width(right); w > 0 {
		room -= w + 2
	}
	return name, cells.Fit(oneLine(c.brief), max(room, 0)), right
}

// clip cuts spans to a width.
func clip(spans []cells.Span, width int) []cells.Span {
	if cells.SpansWidth(spans) <= width {
		return spans
	}
	return cells.Fold(spans, width)[0]
}

// outcome returns the short report at the right of a finished call.
func (c *callItem) outcome() string {
	var parts []string
	d := c.result.Display
	switch {
	case c.status == "denied":
		parts = append(parts, refusal(c.result.Text))
	case c.status == "interrupted":
		parts = append(parts, "interrupted")
	case d.Summary != "":
		parts = append(parts, oneLine(d.Summary))
	case d.Added != 0 || d.Removed != 0:
		parts = append(parts, "+"+itoa(d.Added)+" -"+itoa(d.Removed))
	}
	if d.ExitCode != nil && *d.ExitCode != 0 && d.Summary == "" {
		parts = append(parts, "exit "+itoa(*d.ExitCode))
	}
	if c.took >= 100*time.Millisecond {
		parts = append(parts, seconds(c.took))
	}
	return strings.Join(parts, " · ")
}

// refusal says in a few words why a call was refused: the person's words, a hook's, otherwise that it was not
// allowed.
func refusal(s string) string {
	first, rest, _ := strings.Cut(s, "\n")
	if word, ok := strings.CutPrefix(rest, "The user says: "); ok {
		return "no: " + oneLine(text.Clean(word))
	}
	if by, why, ok := strings.Cut(strings.TrimPrefix(first, "refused by "), ": "); ok && by != first && strings.Contains(by, "hook") {
		return "hook: " + oneLine(text.Clean(why))
	}
	if strings.HasPrefix(first, "denied by user") {
		return "no"
	}
	return "not allowed"
}

// body returns what is below the head.
func (c *callItem) body(l *look) []string {
	switch {
	case c.running():
		return c.runningTail(l)
	case c.result.Display.Diff != "":
		limit := diffLines
		if c.open {
			limit = fullLines
		}
		lines := indent(drawDiff(c.result.Display.Diff, l, l.width-2, limit), "  ")
		return append(lines, c.block(l, c.result.Display.Found, foundLines, false, l.theme.Warn)...)
	case c.open:
		return c.block(l, c.result.Text, fullLines, false, l.theme.Faint)
	case c.status == "denied" || c.status == "interrupted":
		return nil
	case c.failed():
		// The reason why a command failed is at the end of its output.
		return c.block(l, c.said(), failedLines, c.name == "exec", l.theme.Bad)
	case c.name == "exec":
		return c.block(l, c.result.Text, tailLines, true, l.theme.Faint)
	}
	return c.block(l, c.result.Display.Found, foundLines, false, l.theme.Warn)
}

// said returns what a failed call says, for a person: without the exit code at its end, which its row shows,
// and without the words of the Lua interface.
func (c *callItem) said() string {
	s := strings.TrimRight(c.result.Text, "\n")
	if name, ok := strings.CutPrefix(s, "unknown intent: "); ok {
		s = "there is no tool " + name
	}
	code := "exit code " + itoa(c.exit())
	return strings.TrimSuffix(strings.TrimSuffix(s, code), "["+code+"]")
}

func (c *callItem) runningTail(l *look) []string {
	limit := tailLines
	if c.open {
		limit = fullLines
	}
	return c.block(l, c.tail, limit, true, l.theme.Faint)
}

// block shows at most limit lines of a text: the first ones, or with tail the last ones.
func (c *callItem) block(l *look, s string, limit int, tail bool, style cells.Style) []string {
	s = strings.TrimRight(text.Clean(s), "\n \t")
	if s == "" {
		return nil
	}
	all := strings.Count(s, "\n") + 1
	var rows []string
	if tail {
		rows = lastLines(s, limit)
	} else {
		rows = strings.SplitN(s, "\n", limit+1)
		rows = rows[:min(len(rows), limit)]
	}
	bar := cells.Paint(l.theme.Border, "  │ ")
	var out []string
	hidden := all - len(rows)
	more := cells.Paint(l.theme.Faint, cells.Fit("  … "+count(hidden, "more line")+l.unfolds(), l.width))
	if hidden > 0 && tail {
		out = append(out, more)
	}
	fold := cells.Fold
	if c.result.Failed && c.name != "exec" { // prose, not columns
		fold = cells.Wrap
	}
	for _, row := range rows {
		folded := fold([]cells.Span{{Text: cells.ExpandTabs(row, 4), Style: style}}, max(l.width-4, 1))
		if !c.open && len(folded) > 2 {
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

func lastLines(s string, n int) []string {
	at := len(s)
	for range n {
		i := strings.LastIndexByte(s[:at], '\n')
		if i < 0 {
			return strings.Split(s, "\n")
		}
		at = i
	}
	return strings.Split(s[at+1:], "\n")
}

func indent(lines []string, by string) []string {
	for i := range lines {
		lines[i] = by + lines[i]
	}
	return lines
}

// arguments shows all arguments of an unfolded call.
func (c *callItem) arguments(l *look) []string {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(c.args, &m); err != nil {
		return c.block(l, string(c.args), fullLines, false, l.theme.Faint)
	}
	if _, brief, _ := c.parts(l); len(m) == 1 && brief == c.brief {
		return nil // the head already shows it
	}
	var out []string
	for _, k := range sortedKeys(m) {
		out = append(out, c.block(l, k+": "+scalar(m[k]), 40, false, l.theme.Info)...)
	}
	return out
}
