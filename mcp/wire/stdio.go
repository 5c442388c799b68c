package wire

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdioTransport is the protocol library's transport over a process that jcode owns.
type stdioTransport struct{ conn *stdioConn }

// Connect returns the connection, once.
func (t stdioTransport) Connect(context.Context) (sdk.Connection, error) { return t.conn, nil }

// stdioConn carries messages over a server's pipes. One goroutine reads lines.
type stdioConn struct {
	*messageConn
	process *process
	max     int
	once    sync.Once // of Close

	limited bool // the reader's: its last wait had a limit
	exit    sync.Once
	drained time.Time // until when output is read after the end of the process, set by exit
}

func newStdioConn(p *process, log *Log, limit int) *stdioConn {
	c := &stdioConn{process: p, max: limit}
	c.messageConn = newMessageConn(log, 0, c.put)
	c.tap.doom = func(id string, err error) { c.failRequest(id, err) }
	go c.read()
	return c
}

// put writes a frame to the server.
func (c *stdioConn) put(frame []byte) error {
	_, err := c.process.stdin.Write(frame)
	if err != nil {
		err = c.writeFailure(err)
	}
	return err
}

// Close ends the connection at once; the process is ended in the background.
func (c *stdioConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.process.stop()
	})
	return nil
}

// writeFailure returns the reason for the server's end, if known, instead of "broken pipe".
func (c *stdioConn) writeFailure(err error) error {
	select {
	case <-c.closed:
		return io.ErrClosedPipe
	case <-c.ended:
		return c.failure()
	case <-time.After(2 * drainTime):
		return fmt.Errorf("the server closed its input: %w", err)
	}
}

// end records why no more messages will arrive.
func (c *stdioConn) end(err error) {
	reason := err
	select {
	case <-c.process.p.Done():
		reason = c.process.exitError()
	case <-c.closed:
	case <-time.After(drainTime):
		// Its stdout is closed but it still runs: it can't be used any more.
		reason = &Fault{Text: "server closed its output", Retry: RetryExit, Err: err}
	}
	select {
	case <-c.closed: // a server that ends because it was closed has not exited by itself
		reason = io.EOF
	default:
	}
	c.finish(reason)
}
