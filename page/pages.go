package page

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"jcode/agent/event/wire"
	"jcode/internal/text"
	"jcode/remote"
	"jcode/tools"
)

// looksEvery is how often the list is made anew while somebody looks at it.
const looksEvery = 2 * time.Second

// list shows the sessions.
func (s *Server) list(w http.ResponseWriter, r *http.Request, v Device) {
	html := s.drawList(r.Context(), v)
	var b sheet
	role := map[bool]string{true: "it may answer", false: "it watches"}[v.Role == remote.Control]
	b.put(`<header class="bar"><h1>jcode</h1><p class="facts">%s · %s</p></header><main>%s%s</main><p id="said" class="said" role="alert" hidden></p>`, v.Name, role, s.drawTop(v), html)
	var attributes sheet
	home := s.viewOf(v, "", v.Role).home
	attributes.put(` data-page="list" data-home="%s" data-events="%sevents"`, home, home)
	frame(w, http.StatusOK, "jcode", attributes.done(), b.done())
}

// drawTop returns what stands above the list: a new session, and the search.
func (s *Server) drawTop(v Device) markup {
	var b sheet
	home := s.viewOf(v, "", v.Role).home
	if s.opt.Begin != nil && s.opt.Stored != nil && v.Role == remote.Control {
		b.put(`<a class="button" href="%snew">New session</a>`, home)
	}
	if s.opt.Queue != nil {
		b.put(`<a class="button" href="%stasks">Tasks</a>`, home)
	}
	if s.opt.Stored != nil {
		b.put(`<form class="line" method="get" action="%ssearch"><label class="out" for="find">Find in all sessions</label><input id="find" type="search" name="q" required maxlength="200" autocomplete="off" placeholder="Find in all sessions"> <button>Find</button></form>`, home)
	}
	if b.Len() == 0 {
		return ""
	}
	return `<div class="top">` + b.done() + `</div>`
}

// followList streams the list while somebody looks at it.
func (s *Server) followList(w http.ResponseWriter, r *http.Request, v Device) {
	if s.live.count(v.ID) > maxStreams {
		http.Error(w, "too many pages of this device are open", http.StatusTooManyRequests)
		return
	}
	out, err := newStream(w)
	if err != nil {
		return
	}
	var before markup
	for {
		html := s.drawList(r.Context(), v)
		if html != before && (r.Context().Err() != nil || out.send("", "", string(html)) != nil) {
			return
		}
		before = html
		next := make(chan struct{})
		timer := time.AfterFunc(looksEvery, func() { close(next) })
		ok := s.pause(r.Context(), out, v, next)
		timer.Stop()
		if !ok {
			return
		}
	}
}

// drawList returns the sessions by folder, open ones first.
func (s *Server) drawList(ctx context.Context, v Device) markup {
	all, err := s.opt.Place.Processes(ctx, v.Name)
	var open []remote.Listed
	for _, p := range all {
		open = append(open, p.Sessions...)
	}
	var b sheet
	b.put(`<div id="sessions" aria-live="polite">`)
	if err != nil {
		b.put(`<p class="said">%s</p>`, err.Error())
	}
	if len(open) == 0 {
		b.put(`<p class="dim">No session is open. Start one with <code>jcode</code> in a terminal%s.</p>`, map[bool]string{true: ", or here"}[s.opt.Begin != nil && v.Role == remote.Control])
	}
	slices.SortStableFunc(open, func(a, b remote.Listed) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a.Cwd, b.Cwd), cmp.Compare(b.SessionID, a.SessionID))
	})
	var folders []string
	for _, o := range open {
		if !slices.Contains(folders, o.Cwd) {
			folders = append(folders, o.Cwd)
		}
	}
	for _, folder := range folders {
		b.put(`<section><h2>%s</h2><ul class="sessions">`, text.Visible(folder))
		for _, o := range open {
			if o.Cwd != folder {
				continue
			}
			class, words := urgency(o.Asks, o.Busy)
			b.put(`<li><a href="%s"><span class="title">%s</span><span class="chip %s">%s</span><span class="facts">%s · %s</span></a></li>`,
				s.viewOf(v, o.SessionID, v.Role).base, cmp.Or(text.OneLine(o.Title), "(no title)"), class, words, o.Model, string(o.Mode))
		}
		b.put(`</ul></section>`)
	}
	s.drawKept(ctx, &b, v, open)
	b.put(`</div>`)
	return b.done()
}

func rank(o remote.Listed) int {
	class, _ := urgency(o.Asks, o.Busy)
	return slices.Index([]string{"idle", "working", "needs"}, class)
}

// drawKept lists the sessions that are not open.
func (s *Server) drawKept(ctx context.Context, b *sheet, v Device, open []remote.Listed) {
	if s.opt.Stored == nil {
		return
	}
	kept, err := s.opt.Stored.List(ctx)
	if err != nil {
		b.put(`<p class="said">%s</p>`, err.Error())
	}
	kept = slices.DeleteFunc(kept, func(k Kept) bool {
		return slices.ContainsFunc(open, func(o remote.Listed) bool { return o.SessionID == k.ID })
	})
	if len(kept) == 0 {
		return
	}
	b.put(`<section class="kept"><h2>Not open</h2><ul class="sessions">`)
	for _, k := range kept {
		b.put(`<li><a href="%s"><span class="title">%s</span><span class="facts">%s · %s</span></a></li>`,
			s.viewOf(v, k.ID, v.Role).base, cmp.Or(text.OneLine(k.Title), "(no title)"), text.Visible(k.Folder), k.Used.Local().Format("2 Jan 15:04"))
	}
	b.put(`</ul></section>`)
}

