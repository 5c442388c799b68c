package tui

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/look"
)

type (
	// liveMsg says which sessions run in the background now.
	liveMsg []front.LiveSession
	// saidMsg is what the person is to read.
	saidMsg string
)

// saidFor is how long a sentence is shown that the person did not ask for.
const saidFor = 8 * time.Second

// followLive brings the sessions in the background into the loop until ctx ends.
func followLive(ctx context.Context, live front.Live, send func(tea.Msg)) {
	for {
		list, more := live.Next(ctx)
		if !more {
			return
		}
		send(liveMsg(list))
	}
}

// passOn brings sentences into the loop until ctx ends.
func passOn(ctx context.Context, said <-chan string, send func(tea.Msg)) {
	for {
		select {
		case s := <-said:
			send(saidMsg(s))
		case <-ctx.Done():
			return
		}
	}
}

// wantedLive is a session that was asked for before it was known: a terminal that was just shown looks first.
type wantedLive struct {
	number int
	until  time.Time
}

// wantedFor is how long it is waited for.
const wantedFor = 1500 * time.Millisecond

// showWanted shows the session that was asked for, now that it is known.
func (p *panels) showWanted() tea.Cmd {
	w := p.wanted
	if p.wanted = (wantedLive{}); w.number == 0 || w.number > len(p.live) || time.Now().After(w.until) {
		return nil
	}
	return p.showLive(w.number)
}

// showLive shows the session of a number in place of this one.
func (p *panels) showLive(number int) tea.Cmd {
	if number > len(p.live) {
		p.wanted = wantedLive{number, time.Now().Add(wantedFor)}
	}
	switch {
	case p.opt.Live == nil:
		p.Flash("here no session runs in the background")
	case len(p.live) == 0:
		p.Flash("no session runs in the background: jcode --detachable begins one")
	case number < 1 || number > len(p.live):
		p.Flash("there is no session " + strconv.Itoa(number) + " in the background: /live lists them")
	case p.live[number-1].Here:
		p.Flash("this is session " + strconv.Itoa(number))
	default:
		s, show := p.live[number-1], p.opt.Live.Show
		return p.Background(func(ctx context.Context) dialog.Do {
			err := show(ctx, s)
			return func() tea.Cmd {
				if err != nil {
					p.Say(event.LevelWarn, "Session "+strconv.Itoa(number)+" is not shown: "+err.Error())
				}
				return nil
			}
		})
	}
	return nil
}

// liveSessions shows the session of a number, or lists them.
func (p *panels) liveSessions(number string) tea.Cmd {
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil {
			p.Flash("/live takes a number: without one it lists the sessions")
			return nil
		}
		return p.showLive(n)
	}
	var rows []command.Row
	for i, s := range p.live {
		state := "idle"
		switch {
		case s.Here:
			state = "here"
		case s.Asks:
			state = "needs you"
		case s.Busy:
			state = "working"
		}
		rows = append(rows, command.Row{ID: strconv.Itoa(i + 1), Name: strconv.Itoa(i+1) + " " + p.liveName(i), Info: look.OneLine(s.Title), State: state, Current: s.Here, Detail: look.ShortPath(s.Folder, p.opt.Home)})
	}
	pk := dialog.NewPicker("Sessions in the background", rows, func(r command.Row) tea.Cmd {
		n, _ := strconv.Atoi(r.ID) // it was written here
		return p.showLive(n)
	})
	pk.Enter, pk.Empty = "show it here", "none runs: jcode --detachable begins one, /detach moves this one there"
	p.Open(pk)
	return nil
}

// liveName names a session in the background by its folder, or by its title where another one has the same.
func (t *talk) liveName(i int) string {
	folder := func(s front.LiveSession) string {
		if s.Here {
			return filepath.Base(cmp.Or(t.state.Cwd, s.Folder))
		}
		return filepath.Base(s.Folder)
	}
	name, title := folder(t.live[i]), t.live[i].Title
	if t.live[i].Here {
		title = t.state.Title
	}
	for j, other := range t.live {
		if j != i && title != "" && folder(other) == name {
			return look.OneLine(title)
		}
	}
	return look.OneLine(name)
}

// liveParts shows the sessions in the background, if there are two with this one: their numbers and names, which of them
// is shown, and which needs the person. Without room the names are cut, at last to nothing.
func (p *composer) liveParts() (out []cells.Span) {
	here := false
	for _, s := range p.live {
		here = here || s.Here
	}
	if len(p.live) == 0 || here && len(p.live) == 1 {
		return nil
	}
	for _, most := range []int{24, 16, 10, 6, 3, 0} {
		if out = p.liveRow(here, most); cells.SpansWidth(out) <= p.width/2 {
			break
		}
	}
	return look.Clip(out, p.width/2)
}

// liveRow shows them with names of a width.
func (p *composer) liveRow(here bool, most int) (out []cells.Span) {
	th := p.look.Theme
	if !here {
		out = append(out, cells.Span{Text: "here", Style: th.Strong})
	}
	for i, s := range p.live {
		if len(out) > 0 {
			sep := " · "
			if most == 0 {
				sep = " "
			}
			out = append(out, cells.Span{Text: sep, Style: th.Faint})
		}
		style := th.Faint
		if s.Here {
			style = th.Strong
		}
		name := strings.TrimSpace(strconv.Itoa(i+1) + " " + cells.Fit(p.liveName(i), most))
		out = append(out, cells.Span{Text: name, Style: style})
		if s.Asks && !s.Here {
			out = append(out, cells.Span{Text: " ?", Style: th.Warn})
		}
	}
	return out
}
