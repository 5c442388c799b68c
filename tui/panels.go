package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/internal/cells"
	"jcode/session"
	"jcode/tools/command"
)

// pick opens a picker whose rows are read outside the loop.
func (p *program) pick(title, empty string, rows func(ctx context.Context) ([]Row, error), choose func(p *program, r Row) tea.Cmd) tea.Cmd {
	if rows == nil {
		p.flash(empty)
		return nil
	}
	pk := newPicker(title, nil, nil)
	pk.empty = empty
	pk.choose = func(p *program, r Row) tea.Cmd {
		p.close(pk)
		return choose(p, r)
	}
	p.open(pk)
	return p.fill(pk, rows)
}

// fill reads a picker's rows.
func (p *program) fill(pk *picker, rows func(ctx context.Context) ([]Row, error)) tea.Cmd {
	return p.refill(pk, rows, func() {})
}

// refill reads a picker's rows and does what belongs to them in the same moment.
func (p *program) refill(pk *picker, rows func(ctx context.Context) ([]Row, error), then func()) tea.Cmd {
	pk.loading = len(pk.rows) == 0
	return p.background(func(ctx context.Context) do {
		got, err := rows(ctx)
		return func(p *program) tea.Cmd {
			pk.set(got)
			then()
			if err != nil {
				pk.failed = err.Error()
			}
			return pk.searched(p) // new rows know nothing of the search
		}
	})
}

// changedMsg says that what the status line or a live panel shows has changed.
type changedMsg struct{}

// liveEvery bounds how often changes are shown. What nobody tells of (the output of a server,
// a time that passes) is read again after liveAnyway.
const (
	liveEvery  = 100 * time.Millisecond
	liveAnyway = time.Second
)

// keepLive reads the rows of a live panel again and again while it is open.
func (p *program) keepLive(pk *picker) tea.Cmd {
	return p.background(func(ctx context.Context) do {
		select {
		case <-time.After(liveAnyway):
		case <-ctx.Done():
			return nil
		}
		return func(p *program) tea.Cmd {
			switch {
			case !slices.Contains(p.dialogs, dialog(pk)):
				return nil
			case pk.loading:
				return p.keepLive(pk)
			}
			return tea.Batch(pk.reload(func() {}), p.keepLive(pk))
		}
	})
}

// follow brings changes into the loop until ctx ends; those that come in bursts go together.
func follow(ctx context.Context, changed func(context.Context) bool, send func(tea.Msg)) {
	for changed(ctx) {
		send(changedMsg{})
		select {
		case <-time.After(liveEvery):
		case <-ctx.Done():
			return
		}
	}
}

// refreshLive reads the rows of live panels anew.
func (p *program) refreshLive() tea.Cmd {
	var all []tea.Cmd
	for _, d := range p.dialogs {
		if pk, ok := d.(*picker); ok && pk.live && !pk.loading {
			all = append(all, pk.reload(func() {}))
		}
	}
	return tea.Batch(all...)
}

// openPanel shows a panel of another room.
func (p *program) openPanel(pl *Panel, query string) tea.Cmd {
	if query == "" || pl.Args == nil {
		return p.showPanel(pl, query)
	}
	return p.background(func(ctx context.Context) do {
		notice, handled, err := pl.Args(ctx, query)
		return func(p *program) tea.Cmd {
			switch {
			case !handled:
				return p.showPanel(pl, query)
			case err != nil:
				p.say(agent.LevelError, err.Error())
			default:
				p.say(agent.LevelInfo, notice)
			}
			return nil
		}
	})
}

func (p *program) showPanel(pl *Panel, query string) tea.Cmd {
	if query != "" && pl.Words != nil {
		return p.background(func(ctx context.Context) do {
			notice, err := pl.Words(ctx, query)
			return func(p *program) tea.Cmd {
				return p.outcome("/"+pl.Name+" "+query, command.Outcome{Notice: notice}, err)
			}
		})
	}
	pk := newPicker(orElse(pl.Title, pl.Name), nil, nil)
	pk.empty, pk.live = pl.Empty, pl.Live
	if len(pl.Actions) > 0 {
		first := pl.Actions[0]
		first.Key, pk.enter = "enter", first.Label
		pk.choose = func(p *program, _ Row) tea.Cmd { return pk.run(p, &first) }
		pk.actions = pl.Actions[1:]
	}
	pk.reload = func(then func()) tea.Cmd { return p.refill(pk, pl.Rows, then) }
	if query != "" {
		pk.search.ed.Insert(query)
	}
	p.open(pk)
	if pl.Live {
		return tea.Batch(p.fill(pk, pl.Rows), p.keepLive(pk))
	}
	return p.fill(pk, pl.Rows)
}

