package page

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"jcode/internal/text"
	"jcode/remote"
)

// The bounds of a search.
const (
	mostFound  = 100
	aroundWord = 80 // runes beside a word that was found
	maxQuery   = 200
)

// find shows the items of a session that contain a text.
func (s *Server) find(w http.ResponseWriter, r *http.Request, v Device) {
	id, query := r.PathValue("session"), text.Cut(strings.TrimSpace(r.URL.Query().Get("q")), maxQuery)
	now := s.viewOf(v, id, v.Role)
	var b sheet
	b.put(`<form class="line" method="get"><label for="find">Find</label> <input id="find" type="search" name="q" value="%s" required maxlength="200" autocomplete="off"> <button>Find</button></form>`, query)
	show := func(t *transcript) { t.drawFound(&b, query, now) }
	fd, release, err := s.feeds.get(r.Context(), v, id)
	switch {
	case err == nil:
		defer release()
		if err := fd.whole(r.Context()); err != nil {
			s.tell(w, http.StatusNotFound, now.base, "That did not work", text.OneLine(err.Error()))
			return
		}
		fd.read(show)
	case errors.Is(err, remote.ErrNoSession) && s.opt.Stored != nil:
		t, err := s.stored(r.Context(), id)
		if err != nil {
			s.tell(w, http.StatusNotFound, now.home, "Not here", "There is no such session.")
			return
		}
		show(t)
	default:
		s.tell(w, http.StatusNotFound, now.home, "Not here", text.OneLine(err.Error()))
		return
	}
	s.aside(w, r, now.base, "Find in this session", b.done())
}

// drawFound lists the items that contain a text, the last one first.
func (t *transcript) drawFound(s *sheet, query string, v view) {
	if query == "" {
		return
	}
	n := 0
	s.put(`<ul class="sessions">`)
	for i := len(t.blocks) - 1; i >= 0 && n < mostFound; i-- {
		b := t.blocks[i]
		who, words := b.words()
		before, word, after, ok := cutFold(words, query)
		if !ok {
			continue
		}
		n++
		s.put(`<li><a href="%s?at=%s#%s"><span class="facts">%s</span><span class="title">%s<mark>%s</mark>%s</span></a></li>`, v.base, b.id, b.id, who, before, word, after)
	}
	s.put(`</ul>`)
	switch {
	case n == 0:
		s.put(`<p class="dim">Nothing here contains that.</p>`)
	case n == mostFound:
		s.put(`<p class="dim">The last %d places are shown.</p>`, n)
	}
}

// words are who said an item, and all that it says.
func (b *block) words() (who, words string) {
	switch b.kind {
	case "user":
		return "You", b.text
	case "call":
		words = telling(b.call.Arguments)
		if r := b.call.result; r != nil {
			words += "\n" + r.Content
			if r.Display != nil {
				words += "\n" + r.Display.Diff
			}
		}
		return b.call.Name, words
	case "assistant":
		return "jcode", b.text
	}
	return b.kind, b.text
}

// cutFold finds a text without regard to case, and returns it with some of what is around it, on one line.
func cutFold(s, query string) (before, word, after string, ok bool) {
	i := strings.Index(strings.ToLower(s), strings.ToLower(query))
	if i < 0 || len(strings.ToLower(s)) != len(s) && !strings.Contains(s, query) {
		return "", "", "", false
	}
	if len(strings.ToLower(s)) != len(s) { // some letter has another length in lower case
		i = strings.Index(s, query)
	}
	end := min(len(s), i+len(query))
	before, word, after = s[:i], s[i:end], s[end:]
	if r := []rune(text.Valid(text.CutTail(before, 4*aroundWord))); len(r) > aroundWord {
		before = "…" + string(r[len(r)-aroundWord:])
	}
	return spaced(before), text.OneLine(word), spaced(text.Ellipsis(text.Cut(text.Valid(after), 8*aroundWord), aroundWord)), true
}

// spaced is one line that keeps a space at either end.
func spaced(s string) string {
	out := text.OneLine(s)
	if strings.TrimLeft(s, " \t\n") != s {
		out = " " + out
	}
	if strings.TrimRight(s, " \t\n") != s {
		out += " "
	}
	return out
}

// search shows the sessions that contain all words.
func (s *Server) search(w http.ResponseWriter, r *http.Request, v Device) {
	home, query := s.viewOf(v, "", v.Role).home, text.Cut(strings.TrimSpace(r.URL.Query().Get("q")), maxQuery)
	var b sheet
	b.put(`<form class="line" method="get"><label for="find">Find</label> <input id="find" type="search" name="q" value="%s" required maxlength="200" autocomplete="off"> <button>Find</button></form>`, query)
	found, err := s.opt.Stored.Search(r.Context(), query)
	if err != nil {
		b.put(`<p class="said">%s</p>`, err.Error())
	}
	b.put(`<ul class="sessions">`)
	for _, f := range found {
		b.put(`<li><a href="%s"><span class="title">%s</span><span class="facts">%s · %s</span><span>%s</span></a></li>`,
			s.viewOf(v, f.ID, v.Role).base, cmp.Or(text.OneLine(f.Title), "(no title)"), text.Visible(f.Folder), f.Used.Local().Format("2 Jan 15:04"), text.Ellipsis(f.Snippet, 200))
	}
	b.put(`</ul>`)
	if query != "" && len(found) == 0 {
		b.put(`<p class="dim">No session contains all these words.</p>`)
	}
	s.aside(w, r, home, "Find", b.done())
}

// export hands out a session as a document.
func (s *Server) export(w http.ResponseWriter, r *http.Request, v Device) {
	id, format := r.PathValue("session"), r.PathValue("format")
	kind, known := map[string]string{"md": "text/markdown", "html": "text/html", "json": "application/json"}[format]
	if !known {
		s.tell(w, http.StatusNotFound, s.viewOf(v, id, v.Role).base, "Not here", "A session is exported as html, md or json.")
		return
	}
	doc, err := s.opt.Stored.Export(r.Context(), id, format)
	if err != nil {
		s.tell(w, http.StatusNotFound, s.viewOf(v, id, v.Role).base, "That did not work", text.OneLine(err.Error()))
		return
	}
	h := w.Header()
	h.Set("Content-Type", kind+"; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="jcode-`+tail(id)+`.`+format+`"`)
	h.Set("Content-Security-Policy", policy+"; sandbox") // it is a file, and no page of this origin
	_, _ = w.Write([]byte(doc))                          // the browser may be gone
}

// tail is the end of a session's ID, by which people call it.
func tail(id string) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, id)
	return id[max(0, len(id)-8):]
}
