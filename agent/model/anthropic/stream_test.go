package anthropic

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// cutAt is a body that is read in pieces, each of which ends at one of the given places.
type cutAt struct {
	b      []byte
	places []int
	sent   int
}

func (c *cutAt) Read(p []byte) (int, error) {
	if c.sent == len(c.b) {
		return 0, io.EOF
	}
	to := len(c.b)
	for _, place := range c.places {
		if place > c.sent && place < to {
			to = place
		}
	}
	n := copy(p, c.b[c.sent:to])
	c.sent += n
	return n, nil
}

func (c *cutAt) Close() error { return nil }

// heardOf is an answer together with what was shown of it.
type heardOf struct {
	resp  model.Response
	shown string
	whole bool
}

func (h heardOf) String() string {
	return fmt.Sprintf("%+v shown %q whole %v", h.resp, h.shown, h.whole)
}

// play reads a stream in pieces.
func play(silent *endpoint.Silence, stream []byte, places ...int) heardOf {
	var shown strings.Builder
	say := endpoint.NewSpeaker(func(e model.Event) {
		switch e := e.(type) {
		case model.TextEvent:
			shown.WriteString(e.Delta)
		case model.ResetEvent:
			shown.Reset()
		}
	})
	a := newAnswer(say, &endpoint.Exchange{Silent: silent})
	body := &cutAt{b: stream, places: places}
	_ = a.read(&http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: endpoint.SkipMark(body)}) // how it ended is seen below
	req := &model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "x"}}}
	whole := a.stopped || a.reason != ""
	return heardOf{resp: a.response(req, whole), shown: shown.String(), whole: whole}
}

// watched returns a Silence whose limit is not reached during a test.
func watched(t testing.TB) *endpoint.Silence {
	t.Helper()
	end, err := endpoint.New(provider.Config{BaseURL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	_, silent, stop := end.Watch(context.Background())
	t.Cleanup(stop)
	return silent
}

func streams(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal("no streams", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if out[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// The answer does not depend on where the network splits a stream. Wherever it ends, what arrived
// is kept, and no call that was cut off would run.
func TestStreamsCutAtEveryByte(t *testing.T) {
	t.Parallel()
	silent := watched(t)
	for name, stream := range streams(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			want := play(silent, stream)
			if !want.whole {
				t.Fatalf("the stream has no end: %v", want)
			}
			crlf := []byte(strings.ReplaceAll(string(stream), "\n", "\r\n"))
			if got := play(silent, append([]byte("\xef\xbb\xbf"), crlf...)); got.String() != want.String() {
				t.Errorf("with a mark and other line ends:\n%v\n%v", got, want)
			}
			for i := range stream {
				if got := play(silent, stream, i); got.String() != want.String() {
					t.Fatalf("cut at %d:\n%v\n%v", i, got, want)
				}
				got := play(silent, stream[:i])
				if !strings.HasPrefix(want.resp.Text, got.resp.Text) || got.shown != got.resp.Text {
					t.Fatalf("ended at %d: %v", i, got)
				}
				for _, c := range got.resp.Calls {
					if !got.whole && !c.Incomplete {
						t.Fatalf("ended at %d: %v", i, got)
					}
				}
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	silent := watched(f)
	for _, stream := range streams(f) {
		f.Add(stream, 7, 30)
	}
	f.Fuzz(func(t *testing.T, stream []byte, i, k int) {
		a, b := play(silent, stream, i, k), play(silent, stream)
		for _, h := range []heardOf{a, b} {
			for n := range h.resp.Calls {
				if c := &h.resp.Calls[n]; !bytes.Contains(stream, []byte(c.ID)) {
					c.ID = "" // a call without an id got a random one
				}
			}
		}
		if a.String() != b.String() {
			t.Errorf("%v\n%v", a, b)
		}
	})
}

func TestAnAnswerThatStartsOverNeedsItsOwnEnd(t *testing.T) {
	t.Parallel()
	const ended = `data: {"type":"message_start","message":{"model":"m"}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"first"}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

`
	const again = `data: {"type":"message_start","message":{"model":"m"}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"sec"}}

`
	silent := watched(t)
	if got := play(silent, []byte(ended)); !got.whole || got.shown != "first" {
		t.Errorf("the first answer: %v", got)
	}
	if got := play(silent, []byte(ended+again)); got.whole || got.shown != "sec" {
		t.Errorf("an answer that was cut off after it started over: %v", got)
	}
}