// session shows a session, open or not.
func (s *Server) session(w http.ResponseWriter, r *http.Request, v Device) {
	id := r.PathValue("session")
	fd, release, err := s.feeds.get(r.Context(), v, id)
	switch {
	case err == nil:
		defer release()
		now := s.viewOf(v, id, fd.role)
		if q := r.URL.Query(); q.Has("before") || q.Has("at") {
			err = fd.whole(r.Context())
		}
		if err != nil {
			s.tell(w, http.StatusNotFound, now.base, "That did not work", text.OneLine(err.Error()))
			return
		}
		fd.read(func(t *transcript) {
			now.number = fd.number(t.last)
			s.show(w, r, t, now)
		})
	case errors.Is(err, remote.ErrNoSession) && s.opt.Stored != nil:
		s.showKept(w, r, v, id)
	default:
		s.tell(w, http.StatusNotFound, s.viewOf(v, id, v.Role).home, "Not here", text.OneLine(err.Error()))
	}
}

func (s *Server) showKept(w http.ResponseWriter, r *http.Request, v Device, id string) {
	now := s.viewOf(v, id, remote.Watch)
	t, err := s.stored(r.Context(), id)
	if err != nil {
		s.tell(w, http.StatusNotFound, now.home, "Not here", "There is no such session.")
		return
	}
	now.stored = true
	s.show(w, r, t, now)
}

// stored reads a session that is not open.
func (s *Server) stored(ctx context.Context, id string) (*transcript, error) {
	k, lines, err := s.opt.Stored.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	t := newTranscript()
	t.begin(&wire.State{SessionID: k.ID, Title: k.Title, Model: k.Model, Cwd: k.Folder, Mode: tools.Mode(k.Mode)}, 0, lines...)
	return t, nil
}

// show writes a session's page, or the part of it that a script asks for.
func (s *Server) show(w http.ResponseWriter, r *http.Request, t *transcript, v view) {
	before, around := r.URL.Query().Get("before"), r.URL.Query().Get("at")
	log := t.drawLog(before, around, v.base)
	if r.Header.Get("X-Jcode") != "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(log)) // the browser may be gone
		return
	}
	var b, attributes sheet
	b.put("%s<main><div id=\"log\" role=\"log\" aria-live=\"polite\">%s</div>", t.drawState(v), log)
	if before != "" || around != "" {
		b.put(`<p><a href="%s">The end of the session</a></p></main>`, v.base)
		attributes.put(` data-page="past" data-home="%s"`, v.home)
		frame(w, http.StatusOK, escaped(cmp.Or(t.state.Title, "jcode")), attributes.done(), b.done())
		return
	}
	b.put(`%s</main><footer id="end"><p id="said" class="said" role="alert" hidden></p>%s%s<div class="asides">%s%s</div>`, t.drawLive(), t.drawAsks(v), t.drawQueue(v), t.drawPlan(), t.drawAgents(v))
	switch {
	case v.stored:
		b.put(`<p class="dim">This session is not open. Continue it in a terminal: <code>jcode -r %s</code></p>`, t.state.SessionID[max(0, len(t.state.SessionID)-8):])
	case v.may:
		b.put(`<form class="act prompt" method="post" action="%s/prompt" enctype="multipart/form-data" data-files="%s/files"><ul id="names" role="listbox" aria-label="Files" hidden></ul><ul id="pictures" aria-label="Pictures" hidden></ul><label class="out" for="text">Prompt</label><textarea id="text" name="text" rows="1" maxlength="1000000" placeholder="What to do next">%s</textarea><label class="pick" title="Pictures"><span aria-hidden="true">+</span><input id="pick" type="file" name="picture" accept="image/png,image/jpeg,image/gif,image/webp" multiple aria-label="Pictures"></label><button class="main">Send</button></form>`, v.base, v.base, v.draft)
	default:
		b.put(`<p class="dim">You watch this session.</p>`)
	}
	b.put(`<p class="foot"><a class="open" href="%s/more">%s</a></p>%s<noscript><p class="dim"><a href="%s#end">Look again</a></p></noscript></footer><dialog id="dialog" aria-label="More"></dialog>`, v.base, map[bool]string{true: "Mode, model, role, undo, find, export", false: "Find, export"}[v.may && !v.stored], t.drawUsage(), v.base)
	attributes.put(` data-page="session" data-home="%s"`, v.home)
	if !v.stored {
		attributes.put(` data-events="%s/events?after=%s"`, v.base, v.number)
	}
	frame(w, http.StatusOK, escaped(cmp.Or(t.state.Title, "jcode")), attributes.done(), b.done())
}
