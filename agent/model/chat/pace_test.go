package chat

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// typist is a body that grows by one piece after each interval.
type typist struct {
	began       time.Time
	every       time.Duration
	total, sent int
	reads       int
	latest      time.Duration // the longest that a piece waited to be read
}

const typed = `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}` + "\n\n"

func (w *typist) Read(p []byte) (int, error) {
	if w.sent == w.total {
		return 0, io.EOF
	}
	w.reads++
	next := w.began.Add(time.Duration(w.sent+1) * w.every)
	w.latest = max(w.latest, time.Since(next))
	time.Sleep(time.Until(next))
	due := min(int(time.Since(w.began)/w.every), w.total)
	n := copy(p, strings.Repeat(typed, due-w.sent))
	w.sent = due
	return n, nil
}

func (w *typist) Close() error { return nil }

// A piece that a model writes is read when it comes; one that comes as fast as it is read waits for others.
func TestPiecesOfAStreamAreReadAsTheyCome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		every  time.Duration
		pieces int
		reads  int
		wait   time.Duration
	}{
		{"150 a second", time.Second / 150, 1500, 1500, 0},
		{"20 a second", time.Second / 20, 200, 200, 0},
		{"10,000 a second", time.Second / 10_000, 10_000, 1000, gather + time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &typist{began: time.Now(), every: c.every, total: c.pieces}
			b := newNormalBody(&http.Response{Body: w, Header: http.Header{"Content-Type": {"text/event-stream"}}}, watched(t))
			out, err := io.ReadAll(b)
			if err != nil || strings.Count(string(out), "word ") != c.pieces {
				t.Errorf("%s: %d of %d pieces, %v", c.name, strings.Count(string(out), "word "), c.pieces, err)
			}
			if w.reads > c.reads {
				t.Errorf("%s: %d pieces were read in %d parts, more than %d", c.name, c.pieces, w.reads, c.reads)
			}
			if w.latest > c.wait {
				t.Errorf("%s: a piece waited %v", c.name, w.latest)
			}
		})
	}
}
