package windowscli

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	past "jcode/agent/history"
	"jcode/cli/core"
	"jcode/internal/proc"
	"jcode/remote"
	"jcode/session"
)

// Windows lets other programs of the user follow the open conversation, on a socket of this process.
type Windows struct {
	opt Options

	mu       sync.Mutex
	conv     *agent.Conversation
	server   *remote.Server // nil before begin
	withdraw func()         // ends the offer of conv; nil without one
	closed   bool
	serving  sync.WaitGroup
	listener net.Listener
}

// Options say what is offered, and where.
type Options struct {
	Place   remote.Place
	Jcode   string // the program's version
	History session.History
	Say     func(level event.Level, format string, args ...any)
	// Server speaks for this process already; nil opens a socket.
	Server    *remote.Server
	Own       remote.Where // where the session is shown without others
	WatchOnly bool         // nobody answers questions here
	Lasting   bool         // answers from there may outlast the session
	Actions   Actions
}

// New returns what offers conversations. It is closed after them.
func New(o Options) *Windows { return &Windows{opt: o} }

// Extension returns what it adds to jcode.
func (w *Windows) Extension() core.Extension {
	return core.Extension{Begin: w.begin, Opened: w.opened}
}

// begin opens the socket in the background.
func (w *Windows) begin() {
	if w.opt.Server != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.server = w.opt.Server
		w.offer()
		return
	}
	w.serving.Go(func() {
		// A single run is over before somebody misses it.
		if err := w.serve(); err != nil && !w.opt.WatchOnly && !errors.Is(err, errors.ErrUnsupported) {
			w.opt.Say(event.LevelWarn, "other programs can't follow this session: %v", err)
		}
	})
}

// serve answers until Close.
func (w *Windows) serve() error {
	token, err := w.opt.Place.Token()
	if err != nil {
		return err
	}
	l, err := w.opt.Place.Listen()
	if err != nil {
		return err
	}
	server := remote.NewServer(remote.Options{Token: token, Jcode: w.opt.Jcode, Pid: os.Getpid(), Admit: remote.Admit(proc.Descends)})
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return l.Close()
	}
	w.listener, w.server = l, server
	w.offer()
	w.mu.Unlock()
	_ = server.Serve(l) // it ends with the listener
	return nil
}

// opened offers a conversation in place of the one before.
func (w *Windows) opened(conv *agent.Conversation, _ bool) {
	w.mu.Lock()
	withdraw := w.withdraw
	w.conv, w.withdraw = conv, nil
	w.offer()
	w.mu.Unlock()
	if withdraw != nil {
		withdraw()
	}
}

// offer lets others see the conversation, once there are one and a server. The caller holds the lock.
func (w *Windows) offer() {
	if w.server == nil || w.conv == nil || w.closed {
		return
	}
	conv := w.conv
	w.withdraw = w.server.Offer(remote.Offer{
		Conversation: conv, From: func(name string) remote.Answers { return conv.From(name) },
		History: func(ctx context.Context, before int64, last int) ([]event.Event, int64, error) {
			rows, err := w.opt.History.In(ctx, conv.ID(), session.Window{Before: before, Last: last + min(last, 1)})
			first := int64(0)
			if last > 0 && len(rows) > last { // one more than wanted: there are earlier ones
				rows = rows[1:]
				first = rows[0].Seq
			}
			return past.Events(rows), first, err
		},
		Actions: w.opt.Actions.Of(conv), Where: w.opt.Own, WatchOnly: w.opt.WatchOnly, Lasting: w.opt.Lasting, Hidden: conv.Private,
	})
}

// Close ends the socket and all connections.
func (w *Windows) Close() {
	w.mu.Lock()
	w.closed = true
	server, l, withdraw := w.server, w.listener, w.withdraw
	w.withdraw = nil
	w.mu.Unlock()
	if withdraw != nil {
		withdraw()
	}
	if l != nil {
		_ = l.Close() // its files are swept by the next start
		server.Close()
	}
	w.serving.Wait()
}
