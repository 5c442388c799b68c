package dialog

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// page shows what a command answered, until the person goes on: nothing of it stays in the transcript.
type page struct {
	Title string
	Bad   bool // it says why something failed
	// Lines draws it for a width.
	Lines  func(l *look.Look, width int) []string
	scroll int
	last   int // the furthest scroll position of the last drawing
	height int // rows of the last drawing
}

// NewPage returns a page of text, in which diffs are drawn as such.
func NewPage(title, s string) *page {
	return &page{Title: title, Lines: func(l *look.Look, width int) []string { return mixedLines(l, s, width) }}
}

// TablePage returns a page whose text is laid out for a width.
func TablePage(title string, wide func(width int) string) *page {
	return &page{Title: title, Lines: func(l *look.Look, width int) []string {
		var out []string
		for line := range strings.SplitSeq(strings.TrimRight(text.Clean(wide(width-2)), "\n"), "\n") {
			out = append(out, " "+calmBars(l, cells.Fit(line, width-1)))
		}
		return out
	}}
}

// blocks are what bars are made of, dots how far they could reach.
const (
	blocks = "█▉▊▋▌▍▎▏"
	dots   = "·"
)

// calmBars paints the bars of a line: a full cell in the colour of text is louder than the figure beside it.
func calmBars(l *look.Look, line string) string {
	at := strings.IndexAny(line, blocks)
	if at < 0 {
		return line
	}
	bar := line[at:]
	bar = bar[:len(bar)-len(strings.TrimLeft(bar, blocks+dots))]
	return line[:at] + cells.Paint(l.Theme.Faint, bar) + calmBars(l, line[at+len(bar):])
}

func (v *page) Armed(time.Time) bool { return true }

func (v *page) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	step := max(v.height-1, 1)
	switch act {
	case look.Up, look.LineUp:
		v.scroll--
	case look.Down, look.LineDown:
		v.scroll++
	case look.PageUp:
		v.scroll -= step
	case look.PageDown:
		v.scroll += step
	case look.Top:
		v.scroll = 0
	case look.Bottom:
		v.scroll = v.last
	case look.Interrupt, look.Cancel, look.Submit:
		h.Close(v)
	default:
		if act == "" && k.Text != "" { // the person writes on
			h.Close(v)
			h.Insert(k.Text)
		}
	}
	v.scroll = min(max(v.scroll, 0), v.last)
	return nil
}

func (v *page) Wheel(_ host, n int) { v.scroll = min(max(v.scroll+n, 0), v.last) }

func (v *page) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	style := l.Theme.Info
	if v.Bad {
		style = l.Theme.Bad
	}
	if height > 3 {
		lines = append(lines, look.TitleRule(l, v.Title, width, style))
	}
	body := v.Lines(l, width)
	v.height = max(height-len(lines)-1, 1)
	v.last = max(len(body)-v.height, 0)
	v.scroll = min(v.scroll, v.last)
	lines = append(lines, body[v.scroll:min(v.scroll+v.height, len(body))]...)
	pairs := []string{"esc", "close"}
	if v.last > 0 {
		pairs = append(pairs, "↑↓ pgdown", text.Count(len(body)-v.scroll-min(v.height, len(body)-v.scroll), "more line"))
	}
	return append(lines, look.Hints(l, width, pairs...)), nil
}

// isDiff reports whether a file of a unified diff begins at a line.
func isDiff(lines []string, i int) bool {
	return i+1 < len(lines) && strings.HasPrefix(lines[i], "--- ") && strings.HasPrefix(lines[i+1], "+++ ")
}

// gitHead reports whether a line is one of those that git puts above the diff of a file, and returns the file's name if
// no diff names it.
func gitHead(lines []string, i int) (name string, ok bool) {
	if !strings.HasPrefix(lines[i], "diff --git a/") {
		for _, head := range []string{"index ", "new file mode ", "deleted file mode "} {
			ok = ok || strings.HasPrefix(lines[i], head)
		}
		return "", ok
	}
	for at := i + 1; at < len(lines) && !strings.HasPrefix(lines[at], "diff --git a/"); at++ {
		if isDiff(lines, at) {
			return "", true
		}
	}
	_, name, _ = strings.Cut(lines[i], " b/")
	return name, true
}

func HoldsDiff(s string) bool {
	lines := strings.Split(s, "\n")
	for i := range lines {
		if isDiff(lines, i) || strings.HasPrefix(lines[i], "diff --git a/") {
			return true
		}
	}
	return false
}

// mixedLines draws text in which unified diffs stand: these as diffs, under the names of their files.
func mixedLines(l *look.Look, s string, width int) []string {
	var out []string
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := 0; i < len(lines); {
		if name, ok := gitHead(lines, i); ok {
			if name != "" {
				out = append(out, " "+cells.Paint(l.Theme.Strong, cells.FitStart(look.OneLine(text.Visible(name)), max(width-1, 1))))
			}
			i++
			continue
		}
		if !isDiff(lines, i) {
			body := cells.Wrap([]cells.Span{{Text: cells.ExpandTabs(text.Clean(lines[i]), 4)}}, max(look.Prose(width)-2, 1))
			out = append(out, look.Prefixed(body, " ", " ")...)
			i++
			continue
		}
		end := i + 2
		for end < len(lines) && !isDiff(lines, end) && lines[end] != "" && strings.ContainsRune(" +-@\\", rune(lines[end][0])) && !strings.HasPrefix(lines[end], "--- ") {
			end++
		}
		file := strings.TrimPrefix(strings.TrimPrefix(lines[i+1], "+++ "), "b/")
		if file == "/dev/null" {
			file = strings.TrimPrefix(strings.TrimPrefix(lines[i], "--- "), "a/") + " (removed)"
		}
		out = append(out, " "+cells.Paint(l.Theme.Strong, cells.FitStart(look.OneLine(text.Visible(file)), max(width-1, 1))))
		out = append(out, look.Indent(transcript.DrawDiff(strings.Join(lines[i:end], "\n")+"\n", l, max(width-3, 1), unlimited), "  ")...)
		i = end
	}
	return out
}
