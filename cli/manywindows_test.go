//go:build linux || darwin

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
	"jcode/remote"
)

// window is a program that follows a session over the socket, and loses its line now and then. It answers questions if
// it may, and checks that numbers follow each other.
type window struct {
	t       *testing.T
	place   remote.Place
	name    string
	role    remote.Role
	session string
	ready   chan struct{} // closed at the first attach, if not nil

	mu     sync.Mutex
	last   uint64
	lost   int
	closed map[string][]string // who answered, by question
	open   map[string]bool     // questions without an answer
}

// follow follows the session until ctx ends.
func (w *window) follow(ctx context.Context) {
	first := true
	for ctx.Err() == nil {
		if !w.once(ctx, first) {
			return
		}
		first = false
	}
}

// once follows over one connection, which ends after a random number of events.
func (w *window) once(ctx context.Context, first bool) bool {
	lines, gone := make(chan json.RawMessage, 10_000), make(chan struct{})
	client, err := w.place.Open(ctx, w.name, w.session, remote.Handlers{
		Event: func(ev remote.Event) { lines <- ev.Event }, Stopped: func(error) { close(gone) },
		Ended: func(e remote.Ended) {
			if ctx.Err() == nil {
				w.t.Errorf("%s is told that the session is gone: %s", w.name, e.Why)
			}
		},
	})
	if err != nil {
		if ctx.Err() == nil {
			w.t.Errorf("%s: %v", w.name, err)
		}
		return false
	}
	defer client.Close()
	p := remote.Attach{Session: w.session, Role: w.role}
	if !first {
		w.mu.Lock()
		after := w.last
		w.mu.Unlock()
		p.After = &after
	}
	var at remote.Attached
	if err := client.Call(ctx, "attach", p, &at); err != nil {
		w.t.Logf("%s: attach (first %v): %v", w.name, first, err)
		return ctx.Err() == nil
	}
	w.t.Logf("%s attached %v", w.name, at.Last)
	if !first && !at.Resumed {
		w.t.Errorf("%s does not go on", w.name)
	}
	w.mu.Lock()
	w.last = at.Last
	w.mu.Unlock()
	if first && w.ready != nil {
		close(w.ready)
	}
	for question := range w.open { // the answer may have been lost with the line
		w.answer(ctx, client, question)
	}
	for _, line := range at.Now {
		w.take(ctx, client, line)
	}
	for n := 1 + rand.IntN(40); n > 0; n-- {
		select {
		case line := <-lines:
			w.take(ctx, client, line)
		case <-gone:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	}
	w.mu.Lock()
	w.lost++
	w.mu.Unlock()
	return true
}

func (w *window) take(ctx context.Context, client *remote.Client, line json.RawMessage) {
	var ev struct {
		Type, ID, By string
		N, To        uint64
	}
	if err := json.Unmarshal(line, &ev); err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	if ev.N > 0 {
		if ev.N != w.last+1 {
			w.t.Errorf("%s: number %d follows %d", w.name, ev.N, w.last)
		}
		w.last = max(ev.N, ev.To)
	}
	if ev.Type == "approval_closed" {
		w.closed[ev.ID] = append(w.closed[ev.ID], ev.By)
		delete(w.open, ev.ID)
	}
	if ev.Type == "approval_asked" {
		w.open[ev.ID] = true
	}
	w.mu.Unlock()
	if ev.Type == "approval_asked" {
		w.answer(ctx, client, ev.ID)
	}
}

// answer answers a question, if this window may. Others may be faster.
func (w *window) answer(ctx context.Context, client *remote.Client, question string) {
	if w.role == remote.Control {
		go func() {
			_ = client.Call(ctx, "answer", remote.Answer{Session: w.session, ID: question, Option: 0}, nil)
		}()
	}
}

// TestManyWindowsOnOneSession: a terminal that is attached and torn away, a page, two programs and a watcher; each loses
// its line at random points. Numbers have no gap and no double, each question has one answer with a name, and all know
// the same.
func TestManyWindowsOnOneSession(t *testing.T) {
	t.Parallel()
	const turns = 5
	var replies []modeltest.Reply
	for i := range turns {
		replies = append(replies, modeltest.Calls(tool(fmt.Sprint("c", i), "exec", map[string]any{"cmd": fmt.Sprintf("touch made%d", i)})),
			modeltest.Text(fmt.Sprintf("Made file %d. ", i), "And ", "some ", "more ", "words.").Rate(100))
	}
	c := background(t, append([]modeltest.Reply{modeltest.Text("Hello.")}, replies...)...)
	c.start("--detachable")
	c.say("hi")
	c.wait("Hello.")
	c.idle()
	if err := c.HangUp(); err != nil { // the terminal is torn away
		t.Fatal(err)
	}
	place := remote.Place{Dir: filepath.Join(c.home, "run")}
	all, err := place.Processes(t.Context(), "test")
	if err != nil || len(all) != 1 || len(all[0].Sessions) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	id := all[0].Sessions[0].SessionID
	s := c.serve()
	session := s.opened(s.pair("phone"))
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	windows := []*window{{name: "one", role: remote.Control}, {name: "two", role: remote.Control}, {name: "watcher", role: remote.Watch}}
	var following sync.WaitGroup
	for _, w := range windows {
		w.t, w.place, w.session, w.closed, w.open = t, place, id, map[string][]string{}, map[string]bool{}
		following.Go(func() { w.follow(ctx) })
	}
	following.Go(func() { // the page, whose browser is torn away, too
		for last := ""; ctx.Err() == nil; {
			last = s.piece(ctx, session, last, 1+rand.IntN(10))
		}
	})
	for i := range turns {
		s.body(s.post(session+"/prompt", url.Values{"text": {fmt.Sprint("make file ", i)}}), http.StatusOK)
		d := c.another(100, 30, "hi", "attach") // a terminal comes in the middle, and is torn away
		if i%2 == 0 {
			if err := d.HangUp(); err != nil {
				t.Error(err)
			}
		}
		eventually.Within(t, patience, fmt.Sprintf("turn %d is on the page", i), func() bool {
			return strings.Contains(s.get(session), fmt.Sprintf("Made file %d. And some more words.", i))
		}, func() string { return s.get(session) })
	}
	settled(windows, turns)
	stop()
	following.Wait()
	agree(t, windows, turns, "one", "two")
	page := s.get(session)
	for i := range turns {
		if n := strings.Count(page, fmt.Sprintf("Made file %d.", i)); n != 1 {
			t.Errorf("answer %d is on the page %d times", i, n)
		}
	}
}

// settled waits until all windows know of so many answers.
func settled(windows []*window, answers int) {
	eventually.Holds(patience, func() bool { // agree says what is missing
		return !slices.ContainsFunc(windows, func(w *window) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.closed) < answers
		})
	})
}

