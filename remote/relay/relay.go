package relay

import (
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"jcode/internal/ptty"
	"jcode/remote"
)

// The bounds, in bytes: of what is kept for the first window, and of what a window may be behind with.
const (
	maxFirst  = 1 << 20
	maxBehind = 1 << 20
)

// typeWithin is how long the program may leave keys unread that fill the terminal's buffer.
const typeWithin = 2 * time.Second

// Terminal is the terminal that this process holds itself. Its methods are safe for concurrent use.
type Terminal struct {
	master *os.File
	quit   func()
	pump   sync.WaitGroup

	// Visible says whether somebody looks. True is said again when all must be drawn anew.
	visible chan bool
	said    chan string // what the person is to read who looks now
	came    chan struct{}

	mu    sync.Mutex
	first []byte // what was drawn before there was a window; nil after the first one
	shows []*queue
	ended bool
}

// New returns the terminal whose master is given, which it closes. quit ends the program as its user would.
func New(master *os.File, quit func()) *Terminal {
	t := &Terminal{master: master, quit: quit, visible: make(chan bool, 1), said: make(chan string, 1), came: make(chan struct{}, 1), first: []byte{}}
	t.pump.Go(t.read)
	return t
}

// Visible says to the program whether somebody looks, from the first change on; true again means that all must be drawn
// anew.
func (t *Terminal) Visible() <-chan bool { return t.visible }

// Said is what the program tells the person who looks: why the window shows it now.
func (t *Terminal) Said() <-chan string { return t.said }

// Came says that a window has come since it was read last.
func (t *Terminal) Came() <-chan struct{} { return t.came }

// tell replaces what the program has not heard yet. The caller holds the lock.
func (t *Terminal) tell(visible bool) {
	select {
	case <-t.visible:
	default:
	}
	t.visible <- visible
}

// read passes on what the program draws until its side is closed.
func (t *Terminal) read() {
	b := make([]byte, 32<<10)
	for {
		n, err := t.master.Read(b)
		if n > 0 {
			t.draw(b[:n])
		}
		if err != nil {
			return
		}
	}
}

func (t *Terminal) draw(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first != nil && len(t.first)+len(b) <= maxFirst {
		t.first = append(t.first, b...)
	}
	for _, s := range t.shows {
		s.draw(b)
	}
}

// Show implements remote.Terminal.
func (t *Terminal) Show(w remote.Window) (remote.Shown, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, errors.New("the session has just ended")
	}
	s := newQueue(w)
	if w.Role == remote.Control {
		for _, other := range slices.Clone(t.shows) {
			if other.window.Role == remote.Control {
				t.drop(other, remote.Left{Why: remote.LeftTaken, Name: w.Name})
			}
		}
		if err := ptty.SetSize(t.master, w.Size.Cols, w.Size.Rows); err != nil {
			return nil, err
		}
	}
	if t.first != nil { // it sees what the program asked the terminal, too
		s.draw(t.first)
		t.first = nil
	} else {
		t.tell(true)
	}
	if w.Said != "" {
		select {
		case <-t.said:
		default:
		}
		t.said <- w.Said
	}
	select {
	case t.came <- struct{}{}:
	default:
	}
	t.shows = append(t.shows, s)
	s.sends.Go(func() { s.send(t.anew, func() { t.take(s, remote.Left{Why: remote.LeftDetached}) }) })
	return shown{t, s}, nil
}

// anew has all drawn again.
func (t *Terminal) anew() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.shows) > 0 {
		t.tell(true)
	}
}

// take takes a window away, if it is still there.
func (t *Terminal) take(s *queue, l remote.Left) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(s, l)
}

// drop takes a window away. The caller holds the lock.
func (t *Terminal) drop(s *queue, l remote.Left) {
	n := len(t.shows)
	t.shows = slices.DeleteFunc(t.shows, func(other *queue) bool { return other == s })
	if len(t.shows) == n {
		return
	}
	s.end(l)
	if len(t.shows) == 0 && !t.ended {
		t.tell(false)
	}
}

// unseen reports whether no window ever came.
func (t *Terminal) unseen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first != nil
}

// Watched implements remote.Terminal.
func (t *Terminal) Watched() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.shows)
}

// Detach takes all windows away at the program's wish, and returns how many there were.
func (t *Terminal) Detach() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.Clone(t.shows)
	for _, s := range list {
		t.drop(s, remote.Left{Why: remote.LeftDetached})
	}
	return len(list)
}

// Elsewhere has the window that controls the program show another process in its place.
func (t *Terminal) Elsewhere(process int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range slices.Clone(t.shows) {
		if s.window.Role == remote.Control {
			t.drop(s, remote.Left{Why: remote.LeftElsewhere, Process: process})
		}
	}
}

// End implements remote.Terminal.
func (t *Terminal) End() { t.quit() }

// The time that the last that the program wrote may take to reach the windows, and that the first window may take to
// come: a program that ends at once has said why.
const (
	drainWithin = 2 * time.Second
	firstWithin = 3 * time.Second
	firstLook   = 5 * time.Millisecond
)

// Close ends the terminal after the program, which has let go of its side of it, and whose exit code the windows learn.
// All that it wrote is passed on first.
func (t *Terminal) Close(code int) {
	for until := time.Now().Add(firstWithin); t.unseen() && time.Now().Before(until); {
		time.Sleep(firstLook)
	}
	_ = t.master.SetReadDeadline(time.Now().Add(drainWithin)) // a child that kept it open does not hold this up
	t.pump.Wait()
	t.mu.Lock()
	t.ended = true
	list := slices.Clone(t.shows)
	for _, s := range list {
		t.drop(s, remote.Left{Why: remote.LeftEnded, Code: code})
	}
	t.mu.Unlock()
	for _, s := range list {
		s.sends.Wait()
	}
	_ = t.master.Close() // its program has ended
}
