package page

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"jcode/remote"
)

// frame writes a page around its body.
func frame(w http.ResponseWriter, code int, title, attributes, body markup) {
	var s sheet
	s.put(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark"><title>%s</title><link rel="stylesheet" href="/page.css"><script src="/page.js" defer></script></head>
<body%s>%s</body></html>
`, title, attributes, body)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, s.String()) // the browser may be gone
}

// escaped returns text as markup.
func escaped(s string) markup { return markup(escape(s)) }

// askCode shows the page with which a device pairs.
func (s *Server) askCode(w http.ResponseWriter, code int, wrong string) {
	var b sheet
	b.put(`<main class="pair"><h1>jcode</h1><p>Pair this device with the code that <code>jcode serve</code> printed in its terminal, or that <code>/remote</code> shows in a session.</p>`)
	if wrong != "" {
		b.put(`<p class="said" role="alert">%s</p>`, wrong)
	}
	b.put(`<form method="post" action="/pair"><label>Code <input name="code" required autofocus autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="20" class="code"></label>
<label>Name of this device <input name="name" maxlength="40" autocomplete="off" placeholder="phone"></label><button class="main">Pair</button></form></main>`)
	frame(w, code, "Pair · jcode", ` data-page="pair"`, b.done())
}

// pair lets a device in that knows the code.
func (s *Server) pair(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxPair)
	if err := r.ParseForm(); err != nil {
		s.askCode(w, http.StatusBadRequest, "That was too long.")
		return
	}
	role, err := s.opt.Codes.redeem(r.PostForm.Get("code"))
	if err != nil {
		wrong := "That is not the code."
		if errors.Is(err, errNoCode) {
			wrong = "No code is valid now: /remote in a session shows one, and Enter in the terminal of jcode serve."
		}
		s.askCode(w, http.StatusForbidden, wrong)
		return
	}
	name := r.PostForm.Get("name")
	if strings.TrimSpace(name) == "" {
		name = nameOf(r.UserAgent())
	}
	v, key, err := s.opt.Devices.Add(name, role, false)
	if err != nil {
		s.askCode(w, http.StatusInternalServerError, err.Error())
		return
	}
	if s.opt.Said != nil {
		s.opt.Said(v.Name + " is paired" + map[bool]string{true: ", to watch"}[role == remote.Watch])
	}
	origin, _ := s.origin(r) // guard has seen it
	home := s.viewOf(v, "", role).home
	http.SetCookie(w, &http.Cookie{
		Name: cookie, Value: key, Path: home, MaxAge: int(unused.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(origin, "https://"),
	})
	http.Redirect(w, r, home, http.StatusSeeOther)
}

// nameOf returns what a browser is called that gave itself no name.
func nameOf(agent string) string {
	for _, known := range [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Firefox", "Firefox"}, {"Edg", "Edge"}, {"Chrome", "Chrome"}, {"Safari", "Safari"}} {
		if strings.Contains(agent, known[0]) {
			return known[1]
		}
	}
	return "a browser"
}

// tell shows one sentence, and the way back.
func (s *Server) tell(w http.ResponseWriter, code int, back, title, said string) {
	var b sheet
	b.put(`<main class="pair"><h1>%s</h1><p role="alert">%s</p><p><a href="%s">Back</a></p></main>`, title, said, back)
	frame(w, code, escaped(title), "", b.done())
}
