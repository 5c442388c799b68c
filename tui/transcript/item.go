package transcript

import (
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/look"
	"jcode/tui/markdown"
)

// Item is one thing in the transcript. Its methods cost as much as it shows, and nothing when it has not
// changed.
type Item interface {
	// Height returns the number of the item's lines.
	Height(l *look.Look) int
	// Line returns one line, at most look.width cells wide; height must have been called before.
	Line(l *look.Look, i int) string
	// Toggle unfolds or folds the item and reports whether there is anything to fold.
	Toggle() bool
	// Text returns the item for the clipboard.
	Text() string
	// Cached reports whether it is drawn; drop makes the next frame redraw it.
	Cached() bool
	Drop()
}

// kept caches lines until the look changes.
type kept struct {
	stamp int
	lines []string
}

// fill draws the lines unless they are there, and returns how many they are.
func (k *kept) fill(l *look.Look, draw func(l *look.Look) []string) int {
	if k.lines == nil || k.stamp != l.Stamp {
		k.stamp, k.lines = l.Stamp, draw(l)
	}
	return len(k.lines)
}

func (k *kept) Line(_ *look.Look, i int) string { return k.lines[i] }
func (k *kept) Drop()                           { k.lines = nil }
func (k *kept) Cached() bool                    { return k.lines != nil }

// foldable is an item that can be unfolded to show more.
type foldable struct {
	kept
	Open bool
}

func (f *foldable) Toggle() bool { f.fold(!f.Open); return true }

// fold unfolds the item, or folds it if open is false.
func (f *foldable) fold(open bool) {
	f.Open = open
	f.Drop()
}

// Fixed is fixed text: a prompt, a notice, the welcome.
type Fixed struct {
	kept
	Draw  func(l *look.Look) []string
	Plain string
}

func (t *Fixed) Height(l *look.Look) int { return t.fill(l, t.Draw) }
func (t *Fixed) Toggle() bool            { return false }
func (t *Fixed) Text() string            { return t.Plain }

// Prompt is what the person sent; a long one folds.
type Prompt struct {
	foldable
	Prompt   string
	At       time.Time
	Seq      int64
	pictures Chips
}

func NewPrompt(prompt string, at time.Time, seq int64, pictures Chips) *Prompt {
	return &Prompt{Prompt: text.Clean(prompt), At: at, Seq: seq, pictures: pictures}
}

func (p *Prompt) Height(l *look.Look) int { return p.fill(l, p.draw) }
func (p *Prompt) Text() string            { return p.Prompt }

func (p *Prompt) draw(l *look.Look) []string {
	style := l.Theme.Person
	body := cells.Wrap(p.pictures.spans(cells.ExpandTabs(p.Prompt, 4), style, l.Theme.Selected), look.Prose(l.Width)-2)
	hidden := 0
	if !p.Open && len(body) > look.PromptLines {
		hidden = len(body) - look.PromptLines
		body = body[:look.PromptLines]
	}
	lines := look.Prefixed(body, cells.Paint(l.Theme.Accent, "› "), "  ")
	if hidden > 0 {
		lines = append(lines, cells.Paint(l.Theme.Faint, cells.Fit("  … "+text.Count(hidden, "more line")+l.Unfolds(), l.Width)))
	}
	if l.Times && !p.At.IsZero() {
		lines = append(lines, cells.Paint(l.Theme.Faint, "  "+p.At.Local().Format("15:04:05")))
	}
	return lines
}

// Answer is an answer of the model, streaming or complete.
type Answer struct {
	Src    string // until it is first shown
	stream *markdown.Stream
	stamp  int
	Raw    int // bytes that were streamed
	Done   bool
}

func (a *Answer) ensure(l *look.Look) {
	switch {
	case a.stream == nil:
		a.stream, a.stamp = markdown.NewStream(l.Markdown()), l.Stamp
		a.stream.Append(a.Src)
		if a.Done {
			a.stream.Close()
		}
		a.Src = ""
	case a.stamp != l.Stamp:
		a.stream.Restyle(l.Markdown())
		a.stamp = l.Stamp
	}
}

func (a *Answer) Append(s string) {
	a.Raw += len(s)
	if a.stream == nil {
		a.Src += s
		return
	}
	a.stream.Append(s)
}

// Finish completes the answer. Deltas may have been lost on the way, so the committed text replaces them.
func (a *Answer) Finish(whole string) {
	if a.Raw != len(whole) {
		a.stream, a.Src, a.Raw = nil, whole, len(whole)
	}
	a.Done = true
	if a.stream != nil {
		a.stream.Close()
	}
}

func (a *Answer) Height(l *look.Look) int {
	a.ensure(l)
	finished, open := a.stream.Lines()
	return len(finished) + len(open)
}

func (a *Answer) Line(_ *look.Look, i int) string {
	finished, open := a.stream.Lines()
	if i < len(finished) {
		return finished[i]
	}
	return open[i-len(finished)]
}
func (a *Answer) Toggle() bool { return false }
func (a *Answer) Cached() bool { return a.stream != nil }

// Drop discards the drawing of a complete answer.
func (a *Answer) Drop() {
	if a.Done && a.stream != nil {
		a.Src, a.stream = a.stream.Source(), nil
	}
}

func (a *Answer) Text() string {
	if a.stream == nil {
		return a.Src
	}
	return a.stream.Source()
}

// Thought is the model's thinking: its last lines while it continues, one line afterwards.
type Thought struct {
	foldable
	b     strings.Builder
	Start time.Time
	took  time.Duration
	Done  bool
}

func (t *Thought) Append(s string) {
	t.b.WriteString(s)
	t.Drop()
}

func (t *Thought) Finish(now time.Time) {
	if !t.Done {
		t.Done = true
		if !t.Start.IsZero() {
			t.took = now.Sub(t.Start)
		}
		t.Drop()
	}
}

func (t *Thought) Height(l *look.Look) int { return t.fill(l, t.draw) }
func (t *Thought) Text() string            { return t.b.String() }

func (t *Thought) draw(l *look.Look) []string {
	faint := l.Theme.Faint
	if t.Done && !t.Open {
		head := "✻ Thought"
		if t.took >= time.Second {
			head += " for " + look.Seconds(t.took)
		}
		head += l.Unfolds()
		return []string{cells.Paint(faint, cells.Fit(head, l.Width))}
	}
	src := t.b.String()
	if !t.Open {
		src = text.CutTail(src, 4000) // the last lines are enough
	}
	body := cells.Wrap([]cells.Span{{Text: strings.TrimSpace(cells.ExpandTabs(text.Clean(src), 4)), Style: faint.With("3")}}, look.Prose(l.Width)-2)
	if !t.Open && len(body) > look.ThoughtLines {
		body = body[len(body)-look.ThoughtLines:]
	}
	return append([]string{cells.Paint(faint, "✻ Thinking")}, look.Prefixed(body, "  ", "  ")...)
}

// Notice returns an item for a message to the person.
func Notice(level event.Level, msg string) *Fixed {
	msg = strings.TrimRight(text.Clean(msg), "\n")
	return &Fixed{Plain: msg, Draw: func(l *look.Look) []string {
		mark, style := "· ", l.Theme.Faint
		switch level {
		case event.LevelWarn:
			mark, style = "! ", l.Theme.Warn
		case event.LevelError:
			mark, style = "✗ ", l.Theme.Bad
		case event.LevelInfo:
		}
		body := cells.Wrap([]cells.Span{{Text: cells.ExpandTabs(l.Tilde(msg), 4), Style: style}}, look.Prose(l.Width)-2)
		return look.Prefixed(body, cells.Paint(style, mark), "  ")
	}}
}
