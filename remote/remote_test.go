package remote_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/remote"
)

// TestStrangersLearnNothing: without the token, without hello, hidden sessions, nonsense, messages without an end.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()
	hidden := true
	s := newStage(t, func(o *remote.Offer) { o.Hidden = func() bool { return hidden } })
	talk := func(send string) string {
		nc, err := net.Dial("unix", s.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = nc.Close() }()
		_ = nc.SetDeadline(time.Now().Add(patience))
		go func() { _, _ = nc.Write([]byte(send)) }() // the server may hang up before the end
		answer, err := bufio.NewReader(nc).ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.60q: the server waits for more", send)
		}
		return answer
	}
	for _, send := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"sessions"}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"attach","params":{"session":"s1","role":"watch"}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"token":"` + strings.Repeat("0", 64) + `","version":1}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"rpc.serverInfo"}` + "\n",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		strings.Repeat("x", 5<<20),
		"\x00\xff\n",
	} {
		if got := talk(send); strings.Contains(got, `"result"`) || strings.Contains(got, "s1") && !strings.Contains(got, "error") {
			t.Errorf("%.60q is answered %q", send, got)
		}
	}
	c := s.connect("known")
	var list []remote.Listed
	if err := c.Call(t.Context(), "sessions", nil, &list); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	c.refusal("attach", remote.Attach{Session: "s1", Role: remote.Watch})
}

// TestWhoDoesNotReadHoldsUpNothing: it is told to begin again, and whoever reads misses nothing.
func TestWhoDoesNotReadHoldsUpNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	reader := s.connect("reader")
	reader.attach(remote.Watch, nil)
	nc, err := net.Dial("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	in := bufio.NewReader(nc)
	for _, send := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1,"token":"` + s.token + `","name":"deaf"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"attach","params":{"session":"s1","role":"watch"}}`,
	} {
		if _, err := nc.Write([]byte(send + "\n")); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, `"result"`) {
			t.Fatal(got, err)
		}
	}
	const n = 25_000 // more than a ring holds
	for i := range n {
		s.conv.Emit(event.CallStart{ID: fmt.Sprint(i)})
		if i%5000 == 4999 {
			s.conv.Emit(event.StepStart{Step: i})
			reader.until("step_start")
		}
	}
	s.conv.Emit(event.TurnEnd{})
	reader.until("turn_end")
	for { // it reads what the socket held, and then that it was too slow
		got, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got, `"why":"reload"`) {
			break
		}
		if strings.Contains(got, "turn_end") {
			t.Skip("the socket of this system holds everything")
		}
	}
}

// TestAMessageThatIsStoredBeforeItIsToldComesOnce: whoever attaches in between has it as an event.
func TestAMessageThatIsStoredBeforeItIsToldComesOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.conv.Emit(event.TurnStart{Seq: 1, Prompt: "hi"})
	s.conv.history = []event.Event{event.TurnStart{Seq: 1, Prompt: "hi"}, event.AssistantMessage{Seq: 2, Text: "hello"}, event.CallStart{ID: "c"}}
	c := s.connect("reader")
	at := c.attach(remote.Watch, nil)
	if len(at.History) != 1 || !strings.Contains(string(at.History[0]), "turn_start") {
		t.Errorf("the history is %s", at.History)
	}
	s.conv.Emit(event.AssistantMessage{Seq: 2, Text: "hello"})
	if got := c.until("assistant"); len(got) != 1 {
		t.Errorf("it comes with %v", got)
	}
	if again := s.connect("another").attach(remote.Watch, nil); len(again.History) != 3 {
		t.Errorf("the history afterwards is %s", again.History)
	}
}

// TestASessionThatEndsSaysSo to whoever follows it.
func TestASessionThatEndsSaysSo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	c := s.connect("reader")
	c.attach(remote.Watch, nil)
	s.conv.Emit(event.TurnEnd{})
	s.conv.Close()
	c.until("turn_end")
	select {
	case e := <-c.ended:
		if e.Why != remote.WhyClosed {
			t.Error(e)
		}
	case <-time.After(patience):
		t.Error("nothing was said")
	}
}