// newSession begins anew. Where the last exchange is complete it offers to carry that over.
func (p *program) newSession() tea.Cmd {
	if p.opt.Sessions == nil {
		p.flash("sessions are not available here")
		return nil
	}
	fresh := func(carry bool) tea.Cmd {
		p.interruptFor()
		return p.switchTo(func(ctx context.Context) (Session, error) { return p.opt.Sessions.New(ctx, carry) })
	}
	if _, answered := p.tr.last().(*answerItem); !answered || p.turn.busy || p.answeredIn != p.state.Role {
		return fresh(false)
	}
	pk := newPicker("Carry the last exchange over into the new session?", []Row{
		{ID: "no", Name: "no", Info: "begin with nothing"}, {ID: "yes", Name: "yes", Info: "the last prompt and its answer go along"},
	}, nil)
	pk.noSearch = true
	pk.choose = func(p *program, r Row) tea.Cmd {
		p.close(pk)
		return fresh(r.ID == "yes")
	}
	p.open(pk)
	return nil
}

// rewind chooses an earlier prompt and what is taken back to before it; the command that
// does it comes from outside.
func (p *program) rewind(args string) tea.Cmd {
	c, ok := p.opt.Commands.Find("rewind")
	prompts := p.tr.prompts()
	switch {
	case !ok:
		p.flash("rewinding is not available here")
		return nil
	case args != "":
		return foreign(c).run(p, args)
	case len(prompts) == 0:
		p.flash("there is no earlier prompt")
		return nil
	}
	var rows []Row
	for i := len(prompts) - 1; i >= 0; i-- {
		rows = append(rows, Row{ID: itoa(i + 1), Name: oneLine(prompts[i].prompt), State: prompts[i].at.Local().Format("15:04"), Detail: prompts[i].prompt})
	}
	pk := newPicker("Go back to before which prompt?", rows, nil)
	pk.choose = func(p *program, r Row) tea.Cmd {
		p.close(pk)
		what := newPicker("What goes back?", []Row{
			{ID: "", Name: "the conversation", Info: "files stay as they are"},
			{ID: " files", Name: "the files", Info: "what the agent's tools changed since"},
			{ID: " both", Name: "both"},
		}, nil)
		what.noSearch = true
		what.choose = func(p *program, w Row) tea.Cmd {
			p.close(what)
			return foreign(c).run(p, r.ID+w.ID)
		}
		p.open(what)
		return nil
	}
	p.open(pk)
	return nil
}

// interruptFor stops a running turn before the session is left.
func (p *program) interruptFor() {
	if p.turn.busy {
		p.interrupt()
	}
}

// switchTo leaves this session for another.
func (p *program) switchTo(open func(ctx context.Context) (Session, error)) tea.Cmd {
	p.status = "opening the session"
	p.moving++
	return p.background(func(ctx context.Context) do {
		s, err := open(ctx)
		return func(p *program) tea.Cmd {
			p.status = ""
			p.moving--
			if err != nil {
				p.say(agent.LevelError, err.Error())
				p.giveBack(p.waiting) // they were meant for another session than this one
				p.waiting = nil
				return nil
			}
			p.tr = newTranscript()
			p.tr.add(p.welcome())
			p.hint.text = ""
			return p.enter(s)
		}
	})
}

// session goes on with the session of a name, which begins here where there is none.
func (p *program) session(name string) tea.Cmd {
	if name == "" || p.opt.Sessions == nil {
		return p.resume("")
	}
	p.interruptFor()
	return p.switchTo(func(ctx context.Context) (Session, error) {
		s, err := p.opt.Sessions.Open(ctx, name)
		if !errors.Is(err, session.ErrNotFound) {
			return s, err
		}
		if s, err = p.opt.Sessions.New(ctx, false); err != nil {
			return s, err
		}
		return s, s.Conversation.Rename(name)
	})
}

