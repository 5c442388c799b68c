package remote

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"
)

// The bounds of one message, in bytes: of who has not said hello, of a client, and of a server, which sends a whole
// history at most.
const (
	maxFromStranger = 64 << 10
	maxFromClient   = 40 << 20
	maxFromServer   = 1 << 30
)

// lines are messages on a connection, one a line. They make it a jrpc2 channel.
type lines struct {
	conn net.Conn
	in   *bufio.Reader
	max  func() int // bytes of one message
}

// sendWithin is how long a client may leave a message unread that fills the socket's buffer.
const sendWithin = 30 * time.Second

// Send writes a message.
func (l *lines) Send(b []byte) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(sendWithin)); err != nil {
		return err
	}
	_, err := l.conn.Write(append(b, '\n'))
	return err
}

// Recv reads a message.
func (l *lines) Recv() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) > l.max() {
				return nil, errTooLong
			}
		case err != nil && errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

var errTooLong = errors.New("a message is too long")

// Close ends the connection.
func (l *lines) Close() error { return l.conn.Close() }
