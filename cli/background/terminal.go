package backgroundcli

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"jcode/agent"
	"jcode/agent/roster"
	"jcode/cli/console"
	"jcode/internal/proc"
	"jcode/internal/ptty"
	"jcode/remote"
	"jcode/remote/relay"
	"jcode/tools/builtin"
)

// Command is the hidden subcommand with which jcode starts itself in the background; what follows is its
// ordinary command line.
const Command = "in-background"

// ErrEnded ends a chat in the background as its user does who quits.
var ErrEnded = errors.New("the session was ended from elsewhere")

// Terminal is this process where it has no terminal but the one that it holds itself.
type Terminal struct {
	screen   *relay.Terminal
	server   *remote.Server
	listener net.Listener
	serving  sync.WaitGroup

	mu    sync.Mutex
	leave context.CancelCauseFunc // of the chat, nil before
	ended bool
}

// NewTerminal takes over the terminal that this process inherited, and listens in a place for who looks at it.
func NewTerminal(place remote.Place, version string) (*Terminal, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, console.Usage("working folder: %w", err)
	}
	master, err := ptty.Inherited()
	if err != nil {
		return nil, err
	}
	token, err := place.Token()
	if err != nil {
		return nil, err
	}
	b := &Terminal{}
	if b.listener, err = place.Listen(); err != nil {
		return nil, err
	}
	b.screen = relay.New(master, b.end)
	b.server = remote.NewServer(remote.Options{
		Token: token, Jcode: version, Pid: os.Getpid(), Admit: remote.Admit(proc.Descends), Terminal: b.screen, Folder: dir,
	})
	b.serving.Go(func() { _ = b.server.Serve(b.listener) }) // it ends with the listener
	return b, nil
}

// Close ends the terminal after the program.
func (b *Terminal) Close(code int) {
	signal.Ignore(syscall.SIGHUP) // which comes as its terminal goes: the socket is to go first
	_ = ptty.Release()            // where it fails, the last that was written may come late
	b.screen.Close(code)
	_ = b.listener.Close() // its files are swept by the next start
	b.server.Close()
	b.serving.Wait()
}

// end ends the chat, now or as soon as there is one.
func (b *Terminal) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.leave != nil {
		b.leave(ErrEnded)
	}
}

// chats says how a chat is ended that runs from now on.
func (b *Terminal) chats(leave context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leave = leave
	if b.ended {
		leave(ErrEnded)
	}
}

// The time after which a session ends that does nothing and that nobody looks at, and how often that is looked at.
const (
	idleEnd  = 60 * time.Second
	idleLook = 5 * time.Second
)

// besideEnd is the time after which it ends while another terminal names it beside its own session, which it last did
// namedWithin ago.
const (
	besideEnd   = time.Hour
	namedWithin = 20 * time.Second
)

// Server is what speaks for this process.
func (b *Terminal) Server() *remote.Server { return b.server }

// Visible tells whether anybody looks; nil in a terminal of its own.
func (b *Terminal) Visible() <-chan bool {
	if b == nil {
		return nil
	}
	return b.screen.Visible()
}

// Said tells what the person is to read who looks now; nil in a terminal of its own.
func (b *Terminal) Said() <-chan string {
	if b == nil {
		return nil
	}
	return b.screen.Said()
}

// Detach has the window go that looks.
func (b *Terminal) Detach() { b.screen.Detach() }

// Chat is what the terminal needs to know of a chat that runs on it.
type Chat struct {
	Open func() *agent.Conversation // nil for none
	Jobs func() []builtin.Job
}

// Follow lets the windows see a chat, which leave ends, and ends one that rests. The returned function waits for that to
// be over.
func (b *Terminal) Follow(ctx context.Context, c Chat, leave context.CancelCauseFunc) (over func()) {
	if b == nil {
		return func() {}
	}
	b.chats(leave)
	ctx, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { b.resting(c).watch(ctx, idleEnd, idleLook, leave) })
	return func() {
		stop()
		watch.Wait()
	}
}

// resting ends a chat in the background that does nothing while nobody looks: it is continued from what is kept.
type resting struct {
	window  func() int // how many look
	watched func() int // how many programs follow it
	open    func() *agent.Conversation
	jobs    func() []builtin.Job
	named   func() time.Time // when another terminal named it beside its own
}

func (b *Terminal) resting(c Chat) resting {
	return resting{b.screen.Watched, b.server.Following, c.Open, c.Jobs, b.server.Beside}
}

func (r resting) idle() bool {
	if r.window() > 0 || r.watched() > 0 || slices.ContainsFunc(r.jobs(), func(j builtin.Job) bool { return j.Ended.IsZero() }) {
		return false
	}
	conv := r.open()
	if conv == nil {
		return true
	}
	st := conv.State()
	// A private conversation would be lost.
	return !st.Busy && !(conv.Private() && st.Session != "") && len(conv.Queue()) == 0 && !slices.ContainsFunc(conv.Agents().List(), roster.State.Running)
}

// watch ends the chat once it has been idle for a while.
func (r resting) watch(ctx context.Context, after, every time.Duration, leave context.CancelCauseFunc) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case now := <-tick.C:
			switch {
			case !r.idle():
				last = now
			case now.Sub(last) >= after && (now.Sub(r.named()) > namedWithin || now.Sub(last) >= besideEnd):
				leave(ErrEnded)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
