package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/internal/picture"
	"jcode/internal/text"
	"jcode/remote"
	"jcode/tools"
)

// actWithin is how long a session may take to do what a page asks.
const actWithin = 20 * time.Second

// errUnclear is returned for a form that is not one of the page's.
var errUnclear = errors.New("this form is not complete")

// act does what a form of the page says. A browser without scripts goes back to the page.
func (s *Server) act(w http.ResponseWriter, r *http.Request, v Device) {
	if v.Role != remote.Control {
		http.Error(w, "this device watches: it may change nothing", http.StatusForbidden)
		return
	}
	parse := r.ParseForm
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		rc := http.NewResponseController(w) // pictures take their time from a phone
		if err := errors.Join(rc.SetReadDeadline(time.Now().Add(picturesWithin)), rc.SetWriteDeadline(time.Now().Add(picturesWithin+answerWithin))); err != nil {
			http.Error(w, "the form can't be read", http.StatusInternalServerError)
			return
		}
		parse = func() error { return r.ParseMultipartForm(maxPictures) }
	}
	if err := parse(); err != nil {
		code := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			code = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the form can't be read", code)
		return
	}
	session := r.PathValue("session")
	fd, release, err := s.feeds.get(r.Context(), v, session)
	draft := ""
	if err == nil {
		defer release()
		ctx, cancel := context.WithTimeout(r.Context(), actWithin)
		defer cancel()
		draft, err = fd.do(ctx, r.PathValue("what"), r)
	}
	said := ""
	if err != nil {
		said = text.OneLine(err.Error())
	}
	switch scripted := r.Header.Get("X-Jcode") != "" || v.Program; {
	case scripted && err != nil:
		http.Error(w, said, http.StatusConflict)
	case scripted && draft != "":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, draft) // the browser may be gone
	case scripted:
		w.WriteHeader(http.StatusNoContent)
	case err != nil:
		s.tell(w, http.StatusConflict, s.viewOf(v, session, v.Role).base, "That did not work", said)
	case draft != "":
		now := s.viewOf(v, session, fd.role)
		now.draft = draft
		fd.read(func(t *transcript) {
			now.number = fd.number(t.last)
			s.show(w, r, t, now)
		})
	default:
		http.Redirect(w, r, s.viewOf(v, session, v.Role).base+"#end", http.StatusSeeOther)
	}
}

// do calls the method of the session protocol that a form means. draft is what is back in the input then.
func (fd *feed) do(ctx context.Context, what string, r *http.Request) (draft string, err error) {
	if what == "rewind" {
		return fd.rewind(ctx, r.PostForm.Get("seq"), r.PostForm.Get("what"))
	}
	return "", fd.call(ctx, what, r)
}

// rewind goes back to before a prompt, and waits until the page's transcript does.
func (fd *feed) rewind(ctx context.Context, number, what string) (draft string, err error) {
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", errUnclear
	}
	var out remote.Rewound
	if err := fd.client.Call(ctx, "rewind", remote.Rewind{Session: fd.session, Seq: seq, What: what}, &out); err != nil || what == "files" {
		return "", err
	}
	for {
		there := false
		more, why := fd.read(func(t *transcript) {
			there = slices.ContainsFunc(t.blocks, func(b *block) bool { return b.seq == seq })
		})
		if !there || why != "" {
			return out.Draft, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return out.Draft, nil
		}
	}
}

