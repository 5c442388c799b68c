package modeltest

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// player writes one reply to one connection.
type player struct {
	w       http.ResponseWriter
	ctx     context.Context
	stopped <-chan struct{}
	reply   Reply
	nextID  func() string

	in     protocol
	model  string
	prefix string // of a Messages request: what its thinking is bound to
	cached Cached
	keep   func(signature string, b issuedBlock, calls []string)
	custom map[string]bool // tools that take plain text
	ids    map[int]string  // ids that were generated for calls, by index
}

// signed remembers a thinking block with the calls that follow it.
func (p *player) signed(signature, thinking string) {
	var calls []string
	for _, c := range p.reply.calls {
		calls = append(calls, p.callID(c))
	}
	p.keep(signature, issuedBlock{thinking: thinking, prefix: p.prefix, model: p.model}, calls)
}

// callID returns the id of a call of the reply, generated once if it has none.
func (p *player) callID(c Call) string {
	if c.ID != "" {
		return c.ID
	}
	for i := range p.reply.calls {
		if p.reply.calls[i] == c {
			if p.ids == nil {
				p.ids = map[int]string{}
			}
			if p.ids[i] == "" {
				p.ids[i] = p.nextID()
			}
			return p.ids[i]
		}
	}
	return p.nextID()
}

func (p *player) play(stream bool) {
	if !p.wait(p.reply.delay) {
		return
	}
	for name, values := range p.reply.header {
		for _, v := range values {
			p.w.Header().Add(name, v)
		}
	}
	switch {
	case p.reply.status != 0:
		p.setType("application/json")
		p.w.WriteHeader(p.reply.status)
		p.write(p.errorBody())
	case p.reply.json || !stream:
		p.setType("application/json")
		p.write(marshal(p.completion()))
	default:
		p.setType("text/event-stream")
		p.stream()
	}
}

// errorBody is the body of a reply with a status, in the form of the protocol where the reply
// was made by Error or Refusal.
func (p *player) errorBody() string {
	var e struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	if p.in == messagesProtocol && json.Unmarshal([]byte(p.reply.body), &e) == nil && e.Error.Message != "" {
		return messagesError(e.Error.Type, e.Error.Message)
	}
	return p.reply.body
}

func (p *player) setType(t string) {
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", t)
	}
}

func (p *player) stream() {
	blocks := p.blocks()
	if p.reply.burst && p.reply.end == endRegular {
		p.write(strings.Join(blocks, ""))
		return
	}
	p.flush()
	var gap time.Duration
	if p.reply.rate > 0 {
		gap = time.Duration(float64(time.Second) / p.reply.rate)
	}
	for i, b := range blocks {
		if p.reply.end != endRegular && i == p.reply.endAfter {
			break
		}
		if ends(b) && !p.wait(p.reply.lateEnd) {
			return
		}
		if p.reply.told != nil {
			p.reply.told(b)
		}
		if !p.write(b) || !p.wait(gap) || !p.wait(p.reply.pauses[i+1]) {
			return
		}
	}
	p.finish()
}

// finish ends a stream that the script ends irregularly.
func (p *player) finish() {
	switch p.reply.end {
	case endRegular, endClean:
	case endCut:
		panic(http.ErrAbortHandler) // net/http closes the connection without the last chunk
	case endReset:
		p.reset()
	case endSilence:
		select {
		case <-p.ctx.Done():
		case <-p.stopped:
		}
	case endBeats:
		for p.wait(p.reply.beat) && p.write(": keep-alive"+p.newline()+p.newline()) {
		}
	}
}

func (p *player) reset() {
	conn, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the peer sees an ordinary end, which is also a cut
	}
	_ = conn.Close()
}

// write sends text in the reply's piece size, flushed; false when the client has gone.
func (p *player) write(s string) bool {
	n := p.reply.piece
	if n < 1 {
		n = len(s)
	}
	for len(s) > 0 {
		k := min(n, len(s))
		if _, err := io.WriteString(p.w, s[:k]); err != nil {
			return false
		}
		s = s[k:]
		p.flush()
	}
	return p.ctx.Err() == nil
}

func (p *player) flush() {
	// An error means that the client is gone, which the next write finds too.
	_ = http.NewResponseController(p.w).Flush()
}

// wait waits for d; false when the client is gone or the server stops.
func (p *player) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.ctx.Done():
		return false
	case <-p.stopped:
		return false
	}
}

func (p *player) newline() string {
	if p.reply.crlf {
		return "\r\n"
	}
	return "\n"
}

// blocks returns the stream chunk by chunk, each with its line ends.
func (p *player) blocks() []string {
	if p.reply.raw != "" {
		return []string{p.reply.raw}
	}
	payloads := p.reply.chunks
	switch {
	case payloads != nil:
	case p.in == messagesProtocol:
		payloads = p.messagesEvents()
	case p.in == responsesProtocol:
		payloads = p.responsesEvents()
	default:
		payloads = p.payloads()
	}
	if !p.reply.noDone && p.in == chatProtocol {
		payloads = append(append([]string{}, payloads...), "[DONE]")
	}
	nl := p.newline()
	out := make([]string, len(payloads))
	for i, payload := range payloads {
		var b strings.Builder
		if p.reply.comments {
			b.WriteString(": ping" + nl + nl + "data:" + nl + nl + nl + nl)
		}
		switch {
		case p.in != chatProtocol:
			b.WriteString("event: " + eventName(payload) + nl)
		case p.reply.events:
			b.WriteString("event: message" + nl + "id: 7" + nl)
		}
		b.WriteString("data: " + payload + nl + nl)
		out[i] = b.String()
	}
	return out
}
