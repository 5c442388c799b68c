package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"jcode/internal/rawjson"
)

// frame is one line of a server's stdout.
type frame struct {
	data []byte
	// tooLong marks a line over the cap: data is nil, id is that of the response in it.
	tooLong bool
	id      json.RawMessage
	size    int64
}

// errQuiet is returned by frameReader.next when the server stopped inside a line.
var errQuiet = errors.New("no more output")

// frameReader cuts a stream into lines. Longer lines than max are discarded.
type frameReader struct {
	raw io.Reader
	in  *bufio.Reader
	max int
	// limit is called before each wait for input, with whether an unfinished line was read: then
	// the wait may end with os.ErrDeadlineExceeded. Nil sets no limit.
	limit func(unfinished bool)
	// kept is the start of an incomplete line.
	kept pieces
	// held says that the caller waits for the continuation of earlier lines; discarding, that the
	// rest of a line is to be discarded.
	held, discarding bool
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	f := &frameReader{raw: r, max: limit}
	f.in = bufio.NewReaderSize(readerFunc(f.read), 64<<10)
	return f
}

// readerFunc is a function as a reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// read waits for more input, which may have a limit.
func (f *frameReader) read(p []byte) (int, error) {
	if f.limit != nil {
		f.limit(!f.discarding && (f.held || f.kept.size > 0 || f.in.Buffered() > 0))
	}
	return f.raw.Read(p)
}

// next returns the next non-empty line. At the end of the stream it first returns a last line without
// newline. unfinished says that the caller waits for the continuation of earlier lines. After errQuiet the
// start of the line is still kept.
func (f *frameReader) next(unfinished bool) (frame, error) {
	f.held = unfinished
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
	for {
		part, err := f.in.ReadSlice('\n')
		if f.kept.size+len(part) > f.max {
			return f.discard(part, err)
		}
		f.kept.add(part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, os.ErrDeadlineExceeded):
			return frame{}, errQuiet
		default:
			return f.take(), err
		}
	}
}

// take returns what was read of a line as a frame.
func (f *frameReader) take() frame {
	out := frame{data: f.kept.join(), size: int64(f.kept.size)}
	f.kept = pieces{}
	return out
}

// takeValue returns the start of a line if it is a whole JSON value that only lacks its newline.
func (f *frameReader) takeValue() (frame, bool) {
	if f.kept.size == 0 || !json.Valid(f.kept.join()) {
		return frame{}, false
	}
	return f.take(), true
}

// discard reads the rest of a line that is over the cap, looking for its id.
func (f *frameReader) discard(part []byte, err error) (frame, error) {
	var finder rawjson.IDFinder
	for _, p := range f.kept.list {
		finder.Feed(p)
	}
	out := frame{tooLong: true, size: int64(f.kept.size + len(part))}
	f.kept = pieces{}
	finder.Feed(part)
	f.discarding = true
	defer func() { f.discarding = false }()
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = f.in.ReadSlice('\n')
		out.size += int64(len(part))
		finder.Feed(part)
	}
	out.id = finder.Response()
	return out, err
}

// pieces collects a long line without copying it repeatedly as it grows: pieces are appended,
// and joined once.
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

// join joins all pieces into one and returns it.
func (p *pieces) join() []byte {
	switch len(p.list) {
	case 0:
		return nil
	case 1:
	default:
		p.list = [][]byte{bytes.Join(p.list, nil)}
		Release(p.size)
	}
	return p.list[0]
}

// tooLargeError is the failure of a call whose result is over the cap.
type tooLargeError struct{ limit int }

func (e tooLargeError) Error() string {
	return fmt.Sprintf("result larger than %d MiB; ask for less, in parts", e.limit>>20)
}

// Release returns the memory of a large message, which is garbage now, to the system. The next
// regular collection may be far off.
func Release(size int) {
	if size >= rawjson.Large {
		debug.FreeOSMemory()
	}
}
