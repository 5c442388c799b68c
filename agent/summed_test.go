package agent_test

import (
	"fmt"
	"testing"

	"jcode/agent/event"
	"jcode/agent/model"
)

// A provider that searches reads the prompt again for each search, and counts it each time.
func TestWhatAProviderReadAgainIsNotTakenForTheContext(t *testing.T) {
	t.Parallel()
	var replies []reply
	for i := range 4 {
		replies = append(replies, reply{text: fmt.Sprint("found ", i), usage: model.Usage{Input: 50_000, Output: 10, Searches: 5, Summed: true}})
	}
	b := startWith(t, replies, window(20_000))
	for range replies {
		if _, events := b.turn("search"); count[event.Compacting](events) > 0 {
			t.Fatal("a small conversation was compacted")
		}
	}
	if use := b.Usage(); use.Context > 10_000 || use.Total.Input != 200_000 {
		t.Errorf("%+v", use)
	}
}
