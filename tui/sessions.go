package tui

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/look"
)

// newSession starts a new session, with a title if one is given. If there is a last exchange it offers to
// carry that over.
func (p *switcher) newSession(title string) tea.Cmd {
	if p.opt.Sessions == nil {
		p.Flash("sessions are not available here")
		return nil
	}
	fresh := func(carry bool) tea.Cmd {
		p.interruptFor()
		return p.switchTo(func(ctx context.Context) (front.Session, error) {
			return front.NewTitled(ctx, p.opt.Sessions, carry, title)
		})
	}
	if !p.tr.Answered() || p.turn.busy || p.answeredIn != p.state.Role {
		return fresh(false)
	}
	p.options("Carry the last exchange over into the new session?", []command.Row{
		{ID: "no", Name: "no", Info: "begin with nothing"}, {ID: "yes", Name: "yes", Info: "the last prompt and its answer go along"},
	}, func(r command.Row) tea.Cmd { return fresh(r.ID == "yes") })
	return nil
}

// rewind asks for an earlier prompt and for what to take back up to it; the command that does it comes from
// outside.
func (p *slashes) rewind(args string) tea.Cmd {
	c, ok := p.opt.Commands.Find("rewind")
	prompts := p.tr.Prompts()
	switch {
	case !ok:
		p.Flash("rewinding is not available here")
		return nil
	case args != "":
		return p.foreign(c).run(args)
	case len(prompts) == 0:
		p.Flash("there is no earlier prompt")
		return nil
	}
	var rows []command.Row
	for i := len(prompts) - 1; i >= 0; i-- {
		rows = append(rows, command.Row{ID: strconv.Itoa(i + 1), Name: strconv.Itoa(i+1) + ". " + look.OneLine(prompts[i].Prompt), State: prompts[i].At.Local().Format("15:04"), Detail: prompts[i].Prompt})
	}
	p.Open(dialog.NewPicker("Go back to before which prompt?", rows, func(r command.Row) tea.Cmd {
		p.options("What goes back?", []command.Row{
			{ID: "", Name: "the conversation", Info: "files stay as they are"},
			{ID: " files", Name: "the files", Info: "what the agent's tools changed since"},
			{ID: " both", Name: "both"},
		}, func(what command.Row) tea.Cmd { return p.foreign(c).run(r.ID + what.ID) })
		return nil
	}))
	return nil
}

// undo says which turn and which files would be restored, and asks; the command that does it comes from
// outside.
func (p *slashes) undo() tea.Cmd {
	c, ok := p.opt.Commands.Find("undo")
	if !ok {
		p.Flash("undo is not available here")
		return nil
	}
	if p.opt.Undoable == nil {
		return p.foreign(c).run("")
	}
	return p.Background(func(ctx context.Context) dialog.Do {
		u, err := p.opt.Undoable(ctx)
		return func() tea.Cmd {
			if err != nil {
				p.Say(event.LevelInfo, "/undo: "+err.Error())
				return nil
			}
			turn := cmp.Or(look.OneLine(text.Visible(u.Name)), p.tr.PromptOf(u.Prompt))
			var detail []string
			for _, f := range u.Files {
				detail = append(detail, front.ChangeLine(f))
			}
			p.options("Put back what "+turn+" changed?", []command.Row{
				{ID: "yes", Name: "yes", Info: text.Count(len(u.Files), "file") + "; /redo reverses that", Detail: strings.Join(detail, "\n")},
				{ID: "no", Name: "no", Info: "leave everything as it is", Detail: strings.Join(detail, "\n")},
			}, func(r command.Row) tea.Cmd {
				if r.ID == "no" {
					return nil
				}
				return p.foreign(c).run("")
			})
			return nil
		}
	})
}

// session resumes the named session, or starts it if there is none.
func (p *switcher) session(name string) tea.Cmd {
	if name == "" || p.opt.Sessions == nil {
		return p.resume("")
	}
	p.interruptFor()
	return p.switchOr(func(ctx context.Context) (front.Session, error) { return p.opt.Sessions.Open(ctx, name) }, func(err error) tea.Cmd {
		if errors.Is(err, session.ErrNotFound) {
			return p.newSession(name)
		}
		p.Say(event.LevelError, err.Error())
		return nil
	})
}

