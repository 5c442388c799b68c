package cli

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	past "jcode/agent/history"
	backgroundcli "jcode/cli/background"
	"jcode/cli/core"
	"jcode/internal/proc"
	"jcode/remote"
	"jcode/session"
)

// windows lets other programs of the user follow the open conversation, on a socket of this process.
type windows struct {
	place     remote.Place
	history   session.History
	say       func(level event.Level, format string, args ...any)
	watchOnly bool                    // nobody answers questions here
	own       remote.Where            // where the session is shown without others
	behind    *backgroundcli.Terminal // what speaks for this process already; nil opens a socket
	lasting   bool                    // answers from there may outlast the session
	actions   windowActions

	mu       sync.Mutex
	conv     *agent.Conversation
	server   *remote.Server // nil before begin
	withdraw func()         // ends the offer of conv; nil without one
	closed   bool
	serving  sync.WaitGroup
	listener net.Listener
}

func newWindows(a *app) *windows {
	w := &windows{
		place: remote.In(a.paths.Data), history: a.store.History(), say: a.board.Say,
		behind: a.std.held, watchOnly: a.flags.once(), own: ownWindow(a), lasting: a.config.RemoteAnswers == "all",
		actions: newWindowActions(a),
	}
	a.onClose(w.close)
	return w
}

// ownWindow says where the session of an app is shown.
func ownWindow(a *app) remote.Where {
	switch {
	case a.inEditor:
		return remote.InEditor
	case a.flags.once() || a.flags.Print:
		return remote.InRun
	}
	return remote.InTerminal
}

// extension returns what it adds to jcode.
func (w *windows) extension() core.Extension {
	return core.Extension{Begin: w.begin, Opened: w.opened}
}

// begin opens the socket in the background.
func (w *windows) begin() {
	if w.behind != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.server = w.behind.Server()
		w.offer()
		return
	}
	w.serving.Go(func() {
		// A single run is over before somebody misses it.
		if err := w.serve(); err != nil && !w.watchOnly && !errors.Is(err, errors.ErrUnsupported) {
			w.say(event.LevelWarn, "other programs can't follow this session: %v", err)
		}
	})
}

// serve answers until close.
func (w *windows) serve() error {
	token, err := w.place.Token()
	if err != nil {
		return err
	}
	l, err := w.place.Listen()
	if err != nil {
		return err
	}
	server := remote.NewServer(remote.Options{Token: token, Jcode: Version(), Pid: os.Getpid(), Admit: remote.Admit(proc.Descends)})
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
func (w *windows) opened(conv *agent.Conversation, _ bool) {
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
func (w *windows) offer() {
	if w.server == nil || w.conv == nil || w.closed {
		return
	}
	conv := w.conv
	w.withdraw = w.server.Offer(remote.Offer{
		Conversation: conv, From: func(name string) remote.Answers { return conv.From(name) },
		History: func(ctx context.Context, before int64, last int) ([]event.Event, int64, error) {
			rows, err := w.history.In(ctx, conv.ID(), session.Window{Before: before, Last: last + min(last, 1)})
			first := int64(0)
			if last > 0 && len(rows) > last { // one more than wanted: there are earlier ones
				rows = rows[1:]
				first = rows[0].Seq
			}
			return past.Events(rows), first, err
		},
		Actions: w.actions.of(conv), Where: w.own, WatchOnly: w.watchOnly, Lasting: w.lasting, Hidden: conv.Private,
	})
}

// close ends the socket and all connections.
func (w *windows) close() {
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