// agree checks that windows know of the same answers, one for each question, by one of some names.
func agree(t *testing.T, windows []*window, answers int, names ...string) {
	t.Helper()
	for _, w := range windows {
		t.Logf("%s lost its line %d times", w.name, w.lost)
		if len(w.closed) != answers {
			t.Errorf("%s knows of %d answers", w.name, len(w.closed))
		}
		for question, by := range w.closed {
			if len(by) != 1 || !slices.Contains(names, by[0]) || !slices.Equal(by, windows[0].closed[question]) {
				t.Errorf("%s: question %s is answered by %q", w.name, question, by)
			}
		}
	}
}

// TestAnEditorAndOtherWindowsOnOneSession: the session is an editor's. A program answers as well, a watcher and a page look
// on and lose their lines; each question has one answer. Then the editor is torn away: whoever looks on is told, and
// the editor that comes back finds everything once.
func TestAnEditorAndOtherWindowsOnOneSession(t *testing.T) {
	t.Parallel()
	const turns = 4
	replies := []modeltest.Reply{modeltest.Text("Hello.")}
	for i := range turns {
		replies = append(replies, modeltest.Calls(tool(fmt.Sprint("c", i), "exec", map[string]any{"cmd": fmt.Sprintf("touch made%d", i)})),
			modeltest.Text(fmt.Sprintf("Made file %d. ", i), "And ", "some ", "more ", "words.").Rate(100))
	}
	c := newChat(t, replies...)
	c.used()
	s := c.serve()
	token := c.token("zed")
	e, _, err := s.dialACP(token)
	if err != nil {
		t.Fatal(err)
	}
	e.allow = "allow_once"
	id := e.begin(c.dir)
	turn := func(i int) {
		if m := e.prompt(id, fmt.Sprint("make file ", i)); m.Error != nil || !strings.Contains(string(m.Result), "end_turn") {
			t.Fatalf("%+v %s", m.Error, m.Result)
		}
	}
	turn(0) // from its first message on others find it
	place := remote.Place{Dir: filepath.Join(c.home, "run")}
	session := s.opened(s.pair("phone"))
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	windows := []*window{{name: "one", role: remote.Control}, {name: "watcher", role: remote.Watch}}
	var following sync.WaitGroup
	for _, w := range windows {
		w.t, w.place, w.session, w.closed, w.open, w.ready = t, place, id, map[string][]string{}, map[string]bool{}, make(chan struct{})
		following.Go(func() { w.follow(ctx) })
	}
	following.Go(func() {
		for last := ""; ctx.Err() == nil; {
			last = s.piece(ctx, session, last, 1+rand.IntN(10))
		}
	})
	for _, w := range windows {
		<-w.ready
	}
	for i := 1; i < turns; i++ {
		turn(i)
	}
	settled(windows, turns-1)
	stop()
	following.Wait()
	agree(t, windows, turns-1, "", "one")

	told := make(chan string, 1)
	looker, err := place.Open(t.Context(), "looker", id, remote.Handlers{Ended: func(e remote.Ended) { told <- e.Why }, Stopped: func(error) { told <- whyLost }})
	if err != nil {
		t.Fatal(err)
	}
	defer looker.Close()
	if err := looker.Call(t.Context(), "attach", remote.Attach{Session: id, Role: remote.Watch}, nil); err != nil {
		t.Fatal(err)
	}
	_ = e.ws.CloseNow() // torn away
	select {
	case why := <-told:
		if why != remote.WhyClosed {
			t.Errorf("who looks on is told %q", why)
		}
	case <-time.After(patience):
		t.Fatal("who looks on is not told")
	}
	again, _, err := s.dialACP(token)
	if err != nil {
		t.Fatal(err)
	}
	if m := again.call("initialize", map[string]any{"protocolVersion": 1}); m.Error != nil {
		t.Fatalf("%+v", m.Error)
	}
	if m := again.call("session/load", map[string]any{"sessionId": id, "cwd": c.dir, "mcpServers": []any{}}); m.Error != nil {
		t.Fatalf("%+v", m.Error)
	}
	var all strings.Builder
	for _, m := range again.seen {
		all.Write(m.Params)
	}
	for i := range turns {
		if n := strings.Count(all.String(), fmt.Sprintf("Made file %d.", i)); n != 1 {
			t.Errorf("answer %d comes back %d times", i, n)
		}
	}
}