// TestWhoFollowsASessionHearsThatItIsClosedBeforeTheServerEnds, however many follow it, and though another connection
// never says hello.
func TestWhoFollowsASessionHearsThatItIsClosedBeforeTheServerEnds(t *testing.T) {
	t.Parallel()
	for range 30 {
		s := newStage(t)
		silent, err := net.Dial("unix", s.socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = silent.Close() }) // the server has hung up
		readers := []*client{s.connect("one"), s.connect("two"), s.connect("three")}
		for _, c := range readers {
			c.attach(remote.Watch, nil)
		}
		s.server.Close()
		for _, c := range readers {
			select {
			case e := <-c.ended:
				if e.Why != remote.WhyClosed {
					t.Error(e)
				}
			case <-c.stopped:
				select {
				case <-c.ended:
				default:
					t.Fatal("the connection ended without a word")
				}
			case <-time.After(patience):
				t.Fatal("nothing was said")
			}
		}
	}
}

// TestWhatAKillLeftIsSwept by the next process, and what lives is left alone.
func TestWhatAKillLeftIsSwept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	dead := filepath.Join(s.place.Dir, "999999999.json")
	socket := filepath.Join(s.place.Dir, "999999999.sock")
	if len(socket) > 100 { // where it would lie then
		short, err := os.MkdirTemp("/tmp", "jcode-")
		if err != nil {
			t.Skip(err)
		}
		socket = filepath.Join(short, "s")
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dead, fmt.Appendf(nil, `{"name":"999999999","pid":999999999,"socket":%q}`, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := s.place.Listen()
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{dead, socket} {
		if _, err := os.Lstat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := os.Lstat(s.socket); err != nil {
		t.Error("the socket of a process that lives is gone")
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// TestSocketOfALongPath is elsewhere, and found all the same.
func TestSocketOfALongPath(t *testing.T) {
	t.Parallel()
	place := remote.Place{Dir: filepath.Join(t.TempDir(), strings.Repeat("long", 30), "run")}
	if _, err := place.Token(); err != nil {
		t.Fatal(err)
	}
	l, err := place.Listen()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(l.Addr().String())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(l.Addr().String())); err == nil {
		t.Error("its folder is left behind")
	}
}

// TestConnectionAtTheCloseIsNotAnswered: whoever comes when the server has closed, though its listener has not.
func TestConnectionAtTheCloseIsNotAnswered(t *testing.T) {
	t.Parallel()
	asked := false
	server := remote.NewServer(remote.Options{Token: "token", Admit: func(net.Conn) error { asked = true; return nil }})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	server.Close()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = nc.SetDeadline(time.Now().Add(patience))
	if n, err := nc.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("a closed server sent %d bytes (%v)", n, err)
	}
	_ = nc.Close()
	_ = l.Close()
	<-served
	if asked {
		t.Error("a closed server considered a connection")
	}
}

// TestWhoLooksForASessionHearsOnlyOfItsProcess: the connections to those that do not have it end unheard.
func TestWhoLooksForASessionHearsOnlyOfItsProcess(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	stopped := make(chan error, 1) // nobody reads it: a second word would be waited for
	h := remote.Handlers{Stopped: func(err error) { stopped <- err }}
	for range 3 {
		if _, err := s.place.Open(t.Context(), "looker", "elsewhere", h); !errors.Is(err, remote.ErrNoSession) {
			t.Fatal(err)
		}
	}
	if len(stopped) > 0 {
		t.Error("the end of a connection to another process was heard")
	}
	client, err := s.place.Open(t.Context(), "looker", "s1", h)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if len(stopped) != 1 {
		t.Error("the end of the connection was not heard")
	}
}
