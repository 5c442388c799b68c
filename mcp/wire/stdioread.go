package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// quietTime is how long a server may pause inside a message before the part that arrived is
	// examined.
	quietTime = 2 * time.Second
	// quietLines is how many such pauses end a line that never ends.
	quietLines = 3
)

func (c *stdioConn) read() {
	go c.watchExit()
	frames := newFrameReader(c.process.stdout, c.max)
	frames.limit = c.limitWait
	lines := assembler{owner: c}
	var pause pause
	for {
		f, err := frames.next(lines.holds())
		if errors.Is(err, errQuiet) {
			var usable bool
			if f, usable = c.paused(frames, &lines, &pause); !usable && !c.process.p.Ended() {
				continue
			}
		} else if err != nil {
			lines.giveUp()
			c.end(err)
			return
		}
		switch {
		case f.tooLong:
			lines.giveUp()
			if c.deliverTooLong(f) {
				continue
			}
		case f.size == 0: // a pause that is the end
			lines.giveUp()
		case lines.line(f.data, c.max):
			continue
		}
		c.end(nil)
		return
	}
}

// pause counts the pauses of a server inside the same line.
type pause struct{ size, count int }

// paused handles the start of a message whose rest does not arrive. It returns a line that only
// lacks its newline.
func (c *stdioConn) paused(frames *frameReader, lines *assembler, p *pause) (frame, bool) {
	if c.process.p.Ended() {
		f := frames.take()
		return f, f.size > 0
	}
	if f, whole := frames.takeValue(); whole {
		return f, true
	}
	size := frames.kept.size
	if size == 0 {
		lines.giveUp()
	}
	if p.size != size {
		*p = pause{size: size}
	}
	if p.count++; size > 0 && p.count == quietLines {
		c.tap.suspect(frames.kept.join(), nil)
	}
	return frame{}, false
}

// limitWait bounds the next wait for output where something unfinished was read, or the
// process has ended.
func (c *stdioConn) limitWait(unfinished bool) {
	if !unfinished && !c.limited {
		return // what bounds the end of the process needs no call
	}
	c.limited = unfinished
	var at time.Time
	if unfinished {
		at = time.Now().Add(quietTime)
	}
	_ = c.process.stdout.SetReadDeadline(at) // pipes have deadlines
	if c.process.p.Ended() {
		c.drain()
	}
}

// drain bounds reading after the end of the process: buffered output is available at once, and a
// grandchild may keep the pipe open forever.
func (c *stdioConn) drain() {
	c.exit.Do(func() { c.drained = time.Now().Add(drainTime) })
	_ = c.process.stdout.SetReadDeadline(c.drained) // pipes have deadlines
}

// watchExit waits for the end of the process itself: a grandchild may keep the pipe open.
func (c *stdioConn) watchExit() {
	select {
	case <-c.process.p.Done():
		c.drain()
	case <-c.ended:
	}
}

// awaited reports whether e answers a pending request.
func (c *stdioConn) awaited(e envelope) bool {
	if e.method != "" {
		return e.id == nil && strings.HasPrefix(e.method, "notifications/")
	}
	return e.id != nil && (e.result != nil || e.err != nil) && c.tap.isPending(IDKey(e.id))
}

// unusable logs output that is not a message, and checks whether it was meant as an answer.
func (c *stdioConn) unusable(data []byte) {
	if len(bytes.TrimSpace(data)) > 0 {
		c.log.skip(data)
		c.tap.suspect(data, nil)
	}
}

// failRequest answers a pending request with an error; it returns false when no more messages are wanted.
func (c *stdioConn) failRequest(key string, err error) bool {
	if !c.tap.isPending(key) {
		return true
	}
	e := c.tap.response(envelope{id: json.RawMessage(key), err: json.RawMessage(`{}`)})
	id, fault := e.messageID()
	return fault != nil || c.push(&jsonrpc.Response{ID: id, Error: err})
}

func (c *stdioConn) deliverTooLong(f frame) bool {
	c.log.Note("a message of %d bytes was discarded (limit %d)", f.size, c.max)
	return f.id == nil || c.failRequest(IDKey(f.id), tooLargeError{c.max})
}
