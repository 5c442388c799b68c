package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"jcode/internal/text"
	"jcode/remote"
	"jcode/tools"
)

// aside writes what a script shows in a dialog, and as a page of its own without one.
func (s *Server) aside(w http.ResponseWriter, r *http.Request, back, title string, body markup) {
	var b sheet
	if r.Header.Get("X-Jcode") != "" {
		b.put(`<h2>%s</h2>%s`, title, body)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(b.done())) // the browser may be gone
		return
	}
	b.put(`<header class="bar"><a class="back" href="%s" aria-label="Back">‹</a><h1>%s</h1></header><main class="aside">%s</main><p id="said" class="said" role="alert" hidden></p>`, back, title, body)
	frame(w, http.StatusOK, escaped(title), ` data-page="aside"`, b.done())
}

// part answers with a part of an open session that a method of the protocol tells of.
func (s *Server) part(draw func(ctx context.Context, fd *feed, v view, r *http.Request) (title string, body markup, err error)) http.Handler {
	return s.paired(func(w http.ResponseWriter, r *http.Request, v Device) {
		now := s.viewOf(v, r.PathValue("session"), v.Role)
		fd, release, err := s.feeds.get(r.Context(), v, r.PathValue("session"))
		if err != nil {
			s.tell(w, http.StatusNotFound, now.home, "Not here", text.OneLine(err.Error()))
			return
		}
		defer release()
		ctx, cancel := context.WithTimeout(r.Context(), actWithin)
		defer cancel()
		title, body, err := draw(ctx, fd, s.viewOf(v, fd.session, fd.role), r)
		if err != nil {
			s.tell(w, http.StatusConflict, now.base, "That did not work", text.OneLine(err.Error()))
			return
		}
		s.aside(w, r, now.base, title, body)
	})
}

// more shows what can be done with a session, open or not.
func (s *Server) more(w http.ResponseWriter, r *http.Request, v Device) {
	id := r.PathValue("session")
	fd, release, err := s.feeds.get(r.Context(), v, id)
	now := s.viewOf(v, id, remote.Watch)
	var b sheet
	if err == nil {
		defer release()
		now = s.viewOf(v, id, fd.role)
	}
	if now.may {
		ctx, cancel := context.WithTimeout(r.Context(), actWithin)
		defer cancel()
		fd.drawMore(ctx, &b, now)
	}
	s.drawTake(&b, now)
	s.aside(w, r, now.base, "This session", b.done())
}

// drawMore writes what can be set and taken back in a session.
func (fd *feed) drawMore(ctx context.Context, b *sheet, v view) {
	var c remote.Choices
	err := fd.client.Call(ctx, "choices", remote.Of{Session: fd.session}, &c)
	fd.read(func(t *transcript) { drawSet(b, t, v, c) })
	if err != nil {
		b.put(`<p class="said">%s</p>`, err.Error())
	}
	b.put(`<form class="act line" method="post" action="%s/undo"><span>Files of the last turn</span> <button>Undo</button> <button name="redo" value="yes">Redo</button></form><p class="dim">To go back further, press the time next to a prompt.</p>`, v.base)
}

// drawTake writes the search in a session, and its exports.
func (s *Server) drawTake(b *sheet, v view) {
	b.put(`<form class="line" method="get" action="%s/search"><label for="find">Find in this session</label> <input id="find" type="search" name="q" required maxlength="200" autocomplete="off"> <button>Find</button></form>`, v.base)
	if s.opt.Stored != nil {
		b.put(`<p class="line">Export: <a href="%s/export/html" download>HTML</a> <a href="%s/export/md" download>Markdown</a> <a href="%s/export/json" download>JSON</a></p>`, v.base, v.base, v.base)
	}
}

