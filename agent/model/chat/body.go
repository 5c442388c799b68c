package chat

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"jcode/agent/model/endpoint"
)

// maxLine bounds one payload of a stream, and a whole answer that arrives as one JSON object.
const maxLine = 64 << 20

// normalBody turns what a server sends into a stream that go-openai can read: one `data:` line per chunk,
// only deltas in OpenAI's own form, one index per tool call. Usage goes to the exchange. It reads each byte
// once. Consecutive deltas of the same type that arrive together leave as one chunk, so the later stages cost
// per network read and not per token.
type normalBody struct {
	src io.ReadCloser
	x   *exchange

	began bool // the first bytes were checked

	in   []byte // read but not yet processed: an unfinished line
	buf  []byte // the buffer behind in
	out  []byte // ready to be read
	sent int    // how much of out has been read

	open     []byte // beginning of a payload that continues on the next line
	openJSON balance
	bare     bool // payloads come without `data:`: plain JSON in reply to a stream request

	chunk chunk
	calls slots
	pend  pending
	pace  pacer

	said    int  // bytes of all deltas
	closing bool // nothing more will be read
	err     error
}

// pending collects deltas of the same type.
type pending struct {
	kind pendKind
	call int
	text []byte // text, reasoning or arguments: JSON text without its quotes
	id   []byte
	name []byte
}

type pendKind int

const (
	pendNothing pendKind = iota
	pendText
	pendReasoning
	pendCall
)

func newNormalBody(resp *http.Response, x *exchange) *normalBody {
	return &normalBody{src: resp.Body, x: x, buf: make([]byte, 32<<10), bare: endpoint.IsJSON(resp)}
}

// Close closes the response.
func (b *normalBody) Close() error { return b.src.Close() }

// Read returns the normal form.
func (b *normalBody) Read(p []byte) (int, error) {
	for b.sent == len(b.out) {
		if b.closing {
			return 0, b.err
		}
		b.out, b.sent = b.out[:0], 0
		b.fill()
	}
	n := copy(p, b.out[b.sent:])
	b.sent += n
	return n, nil
}

// fill reads once from the network and processes every complete line.
func (b *normalBody) fill() {
	b.pace.wait()
	if len(b.in)+len(b.in)/2 > cap(b.buf) {
		b.buf = append(make([]byte, 0, 2*cap(b.buf)), b.in...)[:2*cap(b.buf)]
	} else if len(b.in) > 0 && &b.in[0] != &b.buf[0] {
		copy(b.buf, b.in)
	}
	have := len(b.in)
	n, err := b.src.Read(b.buf[have:])
	b.pace.got(n)
	b.in = b.buf[:have+n]
	if !b.began && len(b.in) >= len(byteOrderMark) {
		b.began = true
		if bytes.HasPrefix(b.in, byteOrderMark) {
			n := copy(b.in, b.in[len(byteOrderMark):])
			b.in, have = b.in[:n], 0
		}
	}
	fed := b.lines(have)
	if n > 0 {
		b.x.Silent.Heard(fed)
	}
	switch {
	case err != nil && !b.closing:
		b.finish(err)
	case len(b.in)+len(b.open) > maxLine && !b.closing:
		b.end(endpoint.ErrTooLarge)
	}
	b.flush(b.closing)
}

// lines processes the complete lines; from is where the new bytes begin. It reports whether anything but
// comments arrived.
func (b *normalBody) lines(from int) (fed bool) {
	start := 0
	for search := from; !b.closing; search = start {
		nl := bytes.IndexByte(b.in[search:], '\n')
		if nl < 0 {
			break
		}
		line := b.in[start : search+nl]
		start = search + nl + 1
		fed = b.line(bytes.TrimRight(line, "\r")) || fed
	}
	b.in = b.in[start:]
	return fed || b.bare && len(b.in) > 0
}

