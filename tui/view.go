package tui

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/dialog"
	"jcode/tui/look"
	"jcode/tui/screen"
	"jcode/tui/transcript"
)

// frameGap is the minimum time between two frames: keys and deltas that arrive faster share one.
const frameGap = time.Millisecond

// frames keeps the last frame.
type frames struct {
	view    tea.View
	built   time.Time
	stale   bool
	waiting bool // a refreshMsg is on its way
}

// changed says that the screen may be out of date; it returns a command if the next frame has to wait.
func (s *frames) changed(p *screen.Painter) tea.Cmd {
	s.stale = true
	if s.waiting {
		return nil
	}
	gap := frameGap - time.Since(s.built)
	if gap <= 0 || p != nil && !p.Ready() { // then the painter wakes the program
		return nil
	}
	s.waiting = true
	return tea.Tick(gap, func(time.Time) tea.Msg { return refreshMsg{} })
}

// View returns the frame. With a painter it draws the frame at once, and Bubble Tea gets an empty one.
func (p *program) View() tea.View {
	s := &p.frames
	now := time.Now()
	if !s.built.IsZero() && (!s.stale || now.Sub(s.built) < frameGap) {
		return s.view
	}
	if p.painter == nil {
		s.view, s.built, s.stale = p.compose.build(), now, false
		return s.view
	}
	if !p.painter.Ready() {
		if s.built.IsZero() {
			s.view = blank()
		}
		return s.view
	}
	v := p.compose.build()
	p.painter.Paint(v.Content, v.Cursor, p.tr.Height, screen.ReportOf(v))
	s.view, s.built, s.stale = blank(), now, false
	return s.view
}

// build composes a frame: the transcript, then the activity, a dialog or the input, and the status line.
func (p *composer) build() tea.View {
	if p.width == 0 { // the size is not known yet
		p.resize(80, 24)
	}
	bottom, cursor := p.bottom()
	if len(bottom) > p.height { // a tiny terminal: the end of the input matters most
		cut := len(bottom) - p.height
		bottom = bottom[cut:]
		if cursor != nil {
			cursor.Y -= cut
			if cursor.Y < 0 {
				cursor = nil
			}
		}
	}
	above := p.height - len(bottom)
	lines := p.tr.Draw(&p.look, above)[:above]
	lines = append(lines, bottom...)
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.ReportFocus = true
	v.MouseMode = tea.MouseModeCellMotion
	if cursor != nil {
		cursor.Y += above
		cursor.X = min(cursor.X, p.width-1)
		v.Cursor = cursor
	}
	p.report(&v)
	return v
}

