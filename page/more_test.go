//go:build linux || darwin

package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/agent/event/wire"
	"jcode/page"
	"jcode/remote"
)

// actions are those of the session, and note what was done.
type actions struct{ c *conversation }

func (a actions) Undo(context.Context) (string, error) { a.c.do("undo"); return "Undid", nil }
func (a actions) Redo(context.Context) (string, error) { a.c.do("redo"); return "Redid", nil }
func (a actions) Rewind(_ context.Context, seq int64, what string) (string, string, error) {
	a.c.do("rewind %d %s", seq, what)
	a.c.Emit(event.Rewound{From: seq})
	return "Rewound", "the <old> prompt", nil
}

func (a actions) SetRole(_ context.Context, name string) error { a.c.do("role %s", name); return nil }

func (a actions) Choices(context.Context) (remote.Choices, error) {
	return remote.Choices{Roles: []remote.Choice{{Name: "reviewer", Info: "<looks>"}}, Models: []remote.Choice{{Name: "big"}}}, nil
}

func (a actions) Files(_ context.Context, query string, _ int) ([]string, error) {
	return []string{"src/" + query + ".go"}, nil
}
func (a actions) Output(name string) string { return "<b>output of " + name }
func (a actions) Message(_ context.Context, name, said string) error {
	a.c.do("message %s %s", name, said)
	return nil
}
func (a actions) Stop(_ context.Context, name string) error { a.c.do("stop %s", name); return nil }

// stored is one session that is not open, k1.
type stored struct{}

var errNone = errors.New("there is none")

func (stored) List(context.Context) ([]page.Kept, error) {
	return []page.Kept{{ID: "k1", Title: "Kept", Folder: "/w/old"}}, nil
}

func (stored) Read(_ context.Context, id string) (page.Kept, []json.RawMessage, error) {
	if id != "k1" {
		return page.Kept{}, nil, errNone
	}
	line := wire.Encode(wire.Of(event.TurnStart{Seq: 1, Prompt: "an old needle"}))
	return page.Kept{ID: "k1", Title: "Kept", Folder: "/w/old"}, []json.RawMessage{line}, nil
}

func (stored) Search(_ context.Context, words string) ([]page.Found, error) {
	if words != "needle" {
		return nil, nil
	}
	return []page.Found{{Kept: page.Kept{ID: "k1", Title: "Kept"}, Snippet: "an old <needle>"}}, nil
}

func (stored) Export(_ context.Context, id, format string) (string, error) {
	if id != "k1" {
		return "", errNone
	}
	return "<html><script>alert(1)</script>" + format, nil
}
func (stored) Folders(context.Context) ([]string, error) { return []string{"/w/old"}, nil }

func newFullStage(t *testing.T) *stage {
	t.Helper()
	var s *stage
	s = newStage(t, func(o *page.Options) {
		o.Stored = stored{}
		o.Begin = func(_ context.Context, folder, prompt string) (string, error) {
			s.conv.do("begin %s: %s", folder, prompt)
			return "s1", nil
		}
	})
	s.conv.past = []event.Event{
		event.TurnStart{Seq: 1, Prompt: "find the <needle>"}, event.AssistantMessage{Seq: 2, Text: "No **Needle** here."}, event.TurnStart{Seq: 3, Prompt: "again"},
	}
	return s
}

// fetch returns a page below the session's.
func (d *device) fetch(path string) *http.Response {
	d.t.Helper()
	return d.send(d.as(http.MethodGet, d.session()+path, nil))
}

// do sends a form below the session's page, and returns the status.
func (d *device) do(what string, form url.Values) *http.Response {
	d.t.Helper()
	return d.send(d.as(http.MethodPost, d.session()+"/"+what, form))
}

