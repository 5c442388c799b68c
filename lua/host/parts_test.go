package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"jcode/lua/wire"
)

func TestPatternsAreKeptAndBounded(t *testing.T) {
	t.Parallel()
	cache := patterns{}
	first, err := cache.compile("a+")
	if again, _ := cache.compile("a+"); err != nil || again != first {
		t.Errorf("compiled again: %v", err)
	}
	for i := range 3 * maxPatterns {
		if _, err := cache.compile(fmt.Sprint("b", i)); err != nil || len(cache) > maxPatterns {
			t.Fatalf("%d patterns are kept, %v", len(cache), err)
		}
	}
	if _, err := cache.compile("("); err == nil {
		t.Error("an open group compiled")
	}
}

func TestPeerAnswersCallsUntilItIsCancelled(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newPeer(&out, newMeter())
	p.replies <- &wire.Message{Type: wire.TypeReply, ID: 1, Text: "yes"}
	if m, err := p.call("ask", nil); err != nil || m.Text != "yes" {
		t.Errorf("the first call: %v, %v", m, err)
	}
	p.replies <- &wire.Message{Type: wire.TypeReply, ID: 7}
	if _, err := p.call("ask", nil); err == nil {
		t.Error("a reply to another call was taken")
	}
	p.cancel()
	p.cancel() // again changes nothing
	if _, err := p.call("ask", nil); !errors.Is(err, errCancelled) || !errors.Is(p.meter.stopped, errCancelled) {
		t.Errorf("after the end: %v, the meter says %v", err, p.meter.stopped)
	}
	if m, err := wire.Read(&out); err != nil || m.Name != "ask" || m.ID != 1 {
		t.Errorf("sent %v, %v", m, err)
	}
	broken := newPeer(brokenPipe{}, newMeter())
	if broken.send(&wire.Message{Type: wire.TypeLog}); !errors.Is(broken.writeErr, io.ErrClosedPipe) {
		t.Errorf("the fault of the pipe is %v", broken.writeErr)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
