package tui

import (
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/markdown"
)

// look is what items need to draw themselves.
type look struct {
	theme *Theme
	width int // cells of a transcript line
	// stamp changes whenever width, theme or the like do: lines cached under another stamp are stale.
	stamp int
	// now and spin move while something runs.
	now  time.Time
	spin int
	// times shows when things happened; links makes links clickable.
	times, links bool
	diffs        layout
	asks         int    // questions that wait for the person
	beside       bool   // the input holds text and has the keys, not the question
	unfold       string // the key that unfolds, "" = none
}

// item is one thing in the transcript. Its methods cost as much as it shows, and nothing when it has not
// changed.
type item interface {
	// height returns the number of the item's lines.
	height(l *look) int
	// line returns one line, at most look.width cells wide; height must have been called before.
	line(l *look, i int) string
	// toggle unfolds or folds the item and reports whether there is anything to fold.
	toggle() bool
	// text returns the item for the clipboard.
	text() string
	// cached reports whether it is drawn; drop makes the next frame redraw it.
	cached() bool
	drop()
}

// kept caches lines until the look changes.
type kept struct {
	stamp int
	lines []string
}

// fill draws the lines unless they are there, and returns how many they are.
func (k *kept) fill(l *look, draw func(l *look) []string) int {
	if k.lines == nil || k.stamp != l.stamp {
		k.stamp, k.lines = l.stamp, draw(l)
	}
	return len(k.lines)
}

func (k *kept) line(_ *look, i int) string { return k.lines[i] }
func (k *kept) drop()                      { k.lines = nil }
func (k *kept) cached() bool               { return k.lines != nil }

// foldable is an item that can be unfolded to show more.
type foldable struct {
	kept
	open bool
}

func (f *foldable) toggle() bool { f.fold(!f.open); return true }

// fold unfolds the item, or folds it if open is false.
func (f *foldable) fold(open bool) {
	f.open = open
	f.drop()
}

// textItem is fixed text: a prompt, a notice, the welcome.
type textItem struct {
	kept
	draw  func(l *look) []string
	plain string
}

func (t *textItem) height(l *look) int { return t.fill(l, t.draw) }
func (t *textItem) toggle() bool       { return false }
func (t *textItem) text() string       { return t.plain }

// promptItem is what the person sent; a long one folds.
type promptItem struct {
	foldable
	prompt   string
	at       time.Time
	seq      int64
	pictures chips
}

func newPrompt(prompt string, at time.Time, seq int64, pictures chips) *promptItem {
	return &promptItem{prompt: text.Clean(prompt), at: at, seq: seq, pictures: pictures}
}

func (p *promptItem) height(l *look) int { return p.fill(l, p.draw) }
func (p *promptItem) text() string       { return p.prompt }

func (p *promptItem) draw(l *look) []string {
	style := l.theme.Person
	body := cells.Wrap(p.pictures.spans(cells.ExpandTabs(p.prompt, 4), style, l.theme.Selected), prose(l.width)-2)
	hidden := 0
	if !p.open && len(body) > promptLines {
		hidden = len(body) - promptLines
		body = body[:promptLines]
	}
	lines := prefixed(body, cells.Paint(l.theme.Accent, "› "), "  ")
	if hidden > 0 {
		lines = append(lines, cells.Paint(l.theme.Faint, cells.Fit("  … "+count(hidden, "more line")+l.unfolds(), l.width)))
	}
	if l.times && !p.at.IsZero() {
		lines = append(lines, cells.Paint(l.theme.Faint, "  "+p.at.Local().Format("15:04:05")))
	}
	return lines
}

// prose returns the width of text that is read line by line, out of the width that there is.
func prose(width int) int { return min(width, proseCells) }

// unfolds names the key that shows what is folded.
func (l *look) unfolds() string {
	if l.unfold == "" {
		return ""
	}
	return " (" + l.unfold + ")"
}

// prefixed renders wrapped spans after a mark.
func prefixed(body [][]cells.Span, first, rest string) []string {
	lines := make([]string, len(body))
	for i, spans := range body {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		lines[i] = prefix + cells.Render(spans)
	}
	return lines
}

// answerItem is an answer of the model, streaming or complete.
type answerItem struct {
	src    string // until it is first shown
	stream *markdown.Stream
	stamp  int
	raw    int // bytes that were streamed
	done   bool
}

