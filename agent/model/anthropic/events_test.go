package anthropic

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"jcode/agent/model/endpoint"
)

func TestAnEventStreamIsDividedIntoTheDataOfItsEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100<<10)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"one event", "event: ping\ndata: {}\n\n", []string{"{}"}},
		{"without a blank", "data:{}\n\n", []string{"{}"}},
		{"carriage returns", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []string{"1", "2"}},
		{"several lines of data", "data: {\ndata: }\n\n", []string{"{\n}"}},
		{"comments and other fields", ": hello\nid: 7\nretry: 10\ndatabase: x\ndata: 1\n\n\n\n", []string{"1"}},
		{"an event without data", "event: ping\n\ndata: 1\n\n", []string{"1"}},
		{"a line longer than the buffer", "data: " + long + "\n\ndata: 1\n\n", []string{long, "1"}},
		{"cut off before its end", "data: 1\n\ndata: 2\n", []string{"1"}},
		{"cut off within a line", "data: 1\n\ndata: 2", []string{"1"}},
		{"nothing", "", nil},
	} {
		for how, body := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			var got []string
			events := newEvents(body)
			data, err := events.next()
			for ; err == nil; data, err = events.next() {
				got = append(got, string(data))
			}
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: the stream ends with %v, want EOF", c.name, how, err)
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%s, %s: got %.200q, want %.200q", c.name, how, got, c.want)
			}
		}
	}
}

func TestAnEventThatIsTooLargeEndsTheStream(t *testing.T) {
	t.Parallel()
	filler := bytes.Repeat([]byte("data: "+strings.Repeat("x", 1<<20)+"\n"), endpoint.MaxAnswer>>20+1)
	if _, err := newEvents(bytes.NewReader(filler)).next(); !errors.Is(err, endpoint.ErrTooLarge) {
		t.Errorf("many lines: got %v, want ErrTooLarge", err)
	}
	line := append([]byte("data: "), bytes.Repeat([]byte("x"), endpoint.MaxAnswer+1<<20)...)
	if _, err := newEvents(bytes.NewReader(line)).next(); !errors.Is(err, endpoint.ErrTooLarge) {
		t.Errorf("one line: got %v, want ErrTooLarge", err)
	}
}