// drawSet writes the forms with the mode, the model and the role.
func drawSet(s *sheet, t *transcript, v view, c remote.Choices) {
	s.put(`<form class="act line" method="post" action="%s/set"><label for="mode">Mode</label> <select id="mode" name="mode">`, v.base)
	for _, m := range []tools.Mode{tools.ModePlan, tools.ModeAsk, tools.ModeEdits, tools.ModeAuto, tools.ModeYolo} {
		s.put(`<option%s>%s</option>`, selected(m == t.state.Mode), string(m))
	}
	s.put(`</select> <button>Set</button></form><form class="act line" method="post" action="%s/set"><label for="model">Model</label> <input id="model" name="model" list="models" required autocomplete="off" spellcheck="false" placeholder="%s"><datalist id="models">`, v.base, t.state.Model)
	for _, m := range c.Models {
		s.put(`<option value="%s">`, m.Name)
	}
	s.put(`</datalist> <button>Set</button></form><form class="act line" method="post" action="%s/role"><label for="role">Role</label> <select id="role" name="name"><option value="">none</option>`, v.base)
	for _, r := range c.Roles {
		s.put(`<option value="%s"%s>%s</option>`, r.Name, selected(r.Name == t.state.Role), cmp.Or(text.Ellipsis(r.Name+map[bool]string{true: ": " + r.Info}[r.Info != ""], 80), r.Name))
	}
	s.put(`</select> <button>Set</button></form>`)
}

// drawRewind asks what goes back to before a prompt.
func drawRewind(_ context.Context, fd *feed, v view, r *http.Request) (string, markup, error) {
	seq, err := strconv.ParseInt(r.URL.Query().Get("seq"), 10, 64)
	if err != nil || !v.may {
		return "", "", errUnclear
	}
	said := ""
	fd.read(func(t *transcript) {
		if i := slices.IndexFunc(t.blocks, func(b *block) bool { return b.kind == "user" && b.seq == seq }); i >= 0 {
			said = t.blocks[i].text
		}
	})
	if said == "" {
		return "", "", errors.New("this prompt is not there any more")
	}
	var b sheet
	b.put(`<p class="plain quote">%s</p><form class="act" method="post" action="%s/rewind"><input type="hidden" name="seq" value="%d"><div class="rows">`, text.Ellipsis(said, 400), v.base, seq)
	b.put(`<button name="what" value="" class="row">The conversation <small>files stay as they are; the prompt is back in the input</small></button>`)
	b.put(`<button name="what" value="files" class="row">The files <small>what the agent's tools changed since</small></button>`)
	b.put(`<button name="what" value="both" class="row">Both</button></div></form>`)
	return "Go back to before this prompt?", b.done(), nil
}

// drawAgent shows what an agent says, and lets it be told something.
func drawAgent(ctx context.Context, fd *feed, v view, r *http.Request) (string, markup, error) {
	name := r.PathValue("name")
	var out remote.AgentOutput
	if err := fd.client.Call(ctx, "agents.output", remote.AgentOf{Session: fd.session, Name: name}, &out); err != nil {
		return "", "", err
	}
	var b sheet
	fd.read(func(t *transcript) {
		i := slices.IndexFunc(t.agents, func(a agentState) bool { return a.Name == name })
		if i < 0 {
			return
		}
		a := t.agents[i]
		b.put(`<p class="dim">%s · %s · %s tokens</p>`, string(a.Status), cmp.Or(a.Role, "no role"), thousands(a.Tokens))
		if a.Doing != "" {
			b.put(`<p class="doing">%s</p>`, a.Doing)
		}
	})
	if out.Text != "" {
		b.put(`<div class="scroll" tabindex="0" role="group" aria-label="Output">%s</div>`, code("", text.CutTail(out.Text, maxOutput)))
	}
	if v.may {
		b.put(`<form class="act line" method="post" action="%s/message"><input type="hidden" name="name" value="%s"><label for="word">Message</label> <input id="word" name="text" required maxlength="20000" autocomplete="off"> <button class="main">Send</button></form>`, v.base, name)
		b.put(`<form class="act" method="post" action="%s/stop"><input type="hidden" name="name" value="%s"><button class="stop">Stop this agent</button></form>`, v.base, name)
	}
	return "Agent " + text.Visible(name), b.done(), nil
}

// files answers a script with the names of files that contain a text.
func (s *Server) files(w http.ResponseWriter, r *http.Request, v Device) {
	fd, release, err := s.feeds.get(r.Context(), v, r.PathValue("session"))
	if err != nil {
		http.Error(w, "this session is not open", http.StatusNotFound)
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), actWithin)
	defer cancel()
	var out remote.Names
	if err := fd.client.Call(ctx, "files", remote.FilesOf{Session: fd.session, Query: r.URL.Query().Get("q")}, &out); err != nil {
		http.Error(w, text.OneLine(err.Error()), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out.Names) // the browser may be gone
}
