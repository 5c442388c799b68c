package remote

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of a server.
const (
	helloWithin    = 30 * time.Second // a machine may be very busy
	maxConnections = 256
	// farewellWithin is how long the end of a server waits for clients to hear that their session is closed.
	farewellWithin = 500 * time.Millisecond
)

// Options describe a server.
type Options struct {
	Token string // what clients must say
	Jcode string // the program's version
	Pid   int
	// Terminal is that of a process in the background, nil for others; Folder is where it began.
	Terminal Terminal
	Folder   string
	// Admit reports whether a connection's other end may speak at all.
	Admit func(net.Conn) error
}

// Server offers the sessions of this process. Its methods are safe for concurrent use.
type Server struct {
	opt   Options
	ctx   context.Context
	stop  context.CancelFunc
	conns sync.WaitGroup
	slots chan struct{}
	// following counts the sessions that clients follow; unfollowed is told when that is one less.
	following  atomic.Int32
	unfollowed chan struct{}
	// beside is when a terminal last named the sessions beside its own, in nanoseconds since 1970.
	beside atomic.Int64

	mu      sync.Mutex
	closing bool
	hubs    []*hub
}

// NewServer returns a server without sessions. The caller closes it.
func NewServer(opt Options) *Server {
	ctx, stop := context.WithCancel(context.Background())
	return &Server{opt: opt, ctx: ctx, stop: stop, slots: make(chan struct{}, maxConnections), unfollowed: make(chan struct{}, 1)}
}

// Offer lets others see a session until the returned function is called.
func (s *Server) Offer(o Offer) (withdraw func()) {
	h := &hub{offer: o, ceiling: o.State().Mode}
	s.mu.Lock()
	s.hubs = append(s.hubs, h)
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		s.hubs = slices.DeleteFunc(s.hubs, func(other *hub) bool { return other == h })
		s.mu.Unlock()
		h.end()
	})
}

// offered returns the sessions that may be seen.
func (s *Server) offered() []*hub {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.hubs), func(h *hub) bool { return h.over() || h.offer.Hidden != nil && h.offer.Hidden() })
}

// find returns an open session by its ID, nil for none.
func (s *Server) find(session string) *hub {
	if session == "" {
		return nil
	}
	for _, h := range s.offered() {
		if h.offer.State().Session == session {
			return h
		}
	}
	return nil
}

// Following returns how many sessions clients follow, each counted for itself.
func (s *Server) Following() int { return int(s.following.Load()) }

// Beside returns when a terminal last named the sessions of this process beside its own; the zero time for never.
func (s *Server) Beside() time.Time {
	if at := s.beside.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// Serve answers connections until the listener is closed.
func (s *Server) Serve(l net.Listener) error {
	for {
		nc, err := l.Accept()
		if err != nil {
			return err
		}
		select {
		case s.slots <- struct{}{}:
		default: // too many: what is not answered is closed
			_ = nc.Close()
			continue
		}
		s.answer(nc)
	}
}

// answer serves a connection in the background; one that comes while the server closes is closed.
func (s *Server) answer(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock() // Close waits only for what was begun before it
	if s.closing {
		<-s.slots
		_ = nc.Close()
		return
	}
	s.conns.Go(func() {
		defer func() { <-s.slots }()
		defer func() { _ = nc.Close() }() // closed twice at the most
		if s.opt.Admit != nil && s.opt.Admit(nc) != nil {
			return
		}
		s.serve(s.ctx, nc)
	})
}

// Close ends all sessions and connections and waits for them. Who follows a session hears first that it is closed.
func (s *Server) Close() {
	s.mu.Lock()
	s.closing = true
	hubs := s.hubs
	s.hubs = nil
	s.mu.Unlock()
	for _, h := range hubs {
		h.end()
	}
	s.farewell()
	s.stop()
	s.conns.Wait()
}

// farewell waits until nobody follows a session any more, but not for a client that reads nothing.
func (s *Server) farewell() {
	late := time.NewTimer(farewellWithin)
	defer late.Stop()
	for s.following.Load() > 0 {
		select {
		case <-s.unfollowed:
		case <-late.C:
			return
		}
	}
}

// unfollow counts a session that a client no longer follows.
func (s *Server) unfollow() {
	s.following.Add(-1)
	select {
	case s.unfollowed <- struct{}{}:
	default: // it has been told already, and will look
	}
}
