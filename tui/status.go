package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/front"
	"jcode/tui/look"
)

// StatusParts lists the parts of the status line in their usual order, by weight: without room the last ones are
// dropped first.
func StatusParts() []string {
	return []string{"mode", "model", "role", "branch", "context", "cost", "health", "title", "cwd"}
}

// shownParts are the parts in their usual order without the title, which the terminal shows.
func shownParts() []string {
	return []string{"mode", "model", "role", "branch", "context", "cost", "health", "cwd"}
}

// statusLine shows the settings in force and what was used, or what the person's command wrote. The folder, or how to
// stop what runs and the sessions in the background, are on the right.
func (p *composer) statusLine() string {
	th := p.look.Theme
	if p.hint.text != "" {
		return cells.Paint(th.Warn, cells.Fit(" "+look.OneLine(p.hint.text), p.width))
	}
	right, width := p.liveParts(), p.width // width is what the parts may take
	if key := p.keys.First(look.Interrupt); p.turn.busy && key != "" && p.stack.Front() == nil {
		stops := cells.Span{Text: key + " stops", Style: th.Faint}
		if len(right) > 0 {
			right = append(right, cells.Span{Text: "  "})
		}
		right = append(right, stops)
	}
	if left := p.width - cells.SpansWidth(right) - 3; len(right) > 0 && left >= 20 {
		width = left
	}
	spans := []cells.Span{{Text: " "}}
	used := 1
	if p.state.Private { // whatever else is shown
		spans, used = append(spans, cells.Span{Text: "private", Style: th.ModePlan}), used+len("private")
	}
	if p.around.line != "" {
		if used > 1 {
			spans = append(spans, cells.Span{Text: "  "})
		}
		spans = append(spans, cells.Span{Text: p.around.line})
		return cells.Render(rightAligned(look.Clip(spans, width), right, p.width))
	}
	parts := p.opt.Status
	if len(parts) == 0 {
		parts = shownParts()
	}
	for i, name := range parts {
		part := p.statusPart(name)
		if name == "cwd" && i == len(parts)-1 && i > 0 {
			if room := min(p.width/3, p.width-used-3); len(right) == 0 && room >= min(cells.Width(part.Text), shortFolder) {
				part.Text = cells.FitMiddle(part.Text, room)
				right = []cells.Span{part}
			}
			continue
		}
		if part.Text == "" {
			continue
		}
		sep := ""
		if used > 1 {
			sep = "  "
		}
		w := cells.Width(sep) + cells.Width(part.Text)
		if used+w > width {
			if name != "model" && used > 1 {
				continue
			}
			part.Text = cells.Fit(part.Text, width-used-cells.Width(sep))
			w = cells.Width(sep) + cells.Width(part.Text)
		}
		spans = append(spans, cells.Span{Text: sep}, part)
		used += w
	}
	return cells.Render(rightAligned(look.Clip(spans, width), right, p.width))
}

// shortFolder is how much of a folder must be seen for it to say anything.
const shortFolder = 12

// rightAligned puts parts at the right edge, if there is room for them.
func rightAligned(row, parts []cells.Span, width int) []cells.Span {
	gap := width - 1 - cells.SpansWidth(row) - cells.SpansWidth(parts)
	if len(parts) == 0 || gap < 2 {
		return row
	}
	return append(append(row, cells.Span{Text: cells.Blank(gap)}), parts...)
}

func (p *composer) statusPart(name string) cells.Span {
	th := p.look.Theme
	faint := func(s string) cells.Span { return cells.Span{Text: s, Style: th.Faint} }
	switch name {
	case "model":
		if p.state.Model == "" {
			return cells.Span{Text: "no model", Style: th.Warn}
		}
		name := strings.TrimSuffix(look.OneLine(p.state.Model), "/") // a provider without a model: it is asked at the first prompt
		if p.state.Effort != "" {
			name += " " + look.OneLine(p.state.Effort)
		}
		return cells.Span{Text: name}
	case "role":
		return faint(look.OneLine(p.state.Role))
	case "mode":
		return p.modePart()
	case "branch":
		if p.around.branch != "" {
			return faint("(" + cells.FitMiddle(look.OneLine(p.around.branch), 30) + ")")
		}
	case "context":
		return p.contextPart()
	case "cost":
		if p.usage.Priced {
			return faint(text.Spent(p.usage.Cost, p.usage.Total.Estimated))
		}
	case "health":
		if p.opt.Health != nil {
			return faint(look.OneLine(p.opt.Health()))
		}
	case "title":
		return faint(cells.Fit(look.OneLine(p.state.Title), 30))
	case "cwd":
		return faint(look.OneLine(look.ShortPath(cmp.Or(p.state.Cwd, p.opt.Cwd), p.opt.Home)))
	}
	return cells.Span{}
}