// TestWhatCommandsDoThePageDoes: undo, redo, rewind with the prompt back in the input, role, agents; without scripts.
func TestWhatCommandsDoThePageDoes(t *testing.T) {
	t.Parallel()
	s := newFullStage(t)
	d := s.pair(remote.Control)
	if html := d.show(); !strings.Contains(html, d.session()+"/rewind?seq=1") || !strings.Contains(html, "/more") {
		t.Error(html)
	}
	more := s.body(d.fetch("/more"))
	for _, want := range []string{`<option value="reviewer">reviewer: &lt;looks&gt;`, `<option value="big">`, `action="` + d.session() + `/undo"`, `/export/html"`} {
		if !strings.Contains(more, want) {
			t.Errorf("no %s in %s", want, more)
		}
	}
	for _, step := range []struct {
		what string
		form url.Values
		want string
	}{
		{"undo", nil, "undo"},
		{"undo", url.Values{"redo": {"yes"}}, "redo"},
		{"role", url.Values{"name": {"reviewer"}}, "role reviewer"},
		{"message", url.Values{"name": {"ann"}, "text": {"hurry"}}, "message ann hurry"},
		{"stop", url.Values{"name": {"ann"}}, "stop ann"},
	} {
		if res := d.do(step.what, step.form); res.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %s %s", step.what, res.Status, s.body(res))
		}
		if got := s.conv.done(); got != step.want {
			t.Errorf("%s: %q", step.what, got)
		}
	}
	if ask := s.body(d.fetch("/rewind?seq=3")); !strings.Contains(ask, "again") || !strings.Contains(ask, `name="what" value="both"`) {
		t.Error(ask)
	}
	res := d.do("rewind", url.Values{"seq": {"3"}, "what": {"both"}})
	if html := s.body(res); res.StatusCode != http.StatusOK || !strings.Contains(html, "the &lt;old&gt; prompt</textarea>") || strings.Contains(html, "rewind?seq=3") {
		t.Errorf("%s %s", res.Status, html)
	}
	if got := s.conv.done(); got != "rewind 3 both" {
		t.Error(got)
	}
	req := d.as(http.MethodPost, d.session()+"/rewind", url.Values{"seq": {"1"}})
	req.Header.Set("X-Jcode", "form")
	if res := d.send(req); s.body(res) != "the <old> prompt" || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%s %v", res.Status, res.Header)
	}
	if html := s.body(d.fetch("/agents/ann")); !strings.Contains(html, "&lt;b&gt;output of ann") {
		t.Error(html)
	}
	if got := s.body(d.fetch("/files?q=ma")); strings.TrimSpace(got) != `["src/ma.go"]` {
		t.Error(got)
	}
}