// whyLost is what a test takes down where a connection ends without a word.
const whyLost = "lost"

// piece reads some events of a session's stream after a number, and returns the last number.
func (s *served) piece(ctx context.Context, session, last string, events int) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, session+"/events", nil)
	if err != nil {
		s.t.Error(err)
		return last
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return last // it is over
	}
	defer res.Body.Close()
	buf := make([]byte, 64<<10)
	for ; events > 0; events-- {
		n, err := res.Body.Read(buf)
		for line := range strings.Lines(string(buf[:n])) {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				last = strings.TrimSpace(id)
			}
		}
		if err != nil {
			break
		}
	}
	return last
}

// TestAnOldClientIsToldAndANewOneToo: whoever speaks another version of the session protocol hears which one there is.
func TestAnOldClientIsToldAndANewOneToo(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.start()
	c.say("hi")
	c.wait("Hello.")
	c.idle()
	place := remote.Place{Dir: filepath.Join(c.home, "run")}
	client, err := place.Process(t.Context(), c.Pid(), "test", remote.Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if client.Welcome.Version != remote.Version || client.Welcome.Jcode == "" {
		t.Errorf("%+v", client.Welcome)
	}
	if err := client.Call(t.Context(), "a method of tomorrow", nil, nil); err == nil || !strings.Contains(err.Error(), client.Welcome.Jcode) || !strings.Contains(err.Error(), "a method of tomorrow") {
		t.Errorf("what an old owner does not know: %v", err)
	}
	var list []remote.Listed
	if err := client.Call(t.Context(), "sessions", map[string]any{"a field of tomorrow": true}, &list); err != nil || len(list) != 1 {
		t.Errorf("a field that it does not know: %v", err)
	}
	c.quit()
}
