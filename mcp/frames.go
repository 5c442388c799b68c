package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// defaultMaxFrame is the longest message that is kept.
const defaultMaxFrame = 64 << 20

// frame is one line of a server's stdout.
type frame struct {
	data []byte
	// tooLong marks a line over the cap: data is nil, id is that of the response in it.
	tooLong bool
	id      json.RawMessage
	size    int64
}

// frameReader cuts a stream into lines and reads away those over the cap.
type frameReader struct {
	in  *bufio.Reader
	max int
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	if limit <= 0 {
		limit = defaultMaxFrame
	}
	return &frameReader{in: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// next gives the next line that is not blank. At the end of the stream a last line
// without newline is given first.
func (f *frameReader) next() (frame, error) {
	for {
		fr, err := f.line()
		if fr.tooLong || len(bytes.TrimSpace(fr.data)) > 0 {
			return fr, nil
		}
		if err != nil {
			return frame{}, err
		}
	}
}

func (f *frameReader) line() (frame, error) {
	var out frame
	var kept pieces
	for {
		part, err := f.in.ReadSlice('\n')
		out.size += int64(len(part))
		if kept.size+len(part) > f.max {
			return f.readAway(out, kept, part, err)
		}
		kept.add(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			out.data = kept.join()
			return out, err
		}
	}
}

// readAway discards the rest of a line that is over the cap, looking for its id.
func (f *frameReader) readAway(out frame, kept pieces, part []byte, err error) (frame, error) {
	var finder idFinder
	for _, p := range kept.list {
		finder.feed(p)
	}
	finder.feed(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = f.in.ReadSlice('\n')
		out.size += int64(len(part))
		finder.feed(part)
	}
	out.tooLong, out.id = true, finder.found()
	return out, err
}

// pieces collect a long line without copying it again and again as it grows: one piece is
// added after the other, and they are joined once.
type pieces struct {
	list [][]byte
	size int
}

// maxPiece is the longest piece; the first ones are shorter.
const maxPiece = 4 << 20

func (p *pieces) add(data []byte) {
	p.size += len(data)
	for len(data) > 0 {
		if n := len(p.list); n == 0 || len(p.list[n-1]) == cap(p.list[n-1]) {
			p.list = append(p.list, make([]byte, 0, min(max(len(data), p.size), maxPiece)))
		}
		last := &p.list[len(p.list)-1]
		n := min(cap(*last)-len(*last), len(data))
		*last = append(*last, data[:n]...)
		data = data[n:]
	}
}

func (p *pieces) join() []byte {
	if len(p.list) == 1 {
		return p.list[0]
	}
	return bytes.Join(p.list, nil)
}

// tooLargeError is the failure of a call whose result is over the cap.
type tooLargeError struct{ limit int }

func (e tooLargeError) Error() string {
	return fmt.Sprintf("result larger than %d MiB; ask for less, in parts", e.limit>>20)
}
