package cli

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"jcode/agent"
	"jcode/agent/roster"
	"jcode/cli/console"
	"jcode/internal/proc"
	"jcode/internal/ptty"
	"jcode/remote"
	"jcode/remote/relay"
	"jcode/tools/builtin"
	"jcode/tui/front"
)

// backgroundCommand is the hidden subcommand with which jcode starts itself in the background; what follows is its
// ordinary command line.
const backgroundCommand = "in-background"

// errEnded ends a chat in the background as its user does who quits.
var errEnded = errors.New("the session was ended from elsewhere")

// heldTerminal is this process where it has no terminal but the one that it holds itself.
type heldTerminal struct {
	*relay.Terminal
	server   *remote.Server
	listener net.Listener
	serving  sync.WaitGroup

	mu    sync.Mutex
	leave context.CancelCauseFunc // of the chat, nil before
	ended bool
}

// inBackground runs an ordinary command line on the terminal that this process inherited.
func inBackground(args []string, std Streams) int {
	b, err := newHeldTerminal(std)
	if err != nil {
		return report(err, std.Err)
	}
	std.held = b
	code := begin(args, std)
	b.close(code)
	return code
}

func newHeldTerminal(std Streams) (*heldTerminal, error) {
	paths, err := findPaths(std)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, console.Usage("working folder: %w", err)
	}
	master, err := ptty.Inherited()
	if err != nil {
		return nil, err
	}
	place := remotePlace(paths.Data)
	token, err := place.Token()
	if err != nil {
		return nil, err
	}
	b := &heldTerminal{}
	if b.listener, err = place.Listen(); err != nil {
		return nil, err
	}
	b.Terminal = relay.New(master, b.end)
	b.server = remote.NewServer(remote.Options{
		Token: token, Jcode: Version(), Pid: os.Getpid(), Admit: remote.Admit(proc.Descends), Terminal: b.Terminal, Folder: dir,
	})
	b.serving.Go(func() { _ = b.server.Serve(b.listener) }) // it ends with the listener
	return b, nil
}

// close ends the terminal after the program.
func (b *heldTerminal) close(code int) {
	_ = ptty.Release() // where it fails, the last that was written may come late
	b.Close(code)
	_ = b.listener.Close() // its files are swept by the next start
	b.server.Close()
	b.serving.Wait()
}

// end ends the chat, now or as soon as there is one.
func (b *heldTerminal) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.leave != nil {
		b.leave(errEnded)
	}
}

// chats says how a chat is ended that runs from now on.
func (b *heldTerminal) chats(leave context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leave = leave
	if b.ended {
		leave(errEnded)
	}
}

// The time after which a session ends that does nothing and that nobody looks at, and how often that is looked at.
const (
	idleEnd  = 60 * time.Second
	idleLook = 5 * time.Second
)

// follow lets the windows see a chat, which leave ends, and ends one that rests. The returned function waits for that to
// be over.
func (b *heldTerminal) follow(ctx context.Context, a *app, opt *front.Options, leave context.CancelCauseFunc) (over func()) {
	if b == nil {
		return func() {}
	}
	opt.Visible = b.Visible()
	b.chats(leave)
	ctx, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { newResting(a, b).watch(ctx, idleEnd, idleLook, leave) })
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
}

func newResting(a *app, b *heldTerminal) resting {
	return resting{b.Watched, b.server.Following, a.board.Open, a.shell.Jobs}
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
			case now.Sub(last) >= after:
				leave(errEnded)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
