//go:build linux || darwin

package page_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"jcode/agent/event"
	"jcode/page"
	"jcode/remote"
	"jcode/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

// conversation is a session without a model, and a list of what was done.
type conversation struct {
	*event.Broker
	mu    sync.Mutex
	state event.State
	past  []event.Event
	did   []string
}

func (c *conversation) do(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, fmt.Sprintf(format, args...))
}

// done returns what was done, and forgets it.
func (c *conversation) done() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := strings.Join(c.did, ", ")
	c.did = nil
	return out
}

func (c *conversation) State() event.State { return c.state }
func (c *conversation) Prompt(p event.Prompt) string {
	said := "prompt " + p.Text
	if n := len(p.Images); n > 0 {
		said += fmt.Sprintf(" + %d pictures", n)
	}
	c.do("%s", said)
	return "q1"
}

func (c *conversation) Unqueue(string) []event.Prompt      { c.do("unqueue"); return []event.Prompt{{}} }
func (c *conversation) Interrupt() bool                    { c.do("interrupt"); return true }
func (c *conversation) SetMode(m tools.Mode)               { c.do("mode %s", m) }
func (c *conversation) SetModel(name string) error         { c.do("model %s", name); return nil }
func (c *conversation) Notify(event.Level, string, ...any) {}
func (c *conversation) Answer(_ string, a tools.Answer) error {
	if a.Hunks != nil {
		a.Word = fmt.Sprint(a.Hunks)
	}
	c.do("answer %s %s", a.Scope, a.Word)
	return nil
}

func (c *conversation) Reply(_, text string) error { c.do("reply %s", text); return nil }
func (c *conversation) Fill(_ string, a tools.FormAnswer) error {
	c.do("fill %s %v", a.Action, a.Values)
	return nil
}

// stage is a page over one session, s1.
type stage struct {
	t       *testing.T
	conv    *conversation
	devices *page.Devices
	codes   *page.Codes
	server  *page.Server
	place   remote.Place
	origin  string
}

func newStage(t *testing.T, change ...func(*page.Options)) *stage {
	t.Helper()
	place := remote.Place{Dir: filepath.Join(t.TempDir(), "run")}
	s := &stage{t: t, place: place, devices: page.NewDevices(place), codes: page.NewCodes(place)}
	s.conv = &conversation{Broker: event.NewBroker(), state: event.State{Session: "s1", Mode: tools.ModeEdits, Model: "m", Title: "Fix it", Cwd: "/w/p"}}
	token, err := place.Token()
	if err != nil {
		t.Fatal(err)
	}
	socket, err := place.Listen()
	if err != nil {
		t.Fatal(err)
	}
	owner := remote.NewServer(remote.Options{Token: token, Jcode: "test", Pid: os.Getpid()})
	owner.Offer(remote.Offer{
		Conversation: s.conv, From: func(string) remote.Answers { return s.conv },
		Actions: actions{s.conv},
		History: func(_ context.Context, before int64, last int) ([]event.Event, int64, error) {
			return window(s.conv.past, before, last)
		},
	})
	opt := page.Options{Place: place, Devices: s.devices, Codes: s.codes}
	for _, f := range change {
		f(&opt)
	}
	s.server = page.NewServer(opt)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.origin = "http://" + l.Addr().String()
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.server.Serve(l); err != nil {
			t.Error(err)
		}
	})
	served.Go(func() { _ = owner.Serve(socket) }) // it ends with the listener
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.server.Close()
		_ = socket.Close() // as above
		owner.Close()
		s.conv.Close()
		served.Wait()
	})
	return s
}

// window returns the events of the last messages before one.
func window(all []event.Event, before int64, last int) (out []event.Event, first int64, err error) {
	var starts []int
	var seqs []int64
	for i, ev := range all {
		seq := int64(0)
		switch ev := ev.(type) {
		case event.TurnStart:
			seq = ev.Seq
		case event.AssistantMessage:
			seq = ev.Seq
		}
		if seq > 0 && before > 0 && seq >= before {
			all = all[:i]
			break
		}
		if seq > 0 {
			starts, seqs = append(starts, i), append(seqs, seq)
		}
	}
	if n := len(starts) - last; last > 0 && n > 0 {
		return all[starts[n]:], seqs[n], nil
	}
	return all, 0, nil
}

// device is a paired browser.
type device struct {
	*stage
	home string
	key  *http.Cookie
}

// pair pairs a browser with a code of a role.
func (s *stage) pair(role remote.Role) *device {
	s.t.Helper()
	res := s.try(s.code(role))
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 {
		s.t.Fatalf("pairing: %s", res.Status)
	}
	return &device{s, res.Header.Get("Location"), res.Cookies()[0]}
}

// code makes one.
func (s *stage) code(role remote.Role) string {
	s.t.Helper()
	code, err := s.codes.New(role)
	if err != nil {
		s.t.Error(err)
	}
	return code
}

// try sends a code.
func (s *stage) try(code string) *http.Response {
	s.t.Helper()
	return s.send(s.request(http.MethodPost, "/pair", url.Values{"code": {code}, "name": {"phone"}}))
}

// request is one of the page itself.
func (s *stage) request(method, path string, form url.Values) *http.Request {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", s.origin)
	}
	return req
}

// as adds the cookie of a device.
func (d *device) as(method, path string, form url.Values) *http.Request {
	d.t.Helper()
	req := d.request(method, path, form)
	req.AddCookie(d.key)
	return req
}

// send returns the answer with its body read, and follows nothing.
func (s *stage) send(req *http.Request) *http.Response {
	s.t.Helper()
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body = io.NopCloser(strings.NewReader(string(body)))
	return res
}

func (s *stage) body(res *http.Response) string {
	s.t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (d *device) session() string { return d.home + "s/s1" }

// show returns the page of the session.
func (d *device) show() string {
	d.t.Helper()
	res := d.send(d.as(http.MethodGet, d.session(), nil))
	if res.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %s", res.Status, d.body(res))
	}
	return d.body(res)
}

// stream is an open stream of a session.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	close func()
	last  string // number of the last event
}

func (d *device) stream(last string) *stream {
	d.t.Helper()
	ctx, end := context.WithTimeout(d.t.Context(), patience)
	req := d.as(http.MethodGet, d.session()+"/events", nil).WithContext(ctx)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		d.t.Fatal(err)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	return &stream{d.t, lines, func() { end(); _ = res.Body.Close() }, last} // it was cut off
}

// next returns the HTML of the next event; ok is false when the stream has ended.
func (s *stream) next() (html string, ok bool) {
	var b strings.Builder
	for s.lines.Scan() {
		line := s.lines.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			s.last = line[4:]
		case strings.HasPrefix(line, "data: "):
			b.WriteString(line[6:] + "\n")
		case line == "" && b.Len() > 0:
			return b.String(), true
		}
	}
	return "", false
}
