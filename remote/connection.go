package remote

import (
	"bufio"
	"context"
	"crypto/subtle"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"jcode/internal/text"
	"jcode/tools"
)

// The errors of the protocol, besides those of JSON-RPC.
const (
	codeRefused jrpc2.Code = 1 // not allowed
	codeGone    jrpc2.Code = 2 // no such session or question
	codeBusy    jrpc2.Code = 3 // not while a turn runs
)

func refused(format string, args ...any) error { return jrpc2.Errorf(codeRefused, format, args...) }
func gone(format string, args ...any) error    { return jrpc2.Errorf(codeGone, format, args...) }
func busy(format string, args ...any) error    { return jrpc2.Errorf(codeBusy, format, args...) }
func invalid(format string, args ...any) error {
	return jrpc2.Errorf(jrpc2.InvalidParams, format, args...)
}

// connection is one client.
type connection struct {
	server *Server
	rpc    *jrpc2.Server
	stop   context.CancelFunc
	ctx    context.Context
	sends  sync.WaitGroup
	window window
	own    *hub // the one session of its owner's program; nil for everybody else

	mu       sync.Mutex
	name     string // "" before hello
	attached map[string]attachment
}

// attachment is a session that a client follows.
type attachment struct {
	hub  *hub
	role Role
	end  context.CancelFunc
}

// serve answers a client until it or the server ends.
func (s *Server) serve(ctx context.Context, nc net.Conn) {
	ctx, stop := context.WithCancel(ctx)
	c := &connection{server: s, stop: stop, ctx: ctx, attached: map[string]attachment{}}
	defer c.sends.Wait()
	defer c.window.leave()
	defer stop()
	c.rpc = jrpc2.NewServer(methods(c.methods()), &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: 4, NewContext: func() context.Context { return ctx },
	})
	unhear := context.AfterFunc(ctx, func() { _ = nc.Close() }) // ends a read and a write that wait
	defer unhear()
	late := time.AfterFunc(helloWithin, func() {
		if !c.known() {
			stop()
		}
	})
	defer late.Stop()
	c.rpc.Start(&lines{conn: nc, in: bufio.NewReader(nc), max: c.mostAtOnce})
	_ = c.rpc.Wait() // how a client leaves is its own affair
}

// action does what a method says, whose parameters read decodes.
type action func(ctx context.Context, read func(params any) error) (any, error)

// methods are actions by name.
type methods map[string]action

// Assign returns the handler of a method.
func (m methods) Assign(_ context.Context, method string) jrpc2.Handler {
	do, known := m[method]
	if !known {
		return nil
	}
	return func(ctx context.Context, req *jrpc2.Request) (any, error) {
		return do(ctx, func(params any) error {
			if !req.HasParams() {
				return nil
			}
			return req.UnmarshalParams(params)
		})
	}
}

// take makes an action of a function with parameters.
func take[P any](c *connection, f func(ctx context.Context, p P) (any, error)) action {
	return func(ctx context.Context, read func(params any) error) (any, error) {
		var p P
		if _, first := any(p).(Hello); !first && !c.known() {
			return nil, refused("say hello first")
		}
		if err := read(&p); err != nil {
			return nil, err
		}
		return f(ctx, p)
	}
}

func (c *connection) methods() methods {
	return methods{
		"hello": take(c, c.hello), "sessions": take(c, c.sessions), "beside": take(c, c.beside), "attach": take(c, c.attach), "history": take(c, c.history), "detach": take(c, c.detach), "interrupt": take(c, c.interrupt),
		"prompt": take(c, c.prompt), "unqueue": take(c, c.unqueue), "answer": take(c, c.answer), "reply": take(c, c.reply), "fill": take(c, c.fill), "set": take(c, c.set),
		"undo": take(c, c.undo), "rewind": take(c, c.rewind), "role": take(c, c.role), "choices": take(c, c.choices), "files": take(c, c.files),
		"agents.output": take(c, c.agentOutput), "agents.message": take(c, c.agentMessage), "agents.stop": take(c, c.agentStop),
		"show": take(c, c.show), "type": take(c, c.keys), "size": take(c, c.resize), "hide": take(c, c.hide), "end": take(c, c.end),
	}
}

func (c *connection) known() bool { return c.own != nil || c.who() != "" }

// mostAtOnce bounds a message of the client, in bytes.
func (c *connection) mostAtOnce() int {
	if c.known() {
		return maxFromClient
	}
	return maxFromStranger
}

func (c *connection) who() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

// maxName bounds a client's name, in bytes.
const maxName = 40

func (c *connection) hello(_ context.Context, p Hello) (any, error) {
	if subtle.ConstantTimeCompare([]byte(p.Token), []byte(c.server.opt.Token)) != 1 {
		return nil, refused("the token is not that of this user's jcode")
	}
	name := text.Cut(text.Visible(strings.TrimSpace(p.Name)), maxName)
	if name == "" {
		name = "another program"
	}
	c.mu.Lock()
	c.name = name
	c.mu.Unlock()
	out := Welcome{Version: Version, Jcode: c.server.opt.Jcode, Pid: c.server.opt.Pid}
	if t := c.server.opt.Terminal; t != nil {
		out.Background = &Background{Folder: c.server.opt.Folder, Windows: t.Watched()}
	}
	return out, nil
}

func (c *connection) sessions(context.Context, struct{}) (any, error) {
	out := []Listed{}
	for _, h := range c.server.offered() {
		st := h.offer.State()
		if st.Session != "" { // before its first message a session is not there
			out = append(out, Listed{State: *stateOf(st), Asks: len(h.waiting()), Where: h.offer.Where, Role: h.offer.role(Control)})
		}
	}
	return out, nil
}