func (a *answerItem) ensure(l *look) {
	switch {
	case a.stream == nil:
		a.stream, a.stamp = markdown.NewStream(l.markdown()), l.stamp
		a.stream.Append(a.src)
		if a.done {
			a.stream.Close()
		}
		a.src = ""
	case a.stamp != l.stamp:
		a.stream.Restyle(l.markdown())
		a.stamp = l.stamp
	}
}

func (l *look) markdown() markdown.Options {
	return markdown.Options{Width: l.width, Prose: proseCells, Styles: l.theme.Markdown, Hyperlinks: l.links}
}

func (a *answerItem) append(s string) {
	a.raw += len(s)
	if a.stream == nil {
		a.src += s
		return
	}
	a.stream.Append(s)
}

// finish completes the answer. Deltas may have been lost on the way, so the committed text replaces them.
func (a *answerItem) finish(whole string) {
	if a.raw != len(whole) {
		a.stream, a.src, a.raw = nil, whole, len(whole)
	}
	a.done = true
	if a.stream != nil {
		a.stream.Close()
	}
}

func (a *answerItem) height(l *look) int {
	a.ensure(l)
	finished, open := a.stream.Lines()
	return len(finished) + len(open)
}

func (a *answerItem) line(_ *look, i int) string {
	finished, open := a.stream.Lines()
	if i < len(finished) {
		return finished[i]
	}
	return open[i-len(finished)]
}
func (a *answerItem) toggle() bool { return false }
func (a *answerItem) cached() bool { return a.stream != nil }

// drop discards the drawing of a complete answer.
func (a *answerItem) drop() {
	if a.done && a.stream != nil {
		a.src, a.stream = a.stream.Source(), nil
	}
}

func (a *answerItem) text() string {
	if a.stream == nil {
		return a.src
	}
	return a.stream.Source()
}

// thoughtItem is the model's thinking: its last lines while it continues, one line afterwards.
type thoughtItem struct {
	foldable
	b     strings.Builder
	start time.Time
	took  time.Duration
	done  bool
}

func (t *thoughtItem) append(s string) {
	t.b.WriteString(s)
	t.drop()
}

func (t *thoughtItem) finish(now time.Time) {
	if !t.done {
		t.done = true
		if !t.start.IsZero() {
			t.took = now.Sub(t.start)
		}
		t.drop()
	}
}

func (t *thoughtItem) height(l *look) int { return t.fill(l, t.draw) }
func (t *thoughtItem) text() string       { return t.b.String() }

func (t *thoughtItem) draw(l *look) []string {
	faint := l.theme.Faint
	if t.done && !t.open {
		head := "✻ Thought"
		if t.took >= time.Second {
			head += " for " + seconds(t.took)
		}
		head += l.unfolds()
		return []string{cells.Paint(faint, cells.Fit(head, l.width))}
	}
	src := t.b.String()
	if !t.open {
		src = text.CutTail(src, 4000) // the last lines are enough
	}
	body := cells.Wrap([]cells.Span{{Text: strings.TrimSpace(cells.ExpandTabs(text.Clean(src), 4)), Style: faint.With("3")}}, prose(l.width)-2)
	if !t.open && len(body) > thoughtLines {
		body = body[len(body)-thoughtLines:]
	}
	return append([]string{cells.Paint(faint, "✻ Thinking")}, prefixed(body, "  ", "  ")...)
}

// notice returns an item for a message to the person.
func notice(level event.Level, msg string) *textItem {
	msg = strings.TrimRight(text.Clean(msg), "\n")
	return &textItem{plain: msg, draw: func(l *look) []string {
		mark, style := "· ", l.theme.Faint
		switch level {
		case event.LevelWarn:
			mark, style = "! ", l.theme.Warn
		case event.LevelError:
			mark, style = "✗ ", l.theme.Bad
		case event.LevelInfo:
		}
		body := cells.Wrap([]cells.Span{{Text: cells.ExpandTabs(msg, 4), Style: style}}, prose(l.width)-2)
		return prefixed(body, cells.Paint(style, mark), "  ")
	}}
}

func count(n int, thing string) string { return text.Count(n, thing) }
