package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxFrame is the most bytes that one frame may carry after its length.
const MaxFrame = 32 << 20

// ErrFrame is the class of faults in the framing itself.
var ErrFrame = errors.New("bad frame")

// ErrTooLong says that a message does not fit a frame.
var ErrTooLong = fmt.Errorf("the message is longer than %d MiB", MaxFrame>>20)

// Write sends one message as one frame with a single write.
func Write(w io.Writer, m *Message) error {
	buf, err := encoder().Append(make([]byte, 4, 512), m.object())
	if err != nil {
		return err
	}
	n := len(buf) - 4
	if n > MaxFrame {
		return ErrTooLong
	}
	binary.BigEndian.PutUint32(buf, uint32(n))
	_, err = w.Write(buf)
	return err
}

// readStep is how far a reader trusts an announced length before the bytes have arrived.
const readStep = 1 << 20

// Read receives one message. io.EOF means that the other side closed the pipe between
// two frames; a fault in the framing or the message wraps ErrFrame.
func Read(r io.Reader) (*Message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%w: cut off in its length", ErrFrame)
		}
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(head[:]))
	if n > MaxFrame {
		return nil, fmt.Errorf("%w: %d bytes announced, at most %d allowed", ErrFrame, n, MaxFrame)
	}
	buf := make([]byte, 0, min(n, readStep))
	for len(buf) < n {
		step := min(n-len(buf), max(readStep, len(buf)))
		start := len(buf)
		buf = append(buf, make([]byte, step)...)
		if _, err := io.ReadFull(r, buf[start:]); err != nil {
			return nil, fmt.Errorf("%w: cut off after %d of %d bytes", ErrFrame, start, n)
		}
	}
	v, err := Decode(buf)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	m, err := message(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return m, nil
}