// beside answers as sessions does, for a terminal that names them beside its own.
func (c *connection) beside(ctx context.Context, p struct{}) (any, error) {
	c.server.beside.Store(time.Now().UnixNano())
	return c.sessions(ctx, p)
}

func (c *connection) attach(ctx context.Context, p Attach) (any, error) {
	h := c.server.find(p.Session)
	if h == nil {
		return nil, gone("no session %q is open in this process", p.Session)
	}
	if p.Role != Watch && p.Role != Control {
		return nil, invalid("role is %q: it is watch or control", p.Role)
	}
	if p.Recent < 0 {
		return nil, invalid("recent is %d: it is a number of messages", p.Recent)
	}
	out, err := h.attach(ctx, p)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(c.ctx)
	c.mu.Lock()
	if old, ok := c.attached[p.Session]; ok {
		old.end()
	}
	c.attached[p.Session] = attachment{hub: h, role: out.Role, end: end}
	c.mu.Unlock()
	c.server.following.Add(1)
	c.sends.Go(func() {
		defer c.server.unfollow()
		c.follow(ctx, p.Session, h.begin(), out.Last)
	})
	return out, nil
}

// history returns earlier messages to a client that has only the last ones.
func (c *connection) history(ctx context.Context, p Earlier) (any, error) {
	h, err := c.followed(p.Session)
	if err != nil {
		return nil, err
	}
	events, _, err := h.offer.History(ctx, p.Before, 0)
	return Past{encoded(events)}, err
}

// follow sends the lines after a number until the client or the session ends.
func (c *connection) follow(ctx context.Context, session string, r *ring, last uint64) {
	for {
		list, ok, more, closed := r.after(last)
		if !ok {
			_ = c.rpc.Notify(ctx, NoteEnded, Ended{session, WhyReload}) // an error ends the connection
			return
		}
		for _, line := range list {
			last++
			if line == nil {
				continue
			}
			if ctx.Err() != nil || c.rpc.Notify(ctx, NoteEvent, Event{session, line}) != nil {
				return
			}
		}
		switch {
		case len(list) > 0:
		case closed:
			_ = c.rpc.Notify(ctx, NoteEnded, Ended{session, WhyClosed}) // as above
			return
		default:
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (c *connection) detach(_ context.Context, p Of) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.attached[p.Session]; ok {
		at.end()
		delete(c.attached, p.Session)
	}
	return struct{}{}, nil
}

// followed returns a session that this client follows.
func (c *connection) followed(session string) (*hub, error) {
	if c.own != nil {
		return c.own, nil
	}
	c.mu.Lock()
	at, ok := c.attached[session]
	c.mu.Unlock()
	if !ok || c.server.find(session) != at.hub {
		return nil, gone("attach session %q first", session)
	}
	return at.hub, nil
}

// controlled returns a session that this client controls.
func (c *connection) controlled(session string) (*hub, error) {
	if c.own != nil {
		return c.own, nil
	}
	c.mu.Lock()
	at, ok := c.attached[session]
	c.mu.Unlock()
	switch {
	case !ok || c.server.find(session) != at.hub:
		return nil, gone("attach session %q first", session)
	case at.role != Control || at.hub.offer.role(Control) != Control:
		return nil, refused("this client watches session %s: it may change nothing", session)
	}
	return at.hub, nil
}

// maxPrompt bounds a prompt, in bytes.
const maxPrompt = 1 << 20

func (c *connection) prompt(_ context.Context, p Prompt) (any, error) {
	h, err := c.controlled(p.Session)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Text) == "" && len(p.Pictures) == 0 || len(p.Text) > maxPrompt {
		return nil, invalid("a prompt has between 1 and %d bytes", maxPrompt)
	}
	prompt, err := promptOf(p)
	if err != nil {
		return nil, err
	}
	c.tell(h, "The next prompt comes from %s.", c.who())
	return Queued{Session: p.Session, ID: h.offer.Prompt(prompt)}, nil
}

func (c *connection) unqueue(_ context.Context, p Queued) (any, error) {
	h, err := c.controlled(p.Session)
	if err != nil {
		return nil, err
	}
	if len(h.offer.Unqueue(p.ID)) == 0 && p.ID != "" {
		return nil, gone("no prompt %q waits", p.ID)
	}
	return struct{}{}, nil
}

func (c *connection) interrupt(_ context.Context, p Of) (any, error) {
	h, err := c.controlled(p.Session)
	if err != nil {
		return nil, err
	}
	if h.offer.Interrupt() {
		c.tell(h, "%s stopped the turn.", c.who())
	}
	return struct{}{}, nil
}

func (c *connection) set(_ context.Context, p Set) (any, error) {
	h, err := c.controlled(p.Session)
	if err != nil {
		return nil, err
	}
	if p.Mode == "" && p.Model == "" {
		return nil, invalid("set needs a mode or a model")
	}
	if p.Mode != "" {
		set := h.setMode
		if c.own != nil {
			set = h.setAnyMode
		}
		if err := set(tools.Mode(p.Mode)); err != nil {
			return nil, err
		}
		c.tell(h, "%s set mode %s.", c.who(), p.Mode)
	}
	if p.Model != "" {
		if err := h.offer.SetModel(p.Model); err != nil {
			return nil, invalid("%v", err)
		}
		c.tell(h, "%s set model %s.", c.who(), text.Visible(p.Model))
	}
	return struct{}{}, nil
}