// resume chooses an earlier session, of this folder or with Tab of all.
func (p *program) resume(query string) tea.Cmd {
	if p.opt.Sessions == nil {
		p.flash("sessions are not available here")
		return nil
	}
	all := false
	pk := newPicker("Sessions of this folder", nil, nil)
	pk.empty = "no session yet: it is kept from its first message on"
	pk.choose = func(p *program, r Row) tea.Cmd {
		p.close(pk)
		p.interruptFor()
		return p.switchTo(func(ctx context.Context) (Session, error) { return p.opt.Sessions.Open(ctx, r.ID) })
	}
	reload := func(then func()) tea.Cmd {
		everywhere, current := all, p.state.Session
		return p.refill(pk, func(ctx context.Context) ([]Row, error) {
			found, err := p.opt.Sessions.List(ctx, "", everywhere)
			return sessionRows(found, time.Now(), current), err
		}, then)
	}
	pk.tabHint = "all folders"
	pk.toggle = func(p *program, pk *picker) tea.Cmd {
		all = !all
		pk.title, pk.tabHint = "Sessions of this folder", "all folders"
		if all {
			pk.title, pk.tabHint = "All sessions", "this folder"
		}
		return reload(func() {})
	}
	pk.typed = func(p *program, query string) tea.Cmd { return p.searchSessions(pk, query, all) }
	pk.actions = []Action{{Key: "ctrl+x", Label: "delete", Confirm: true, Run: func(ctx context.Context, r Row) (string, error) {
		return "deleted " + r.Name, p.opt.Sessions.Delete(ctx, r.ID)
	}}}
	pk.reload = reload
	pk.search.ed.Insert(query)
	p.open(pk)
	return reload(func() {})
}

// searchSessions adds sessions whose text holds the query.
func (p *program) searchSessions(pk *picker, query string, all bool) tea.Cmd {
	if len(strings.TrimSpace(query)) < 3 {
		return nil
	}
	return p.background(func(ctx context.Context) do {
		found, err := p.opt.Sessions.List(ctx, query, all)
		return func(p *program) tea.Cmd {
			if err != nil || pk.search.ed.Text() != query {
				return nil // the list is still there; a newer search is on its way
			}
			known := map[string]int{}
			for i, r := range pk.rows {
				known[r.ID] = i
			}
			for _, r := range sessionRows(found, time.Now(), p.state.Session) {
				r.Search = query
				if i, ok := known[r.ID]; ok {
					pk.rows[i].Search = query
				} else {
					pk.rows = append(pk.rows, r)
				}
			}
			pk.filter()
			return nil
		}
	})
}

func sessionRows(found []session.Session, now time.Time, current string) []Row {
	rows := make([]Row, 0, len(found))
	for _, s := range found {
		r := Row{ID: s.ID, Name: orElse(s.Title, orElse(session.ShortTitle(s.FirstPrompt), "untitled")), Current: s.ID == current}
		r.State = age(now.Sub(s.Updated))
		info := []string{count(s.Messages, "message")}
		if s.ParentID != "" {
			info[0] = "fork, " + info[0]
		}
		if s.Model != "" {
			info = append(info, s.Model)
		}
		if s.Cost > 0 {
			info = append(info, fmt.Sprintf("$%.2f", s.Cost))
		}
		r.Info = strings.Join(info, " · ")
		r.Detail = strings.TrimSpace(s.FirstPrompt + "\n" + s.Cwd)
		rows = append(rows, r)
	}
	return rows
}

// age says how long ago something was.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return itoa(int(d.Minutes())) + " min ago"
	case d < 24*time.Hour:
		return itoa(int(d.Hours())) + " h ago"
	}
	return itoa(int(d.Hours()/24)) + " d ago"
}

// fork goes on in a copy, with the history up to a message where one is named.
func (p *program) fork(args string) tea.Cmd {
	if p.opt.Sessions == nil || p.state.Session == "" {
		p.flash("there is no stored session to fork yet")
		return nil
	}
	upTo := int64(0)
	if args != "" {
		n, err := strconv.ParseInt(args, 10, 64)
		if err != nil || n < 1 {
			p.flash("usage: /fork [number of the last message]")
			return nil
		}
		upTo = n
	}
	id := p.state.Session
	return p.switchTo(func(ctx context.Context) (Session, error) { return p.opt.Sessions.Fork(ctx, id, upTo) })
}

// changes lists the files that the session changed, with their diffs.
func (p *program) changes() tea.Cmd {
	if p.opt.Changes == nil {
		p.flash("changes are not tracked here")
		return nil
	}
	return p.background(func(ctx context.Context) do {
		files, err := p.opt.Changes(ctx)
		return func(p *program) tea.Cmd {
			if err != nil {
				p.say(agent.LevelError, "diff: "+err.Error())
				return nil
			}
			p.open(newDiffView(files))
			return nil
		}
	})
}