// TestAWatcherIsOfferedAndDoesNothing of what changes something.
func TestAWatcherIsOfferedAndDoesNothing(t *testing.T) {
	t.Parallel()
	s := newFullStage(t)
	d := s.pair(remote.Watch)
	if html := d.show() + s.body(d.fetch("/more")) + s.body(d.fetch("/agents/ann")); strings.Contains(html, "rewind?") || strings.Contains(html, `method="post"`) {
		t.Error(html)
	}
	for what, form := range map[string]url.Values{
		"undo": nil, "rewind": {"seq": {"1"}}, "role": {"name": {"reviewer"}}, "message": {"name": {"ann"}, "text": {"x"}}, "stop": {"name": {"ann"}},
	} {
		if res := d.do(what, form); res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", what, res.Status)
		}
	}
	for _, path := range []string{"/files?q=x", "/rewind?seq=1"} {
		if res := d.fetch(path); res.StatusCode != http.StatusConflict {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	if res := s.send(d.as(http.MethodPost, d.home+"new", url.Values{"folder": {"/w/old"}, "text": {"x"}})); res.StatusCode != http.StatusForbidden {
		t.Errorf("new: %s", res.Status)
	}
	if got := s.conv.done(); got != "" {
		t.Errorf("done: %s", got)
	}
}

// TestFindAndTakeAlong: in a session, in all, and as a document that is none of the page's.
func TestFindAndTakeAlong(t *testing.T) {
	t.Parallel()
	s := newFullStage(t)
	d := s.pair(remote.Watch)
	html := s.body(d.fetch("/search?q=needle"))
	if !strings.Contains(html, "find the &lt;<mark>needle</mark>&gt;") || !strings.Contains(html, "<mark>Needle</mark>") || !strings.Contains(html, `href="`+d.session()+`?at=b1#b1"`) {
		t.Error(html)
	}
	if html := s.body(d.fetch("?at=b1")); !strings.Contains(html, `id="b1"`) || !strings.Contains(html, "The end of the session") {
		t.Error(html)
	}
	if html := s.body(s.send(d.as(http.MethodGet, d.home+"s/k1/search?q=NEEDLE", nil))); !strings.Contains(html, "an old <mark>needle</mark>") {
		t.Error(html)
	}
	if html := s.body(s.send(d.as(http.MethodGet, d.home+"search?q=needle", nil))); !strings.Contains(html, "an old &lt;needle&gt;") || !strings.Contains(html, d.home+"s/k1") {
		t.Error(html)
	}
	for _, format := range []string{"md", "html", "json"} {
		res := s.send(d.as(http.MethodGet, d.home+"s/k1/export/"+format, nil))
		h := res.Header
		if !strings.HasSuffix(s.body(res), format) || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", format, h)
		}
	}
	for _, path := range []string{"s/k1/export/exe", "s/none/export/md", "s/none/search?q=x"} {
		if res := s.send(d.as(http.MethodGet, d.home+path, nil)); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}

// TestANewSessionBeginsWhereJcodeWasUsed and nowhere else.
func TestANewSessionBeginsWhereJcodeWasUsed(t *testing.T) {
	t.Parallel()
	s := newFullStage(t)
	d := s.pair(remote.Control)
	if html := s.body(s.send(d.as(http.MethodGet, d.home+"new", nil))); !strings.Contains(html, "<option>/w/p</option><option>/w/old</option>") {
		t.Error(html)
	}
	res := s.send(d.as(http.MethodPost, d.home+"new", url.Values{"folder": {"/w/old"}, "text": {"go"}}))
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != d.session() || s.conv.done() != "begin /w/old: go" {
		t.Errorf("%s %s", res.Status, res.Header.Get("Location"))
	}
	for _, form := range []url.Values{{"folder": {"/etc"}, "text": {"go"}}, {"folder": {"/w/old/../.."}, "text": {"go"}}, {"folder": {"/w/old"}, "text": {" "}}} {
		if res := s.send(d.as(http.MethodPost, d.home+"new", form)); res.StatusCode != http.StatusConflict {
			t.Errorf("%v: %s", form, res.Status)
		}
	}
	if got := s.conv.done(); got != "" {
		t.Errorf("done: %s", got)
	}
}

// multi is a prompt with files.
func (d *device) multi(text string, files map[string][]byte) *http.Response {
	d.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("text", text); err != nil {
		d.t.Fatal(err)
	}
	for name, data := range files {
		p, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="picture"; filename=%q`, name)}, "Content-Type": {"image/png"}})
		if err == nil {
			_, err = p.Write(data)
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		d.t.Fatal(err)
	}
	req := d.as(http.MethodPost, d.session()+"/prompt", nil)
	req.Body, req.ContentLength = http.NoBody, 0
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, req.URL.String(), &b)
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Origin", d.origin)
	req.AddCookie(d.key)
	return d.send(req)
}

// TestPicturesGoAlongWithAPrompt, and what is none is refused by its name.
func TestPicturesGoAlongWithAPrompt(t *testing.T) {
	t.Parallel()
	s := newFullStage(t)
	d := s.pair(remote.Control)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3000, 2))); err != nil {
		t.Fatal(err)
	}
	if res := d.multi("look at this", map[string][]byte{"shot.png": b.Bytes()}); res.StatusCode != http.StatusSeeOther {
		t.Errorf("%s %s", res.Status, s.body(res))
	}
	if got := s.conv.done(); got != "prompt look at this + 1 pictures" {
		t.Error(got)
	}
	res := d.multi("look", map[string][]byte{"bad.svg": []byte("<svg onload='alert(1)'/>")})
	if html := s.body(res); res.StatusCode != http.StatusConflict || !strings.Contains(html, "bad.svg: it is not a PNG") {
		t.Errorf("%s %s", res.Status, html)
	}
	if res := d.multi("look", map[string][]byte{"big.png": make([]byte, 25<<20)}); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("25 MB: %s", res.Status)
	}
	if got := s.conv.done(); got != "" {
		t.Errorf("done: %s", got)
	}
}
