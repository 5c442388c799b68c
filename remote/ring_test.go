package remote

import (
	"context"
	"testing"
)

// A client that comes while events are still being read hears what follows, instead of being told that it is gone.
func TestARingWaitsForTheNumberThatAClientBeginsWith(t *testing.T) {
	t.Parallel()
	r := newRing(4)
	if err := r.reach(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	if _, ok, _, _ := r.after(6); ok {
		t.Fatal("there is nothing after 6 yet")
	}
	reached := make(chan error)
	go func() { reached <- r.reach(t.Context(), 6) }()
	r.add([]byte("five"))
	r.add([]byte("six"))
	if err := <-reached; err != nil {
		t.Fatal(err)
	}
	if lines, ok, _, _ := r.after(6); !ok || len(lines) > 0 {
		t.Errorf("%q, %v", lines, ok)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.reach(ctx, 7); err == nil {
		t.Error("it does not end with its context")
	}
	r.close()
	if err := r.reach(t.Context(), 7); err != nil {
		t.Error("it waits for a session that has ended")
	}
}