func (p *composer) modePart() cells.Span {
	th := p.look.Theme
	switch p.state.Mode {
	case "":
		return cells.Span{}
	case tools.ModePlan:
		return cells.Span{Text: "plan", Style: th.ModePlan}
	case tools.ModeYolo:
		return cells.Span{Text: "yolo", Style: th.ModeYolo}
	case tools.ModeAsk, tools.ModeEdits, tools.ModeAuto:
	}
	return cells.Span{Text: string(p.state.Mode), Style: th.Faint}
}

func (p *composer) contextPart() cells.Span {
	th := p.look.Theme
	u := p.usage
	switch {
	case u.Context == 0:
		return cells.Span{}
	case u.Window == 0:
		return cells.Span{Text: look.Thousands(u.Context) + " tokens", Style: th.Faint}
	}
	pct := u.Context * 100 / u.Window
	style := th.Faint
	if pct >= 75 {
		style = th.Warn
	}
	return cells.Span{Text: strconv.Itoa(pct) + "%", Style: style}
}

// activity shows the running turn, the plan, and what is queued.
func (p *composer) activity() []string {
	th := p.look.Theme
	var out []string
	if p.turn.busy && len(p.todo) > 0 {
		out = append(out, p.todoLines(max(min(p.height/4, 7), 0))...)
	}
	out = append(out, p.agentLines(look.AgentsShown)...)
	if line := p.asideLine(); line != "" {
		out = append(out, line)
	}
	for _, m := range p.turn.prepared {
		out = append(out, cells.Paint(th.Faint, cells.Fit("  ⧗ "+look.OneLine(front.TypedAs(m)), p.width)))
	}
	for i, q := range p.queue {
		if i == look.QueueShown {
			out = append(out, cells.Paint(th.Faint, cells.Fit("  … "+text.Count(len(p.queue)-look.QueueShown, "more queued message"), p.width)))
			break
		}
		tail := ""
		if key := p.keys.First(look.Unqueue); i == 0 && key != "" {
			tail = "  (" + key + " takes back)"
		}
		shown := cells.Fit(look.OneLine(q.Text), max(p.width-4-cells.Width(tail), 1))
		out = append(out, cells.Paint(th.Faint, cells.Fit("  ⧗ "+shown+tail, p.width)))
	}
	if row := p.shellRow(); row != "" {
		out = append(out, row)
	}
	switch {
	case p.status != "":
		out = append(out, cells.Paint(th.Faint, cells.Fit(p.look.Spinner()+" "+look.OneLine(p.status), p.width)))
	case p.turn.busy:
		out = append(out, p.busyLine())
	}
	if len(out) > 0 && p.height >= look.AiryHeight {
		out = append([]string{""}, out...)
	}
	return out
}

func (p *composer) busyLine() string {
	th := p.look.Theme
	doing := look.OneLine(p.turn.doing)
	if wait := p.turn.retry.Sub(p.look.Now); !p.turn.retry.IsZero() && wait > 0 {
		doing = fmt.Sprintf("%s, in %d s", doing, int(wait/time.Second)+1)
	}
	took := p.look.Now.Sub(p.turn.started).Truncate(time.Second)
	tail := "  " + took.String()
	head := "  "
	if len(p.turn.calls) == 0 { // otherwise the call's row moves
		head = p.look.Spinner() + " "
	}
	room := p.width - cells.Width(head) - cells.Width(tail)
	if keys := p.jobsHint(); keys != "" && room-cells.Width(keys) >= cells.Width(doing) {
		tail += keys
		room -= cells.Width(keys)
	}
	if room < 12 {
		tail, room = "", p.width-cells.Width(head)
	}
	return cells.Render([]cells.Span{{Text: head, Style: th.Accent}, {Text: cells.Fit(doing, max(room, 0))}, {Text: tail, Style: th.Faint}})
}

// todoLines shows the plan: what is done, what is in progress, what is next.
func (p *composer) todoLines(height int) []string {
	items := p.todo
	if len(items) > height { // keep the first item that is not done visible
		open := slices.IndexFunc(items, func(it tools.TodoItem) bool { return it.Status != "done" })
		from := min(max(open-1, 0), max(len(items)-height, 0))
		items = items[from:min(from+height, len(items))]
	}
	var out []string
	for _, it := range items {
		style := p.look.Theme.Faint
		switch it.Status {
		case "done":
			style = style.With("9")
		case "in_progress":
			style = p.look.Theme.Strong
		}
		out = append(out, "  "+cells.Paint(style, cells.Fit(todoMark(it)+" "+look.OneLine(it.Text), max(p.width-2, 1))))
	}
	return out
}

// todoMark shows the state of an item of the plan.
func todoMark(it tools.TodoItem) string {
	switch it.Status {
	case "done":
		return "☑"
	case "in_progress":
		return "▸"
	}
	return "☐"
}
