package page

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/remote"
)

// folders returns those in which one's own jcode was used, the one used last first.
func (s *Server) folders(ctx context.Context, v Device) ([]string, error) {
	var out []string
	all, _ := s.opt.Place.Processes(ctx, v.Name) // one that does not answer is left out
	for _, p := range all {
		for _, o := range p.Sessions {
			out = append(out, o.Cwd)
		}
	}
	used, err := s.opt.Stored.Folders(ctx)
	for _, f := range used {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, err
}

// askNew asks for what a new session is to do, and where.
func (s *Server) askNew(w http.ResponseWriter, r *http.Request, v Device) {
	home := s.viewOf(v, "", v.Role).home
	folders, err := s.folders(r.Context(), v)
	var b sheet
	switch {
	case v.Role != remote.Control:
		b.put(`<p class="dim">This device watches: it may begin nothing.</p>`)
	case err != nil:
		b.put(`<p class="said">%s</p>`, err.Error())
	case len(folders) == 0:
		b.put(`<p class="dim">jcode was used in no folder yet: start it in a terminal once.</p>`)
	default:
		b.put(`<form class="begin" method="post" action="%snew"><label>Folder <select name="folder">`, home)
		for _, f := range folders {
			b.put(`<option>%s</option>`, f)
		}
		b.put(`</select></label><label>Prompt <textarea name="text" rows="4" required maxlength="100000"></textarea></label><button class="main">Begin</button></form><p class="dim">It runs in the background, with the rights that jcode has in this folder. <code>jcode attach</code> shows it in a terminal.</p>`)
	}
	s.aside(w, r, home, "New session", b.done())
}

// begin begins a session in the background and goes to its page.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, v Device) {
	home := s.viewOf(v, "", v.Role).home
	refuse := func(code int, err error) { s.tell(w, code, home, "That did not work", text.OneLine(err.Error())) }
	if v.Role != remote.Control {
		refuse(http.StatusForbidden, errors.New("this device watches: it may begin nothing"))
		return
	}
	if err := r.ParseForm(); err != nil {
		refuse(http.StatusBadRequest, errUnclear)
		return
	}
	folder, prompt := r.PostForm.Get("folder"), strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n")
	folders, err := s.folders(r.Context(), v)
	if !slices.Contains(folders, folder) || strings.TrimSpace(prompt) == "" {
		refuse(http.StatusConflict, cmp.Or(err, errors.New("choose a folder in which jcode was used, and say what to do")))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), actWithin)
	defer cancel()
	id, err := s.opt.Begin(ctx, folder, prompt)
	if err != nil {
		refuse(http.StatusConflict, err)
		return
	}
	http.Redirect(w, r, s.viewOf(v, id, v.Role).base, http.StatusSeeOther)
}