// call calls the method that a form without an answer means.
func (fd *feed) call(ctx context.Context, what string, r *http.Request) error {
	form := map[string][]string(r.PostForm)
	get := func(name string) string {
		if list := form[name]; len(list) > 0 {
			return list[0]
		}
		return ""
	}
	call := func(method string, params any) error { return fd.client.Call(ctx, method, params, nil) }
	switch what {
	case "prompt":
		pictures, err := picturesOf(r)
		if err != nil {
			return err
		}
		return call("prompt", remote.Prompt{Session: fd.session, Text: strings.ReplaceAll(get("text"), "\r\n", "\n"), Pictures: pictures})
	case "unqueue":
		return call("unqueue", remote.Queued{Session: fd.session, ID: get("id")})
	case "interrupt":
		return call("interrupt", remote.Of{Session: fd.session})
	case "answer":
		option, err := strconv.Atoi(get("option"))
		if err != nil {
			return errUnclear
		}
		hunks, err := fd.hunks(get("id"), option, form["hunk"])
		if err != nil {
			return err
		}
		return call("answer", remote.Answer{Session: fd.session, ID: get("id"), Option: option, Word: get("word"), Hunks: hunks})
	case "reply":
		reply := replied(get("option"), get("text"))
		if reply == "" {
			return errUnclear
		}
		return call("reply", remote.Reply{Session: fd.session, ID: get("id"), Text: reply})
	case "fill":
		return fd.fill(ctx, get("id"), get("action"), form)
	case "undo":
		return call("undo", remote.Undo{Session: fd.session, Redo: get("redo") != ""})
	case "role":
		return call("role", remote.RoleOf{Session: fd.session, Name: get("name")})
	case "message":
		return call("agents.message", remote.AgentOf{Session: fd.session, Name: get("name"), Text: get("text")})
	case "stop":
		return call("agents.stop", remote.AgentOf{Session: fd.session, Name: get("name")})
	case "set":
		return call("set", remote.Set{Session: fd.session, Mode: get("mode"), Model: strings.TrimSpace(get("model"))})
	}
	return errUnclear
}

// hunks returns the hunks that are left ticked; nil if all are, or if the answer is a no.
func (fd *feed) hunks(id string, option int, ticked []string) (out []int, err error) {
	fd.read(func(t *transcript) {
		i := slices.IndexFunc(t.asks, func(a ask) bool { return a.id == id && a.kind == "approval_asked" })
		if i < 0 {
			return // the session says that it is closed
		}
		q := t.asks[i].approval
		if len(ticked) == len(q.Hunks) || option < 0 || option >= len(q.Options) || q.Options[option].Scope == tools.AnswerNo {
			return
		}
		if len(ticked) == 0 {
			err = errors.New("no hunk is ticked: refuse the change instead")
		}
		for _, word := range ticked {
			n, bad := strconv.Atoi(word)
			if bad != nil {
				err = errUnclear
			}
			out = append(out, n)
		}
	})
	return out, err
}

func (fd *feed) fill(ctx context.Context, id, action string, form map[string][]string) error {
	p := remote.Fill{Session: fd.session, ID: id, Action: action}
	var err error
	fd.read(func(t *transcript) {
		i := slices.IndexFunc(t.asks, func(a ask) bool { return a.id == id && a.kind == "form" })
		if i < 0 {
			err = errors.New("this question is closed")
		} else if action == "accept" {
			p.Values, err = filled(t.asks[i].form, form)
		}
	})
	if err != nil {
		return err
	}
	return fd.client.Call(ctx, "fill", p, nil)
}

// maxPictures bounds a prompt with its pictures, in bytes.
const maxPictures = 24 << 20

// picturesOf returns the pictures of a prompt, no larger than models take them.
func picturesOf(r *http.Request) (out []remote.Picture, err error) {
	if r.MultipartForm == nil {
		return nil, nil
	}
	for _, part := range r.MultipartForm.File["picture"] {
		if part.Size == 0 && part.Filename == "" { // a field that was left empty
			continue
		}
		f, err := part.Open()
		if err != nil {
			return nil, errUnclear
		}
		data, err := io.ReadAll(f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, errUnclear
		}
		name := text.Ellipsis(text.OneLine(text.Visible(part.Filename)), 40)
		mime, err := picture.Check(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		data, _ = picture.Fit(data, mime)
		out = append(out, remote.Picture{Name: name, Data: data})
	}
	return out, nil
}