// line processes one line; it returns false for comments and empty lines.
func (b *normalBody) line(line []byte) bool {
	if b.bare && len(b.open) == 0 && (bytes.HasPrefix(line, dataField) || isField(line)) {
		b.bare = false // an event stream with the wrong content type
	}
	if b.bare {
		b.goOn(line)
		return true
	}
	payload, isData := bytes.CutPrefix(line, dataField)
	switch {
	case isData:
		payload = bytes.TrimLeft(payload, " \t")
		if len(payload) == 0 {
			return false
		}
		b.payload(payload)
		return true
	case len(line) == 0:
		b.giveUp()
		return false
	case line[0] == '{':
		b.bare = !b.x.Started
		b.goOn(line)
		return true
	case line[0] == ':', isField(line):
		return false
	}
	if said, ok := bytes.CutPrefix(line, errorField); ok { // llama.cpp, in the middle of a stream
		b.end(b.x.Faulted(said))
		return true
	}
	b.x.Junk(line)
	return false
}

var (
	dataField  = []byte("data:")
	errorField = []byte("error:")
)

// byteOrderMark may precede the first line of an event stream; it is not part of it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// isField recognises the other fields of an event stream.
func isField(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(":"))
	return ok && (string(name) == "event" || string(name) == "id" || string(name) == "retry")
}

// payload processes the content of a `data:` line.
func (b *normalBody) payload(p []byte) {
	if len(b.open) > 0 {
		b.goOn(p)
		return
	}
	if string(bytes.TrimSpace(p)) == "[DONE]" {
		b.x.sawDone = true
		b.drain()
		b.end(io.EOF)
		return
	}
	if errors.Is(b.take(p), errShort) {
		b.goOn(p)
	}
}

// goOn appends a line to an unfinished payload.
func (b *normalBody) goOn(line []byte) {
	if len(b.open) == 0 {
		b.openJSON = balance{}
	} else {
		b.open = append(b.open, '\n')
	}
	b.open = append(b.open, line...)
	if b.openJSON.feed(line) && len(bytes.TrimSpace(b.open)) > 0 {
		whole := b.open
		b.open = nil
		if err := b.take(whole); errors.Is(err, errShort) {
			b.x.Junk(whole) // its brackets close, but it is not JSON
		}
	}
}

// giveUp drops a payload that never became complete.
func (b *normalBody) giveUp() {
	if len(b.open) > 0 {
		b.x.Junk(b.open)
		b.open = b.open[:0]
	}
}

// take processes one whole payload.
func (b *normalBody) take(p []byte) error {
	c := &b.chunk
	if err := c.parse(p); err != nil {
		if !errors.Is(err, errShort) {
			b.x.Junk(p)
		}
		return err
	}
	if len(c.model) > 0 {
		b.x.model = append(b.x.model[:0], c.model...)
	}
	if tier := string(c.tier); tier != "" && tier != "default" && tier != "auto" {
		b.x.tier = tier
	}
	b.deltas(c)
	if b.said > endpoint.MaxAnswer {
		b.end(endpoint.ErrTooLarge)
		return nil
	}
	if c.hasUsage {
		b.x.usage, b.x.counted = c.usage, true
	}
	if len(c.finish) > 0 {
		b.x.Finished(string(c.finish))
	}
	b.x.sawDone = b.x.sawDone || b.bare && c.whole
	switch {
	case c.fault != nil:
		b.end(b.x.Faulted(c.fault))
	case !c.known:
		b.x.Junk(p)
	default:
		b.x.Started = true
	}
	return nil
}

// finish processes what is left at the end of the input.
func (b *normalBody) finish(err error) {
	if len(b.in) > 0 {
		rest := bytes.TrimRight(b.in, "\r")
		b.in = b.in[:0]
		b.line(rest)
	}
	if len(b.open) > 0 && !b.closing {
		b.giveUp()
	}
	if !b.closing {
		b.end(err)
	}
}

// end writes the last chunk and remembers how the stream ended.
func (b *normalBody) end(err error) {
	b.closing, b.err = true, err
	b.flush(true)
}

// drainLimit is how long to wait for the end of a finished response, so that its connection can be reused: no
// longer than a new connection with its TLS handshake would take.
const drainLimit = 50 * time.Millisecond

// drain reads on after [DONE] to the end of the body: a connection whose response was not read to its end is
// closed, and the next request would have to open a new one.
func (b *normalBody) drain() {
	guard := time.AfterFunc(drainLimit, func() { _ = b.src.Close() })
	defer guard.Stop()
	var rest [512]byte
	for {
		if _, err := b.src.Read(rest[:]); err != nil {
			return
		}
	}
}