// resume offers earlier sessions, of this folder or with Tab of all.
func (p *switcher) resume(query string) tea.Cmd {
	if p.opt.Sessions == nil {
		p.Flash("sessions are not available here")
		return nil
	}
	all := false
	pk := dialog.NewPicker("Sessions of this folder", nil, func(r command.Row) tea.Cmd {
		p.interruptFor()
		return p.switchTo(func(ctx context.Context) (front.Session, error) { return p.opt.Sessions.Open(ctx, r.ID) })
	})
	pk.Empty = "no session yet: it is kept from its first message on"
	reload := func(then func()) tea.Cmd {
		everywhere, current := all, p.state.Session
		return refill(p.loop, pk, func(ctx context.Context) ([]command.Row, error) {
			found, err := p.opt.Sessions.List(ctx, "", everywhere)
			return front.SessionRows(found, time.Now(), current), err
		}, then)
	}
	if p.opt.Preview != nil {
		pk.Preview = func(ctx context.Context, r command.Row, query string) (string, error) {
			return p.opt.Preview(ctx, r.ID, query)
		}
	}
	pk.TabHint = "all folders"
	pk.Toggle = func() tea.Cmd {
		all = !all
		pk.Title, pk.TabHint = "Sessions of this folder", "all folders"
		if all {
			pk.Title, pk.TabHint = "All sessions", "this folder"
		}
		return reload(func() {})
	}
	pk.Typed = func(query string) tea.Cmd { return p.searchSessions(pk, query, all) }
	open, conv := p.state.Session, p.conv
	pk.Actions = []command.Action{{Key: "ctrl+r", Label: "rename", Write: func(ctx context.Context, r command.Row, title string) (string, error) {
		if r.ID == open {
			return "renamed " + r.Name, conv.Rename(title)
		}
		return "renamed " + r.Name, p.opt.Sessions.Rename(ctx, r.ID, title)
	}}, {Key: "ctrl+x", Label: "delete", Confirm: true, Run: func(ctx context.Context, r command.Row) (string, error) {
		return "deleted " + r.Name, p.opt.Sessions.Delete(ctx, r.ID)
	}}}
	pk.Reload = reload
	pk.Search.Paste(query)
	p.Open(pk)
	return reload(func() {})
}

// searchSessions adds sessions whose text contains the query.
func (p *switcher) searchSessions(pk *dialog.Picker, query string, all bool) tea.Cmd {
	if len(strings.TrimSpace(query)) < 3 {
		return nil
	}
	list := func(ctx context.Context) ([]session.Session, error) { return p.opt.Sessions.List(ctx, query, all) }
	return dialog.Fetch(p, list, func(found []session.Session, err error) tea.Cmd {
		if err != nil || pk.Search.Editor.Text() != query {
			return nil // the list is still there; a newer search is on its way
		}
		known := map[string]int{}
		for i, r := range pk.Rows {
			known[r.ID] = i
		}
		for _, r := range front.SessionRows(found, time.Now(), p.state.Session) {
			r.Search = query
			if i, ok := known[r.ID]; ok {
				pk.Rows[i].Search = query
			} else {
				pk.Rows = append(pk.Rows, r)
			}
		}
		pk.Filter()
		return pk.Ahead(p)
	})
}

// fork continues in a copy: of everything, or up to the answer to one of the prompts, which are counted as
// /rewind counts them.
func (p *switcher) fork(args string) tea.Cmd {
	if p.opt.Sessions == nil || p.state.Session == "" {
		p.Flash("there is no stored session to fork yet")
		return nil
	}
	upTo, ok := front.ForkEnd(p.tr.Prompts(), args)
	if !ok {
		p.Open(dialog.NewPage("Fork", front.WhichFork(p.tr.Prompts())))
		return nil
	}
	id := p.state.Session
	return p.switchTo(func(ctx context.Context) (front.Session, error) { return p.opt.Sessions.Fork(ctx, id, upTo) })
}

// promptNumbers completes the number of a prompt, newest first.
func (s *scene) promptNumbers() []string {
	var out []string
	for n := len(s.tr.Prompts()); n > 0; n-- {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// promptOf says which prompt a number means.
func (s *scene) promptOf(number string) string {
	prompts := s.tr.Prompts()
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(prompts) {
		return ""
	}
	return look.OneLine(prompts[n-1].Prompt)
}