// report tells the terminal the program's title, state and progress.
func (p *composer) report(v *tea.View) {
	v.WindowTitle = "jcode"
	if p.state.Title != "" {
		v.WindowTitle = "jcode: " + look.OneLine(p.state.Title)
	}
	status := tea.ProgramStatus{State: tea.ProgramStateIdle}
	switch {
	case len(p.stack.Asks)+len(p.stack.Later) > 0:
		status = tea.ProgramStatus{State: tea.ProgramStateBlocked, Kind: tea.ProgramStatusKindPermission}
	case p.turn.busy:
		status.State = tea.ProgramStateWorking
	}
	v.ProgramStatus = &status
	if p.turn.busy && len(p.stack.Asks)+len(p.stack.Later) == 0 {
		v.ProgressBar = tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
}

// bottom returns everything below the transcript, and the cursor relative to its first line.
func (p *composer) bottom() (lines []string, cursor *tea.Cursor) {
	room := p.height - 1 // the status line
	if p.height < look.MinHeight {
		room = p.height
	}
	input, cx, cy := p.inputLines(max(min(p.height/3, look.InputHeight), 1))
	if d := p.stack.Front(); d != nil {
		// A dialog leaves a few lines of the transcript, and the input if it is still being written to.
		keep, armed := 0, d.Armed(time.Now())
		p.look.Asks, p.look.Beside = len(p.stack.Asks), false
		if !armed || !p.in.Empty() && p.height >= look.RoomyHeight {
			keep = min(len(input), 2) + 1
		}
		if q, asks := d.(dialog.Guarded); asks {
			p.look.Beside = keep > 0 && armed && !q.Attended()
			lines = p.stripAbove(room - keep)
		}
		height := max(room-keep-len(lines)-min(3, p.height/6), 3)
		body, at := d.Draw(&p.look, p.width, height)
		if !armed && len(body) > 1 { // its keys are not accepted yet: so none are named
			body[len(body)-1] = cells.Paint(p.look.Theme.Faint, cells.Fit(" what you type goes to the input · pause to answer", p.width))
		}
		if at != nil {
			at.Row += len(lines)
		}
		lines = append(lines, body...)
		if at != nil {
			cursor = look.BarCursor(at.Col, at.Row)
		}
		if keep > 0 && len(lines)+keep <= room {
			lines = append(lines, p.rule())
			base := len(lines)
			from := max(0, cy-1)
			lines = append(lines, input[from:min(from+2, len(input))]...)
			if at == nil && !armed {
				cursor = look.BarCursor(cx, base+min(cy, 1))
			}
		}
		return p.withStatus(lines), cursor
	}
	head := p.activity()
	if over := len(head) + len(input) + 1 - room; over > 0 && over <= len(head) {
		head = head[over:]
	} else if over > 0 {
		head = nil
	}
	if menu := p.menu.draw(&p.look, p.width, max(min(room-len(input)-2, look.MenuHeight), 0)); len(menu) > 0 {
		head = menu
	}
	lines = append(lines, head...)
	if p.height >= look.MinHeight {
		lines = append(lines, p.rule())
	}
	cursor = look.BarCursor(cx, len(lines)+cy)
	if !p.vi.Writing() {
		cursor.Shape = tea.CursorBlock
	}
	lines = append(lines, input...)
	return p.withStatus(lines), cursor
}

func (p *composer) withStatus(lines []string) []string {
	if p.height < look.MinHeight {
		return lines
	}
	return append(lines, p.statusLine())
}

// promptMark precedes the input.
const promptMark = "› "

// inputLines draws the input in at most height rows; cx and cy are the position of the cursor.
func (p *composer) inputLines(height int) (lines []string, cx, cy int) {
	mark := promptMark
	if p.width < 8 {
		mark = ""
	}
	indent := cells.Width(mark)
	rows, y, x, above, below := p.in.Window(p.inputWidth(), height)
	style := p.look.Theme.Accent
	if p.state.Mode == "plan" {
		style = p.look.Theme.ModePlan
	}
	if p.in.Empty() {
		return []string{cells.Paint(style, mark) + cells.Paint(p.look.Theme.Faint, cells.Fit(p.placeholder(), p.inputWidth()))}, indent, 0
	}
	if p.opt.Shell != nil && p.in.Begins("!") { // it goes to the shell
		style = p.look.Theme.Warn
		mark = strings.Replace(mark, "›", "$", 1)
	}
	p.vi.Mark(p.in, rows)
	for i, r := range rows {
		spans := []cells.Span{{Text: cells.Blank(indent)}}
		if r.First() {
			spans[0] = cells.Span{Text: mark, Style: style}
		}
		if indent > 0 && (i == 0 && above || i == len(rows)-1 && below) {
			spans[0] = cells.Span{Text: "⋮ ", Style: p.look.Theme.Faint}
		}
		lines = append(lines, cells.Render(look.Clip(append(spans, look.PartSpans(p.look.Theme, r)...), p.width)))
	}
	return lines, indent + x, y
}

func (p *composer) placeholder() string {
	switch {
	case p.state.ReadOnly:
		return "read only: another jcode has this session open; /fork to go on here"
	case p.turn.busy:
		return "write on: it joins at the next step"
	}
	return "ask for something, / for commands, @ for files, ! for the shell"
}

// rule returns the line above the input; it shows what would otherwise not be visible.
func (p *composer) rule() string {
	label := ""
	switch {
	case p.tr.Find.Active():
		label = " /" + look.OneLine(p.tr.Find.Said) + ": " + hitCount(p.tr.Find) + " "
	case !p.tr.Follow && p.tr.Unseen > 0:
		label = " ↓ " + text.Count(p.tr.Unseen, "new item") + " below (" + p.keys.First(look.Bottom) + ") "
	case !p.tr.Follow:
		label = " ↓ more below (" + p.keys.First(look.Bottom) + ") "
	case !p.vi.Writing():
		label = " " + p.vi.Label() + " "
	}
	label = cells.Fit(label, max(p.width-4, 0))
	if label == "" {
		return cells.Paint(p.look.Theme.Border, strings.Repeat("─", p.width))
	}
	line := strings.Repeat("─", max(p.width-cells.Width(label)-2, 0))
	return cells.Render([]cells.Span{{Text: line, Style: p.look.Theme.Border}, {Text: label, Style: p.look.Theme.Info}, {Text: "──", Style: p.look.Theme.Border}})
}

func hitCount(f transcript.Finder) string {
	n := len(f.Hits)
	switch {
	case f.Left > 0 && n == 0:
		return "searching …"
	case f.Left > 0:
		return strconv.Itoa(n) + " so far …, n and N go on, esc ends"
	case n == 0:
		return "nothing found"
	}
	return strconv.Itoa(n-f.At) + " of " + strconv.Itoa(n) + ", n and N go on, esc ends"
}

// blank is what Bubble Tea gets when the painter draws: an empty screen, and no mode that the painter
// manages.
func blank() tea.View {
	v := tea.NewView(" ")
	v.AltScreen, v.DisableBracketedPasteMode = true, true
	return v
}