func (p *program) showTodo() tea.Cmd {
	if len(p.todo) == 0 {
		p.flash("there is no plan")
		return nil
	}
	var b strings.Builder
	b.WriteString("The plan:")
	for _, it := range p.todo {
		mark := "☐"
		switch it.Status {
		case "done":
			mark = "☑"
		case "in_progress":
			mark = "▸"
		}
		b.WriteString("\n" + mark + " " + it.Text)
	}
	p.say(agent.LevelInfo, b.String())
	return nil
}

// showCost says what the session has used.
func (p *program) showCost() tea.Cmd {
	u := p.usage
	mark := ""
	if u.Total.Estimated {
		mark = " (estimated)"
	}
	text := fmt.Sprintf("Used so far: %s tokens in, of them %s cached, %s out%s.", thousands(u.Total.Input), thousands(u.Total.Cached), thousands(u.Total.Output), mark)
	if u.Priced {
		text += fmt.Sprintf("\nCost: $%.4f.", u.Cost)
	} else {
		text += "\nThe price of this model is not known."
	}
	p.say(agent.LevelInfo, text)
	return nil
}

// showContext says what fills the model's window.
func (p *program) showContext() tea.Cmd {
	if p.opt.Context == nil {
		return p.showCost()
	}
	if p.state.Busy {
		p.flash("after this turn: the context is measured between turns")
		return nil
	}
	return p.background(func(ctx context.Context) do {
		use, err := p.opt.Context(ctx)
		return func(p *program) tea.Cmd {
			if err != nil {
				p.say(agent.LevelError, "/context: "+err.Error())
				return nil
			}
			p.say(agent.LevelInfo, contextText(use))
			return nil
		}
	})
}

// contextText lists the parts of a request, the largest bar being the whole.
func contextText(use agent.ContextUse) string {
	const bar = 20
	mark := " (estimated)"
	if use.Known {
		mark = ""
	}
	var b strings.Builder
	if use.Window > 0 {
		fmt.Fprintf(&b, "The next request needs %s of %s tokens (%d%%)%s.", thousands(use.Total), thousands(use.Window), use.Total*100/use.Window, mark)
	} else {
		fmt.Fprintf(&b, "The next request needs %s tokens%s; the model's window is not known.", thousands(use.Total), mark)
	}
	sum := 1
	for _, part := range use.Parts {
		sum += part.Tokens
	}
	for _, part := range use.Parts {
		filled := (part.Tokens*bar + sum - 1) / sum
		fmt.Fprintf(&b, "\n%s%s %8s  %s", strings.Repeat("█", filled), strings.Repeat("·", bar-filled), thousands(part.Tokens), part.Name)
	}
	b.WriteString("\nThe parts are estimates.")
	return b.String()
}

// diffView shows changed files one at a time.
type diffView struct {
	picker *picker
	files  []FileChange
	scroll int
}

func newDiffView(files []FileChange) *diffView {
	d := &diffView{files: files}
	var rows []Row
	for i, f := range files {
		rows = append(rows, Row{ID: itoa(i), Name: f.Path, State: "+" + itoa(f.Added) + " -" + itoa(f.Removed)})
	}
	d.picker = newPicker("Changed files", rows, nil)
	d.picker.empty = "this session has changed nothing"
	d.picker.move = func(*program, Row) { d.scroll = 0 }
	return d
}

func (d *diffView) armed(time.Time) bool { return true }
func (d *diffView) paste(s string)       { d.picker.paste(s) }

func (d *diffView) key(p *program, k tea.KeyPressMsg, act action) tea.Cmd {
	switch act {
	case actPageDown:
		d.scroll += 10
	case actPageUp:
		d.scroll = max(d.scroll-10, 0)
	case actLineDown:
		d.scroll++
	case actLineUp:
		d.scroll = max(d.scroll-1, 0)
	case actInterrupt, actCancel:
		p.close(d)
	default:
		return d.picker.key(p, k, act)
	}
	return nil
}

func (d *diffView) draw(l *look, width, height int) (lines []string, cursor *pos) {
	listHeight := min(len(d.files)+4, max(height/3, 5))
	lines, cursor = d.picker.draw(l, width, listHeight)
	r, ok := d.picker.current()
	if !ok {
		return lines, cursor
	}
	i, err := strconv.Atoi(r.ID)
	if err != nil {
		return lines, cursor
	}
	body := drawDiff(d.files[i].Diff, l, width-1, 1<<20)
	room := max(height-len(lines)-1, 0)
	d.scroll = min(d.scroll, max(len(body)-room, 0))
	foot := lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	lines = append(lines, cells.Paint(l.theme.Border, strings.Repeat("╌", width)))
	lines = append(lines, body[d.scroll:min(d.scroll+room, len(body))]...)
	return append(lines, foot), cursor
}
