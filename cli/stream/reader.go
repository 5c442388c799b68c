package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// MaxLine bounds a line, in bytes.
const MaxLine = 40 << 20

// Line is one object of the input.
type Line struct {
	N       int    // its number, from 1
	Type    string // what it wants
	Request string // how the program calls it, "" for nothing
	Params  json.RawMessage
	Fault   error // why it can't be read
}

// Reader reads lines until the input ends.
type Reader struct {
	In io.Reader
	// Slow reports whether a line may take a while. Slow lines are done one after the other; those that come meanwhile
	// and are not slow overtake them.
	Slow func(Line) bool
	// Do does what a line says. It is called from two goroutines.
	Do func(context.Context, Line)
	// Ended is called once nothing more comes, while lines may still be done.
	Ended func()
}

// Run returns when all lines of the input are done, or ctx ends. A read can't be cancelled, so its goroutine may remain
// until the program ends; it calls nothing any more.
func (r Reader) Run(ctx context.Context) error {
	lines, failed := make(chan Line), make(chan error, 1)
	go func() {
		defer close(lines)
		failed <- read(bufio.NewReaderSize(r.In, 64<<10), func(l Line) bool {
			select {
			case lines <- l:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	lane := newLane()
	var work sync.WaitGroup
	work.Go(func() {
		for l, ok := lane.next(ctx); ok; l, ok = lane.next(ctx) {
			r.Do(ctx, l)
		}
	})
	defer work.Wait()
	defer lane.close()
	for {
		select {
		case l, more := <-lines:
			switch {
			case !more:
				r.Ended()
				return <-failed
			case l.Fault == nil && r.Slow(l):
				lane.add(l)
			default:
				r.Do(ctx, l)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// read passes on lines until the input ends or take does not want more.
func read(in *bufio.Reader, take func(Line) bool) error {
	for n := 1; ; n++ {
		raw, long, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d of standard input: %w", n, err)
		}
		ended := err != nil
		line := Line{N: n}
		switch raw = bytes.TrimSpace(raw); {
		case long:
			line.Fault = fmt.Errorf("the line has more than %d MB", MaxLine>>20)
		case len(raw) == 0:
			if ended {
				return nil
			}
			continue
		default:
			line = parse(n, raw)
			if ended && line.Fault != nil {
				line.Fault = fmt.Errorf("the input ended in the middle of the line: %w", line.Fault)
			}
		}
		if !take(line) || ended {
			return nil
		}
	}
}

// readLine reads up to the end of a line. What is too long is skipped.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > MaxLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// parse takes the name of a line off its parameters.
func parse(n int, raw []byte) Line {
	line := Line{N: n}
	if !utf8.Valid(raw) {
		line.Fault = errors.New("the line is not UTF-8")
		return line
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		line.Fault = errors.New("the line is no JSON object")
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			line.Fault = fmt.Errorf("the line is no JSON object: %w (byte %d)", err, syntax.Offset)
		}
		return line
	}
	for name, into := range map[string]*string{"request": &line.Request, "type": &line.Type} {
		if v, given := fields[name]; given {
			if err := json.Unmarshal(v, into); err != nil {
				line.Fault = fmt.Errorf("%s: it is a text", name)
			}
			delete(fields, name)
		}
	}
	if line.Fault == nil && line.Type == "" {
		line.Fault = errors.New(`there is no type, as in {"type": "prompt", "text": "hello"}`)
	}
	line.Params, _ = json.Marshal(fields) // they were read from JSON
	return line
}
