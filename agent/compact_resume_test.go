package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/model"
)

// A session resumes as it was left, however often it was compacted.
func TestCompactedSessionIsResumedAsItWasLeft(t *testing.T) {
	t.Parallel()
	for name, at := range map[string][]int{"never": nil, "once": {5}, "twice at once": {5, 5}, "again and again": {2, 2, 3, 4, 4, 4, 5, 5}} {
		t.Run(name, func(t *testing.T) {
			var replies []reply
			for i := range 9 {
				replies = append(replies, reply{text: fmt.Sprintf("answer %d %s", i, strings.Repeat("word ", 50))})
			}
			b := startWith(t, replies, window(100_000))
			for i := range 6 {
				b.turn(fmt.Sprintf("prompt %d", i))
				for _, n := range at {
					if n != i {
						continue
					}
					if err := b.Compact(t.Context(), ""); err != nil && !strings.Contains(err.Error(), "nothing to compact") {
						t.Fatal(err)
					}
				}
			}
			b.turn("before")
			b.Close()
			again, err := agent.Resume(t.Context(), b.opt, b.ID())
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			left := b.model.request(t, 6).Messages
			b.Conversation, b.sub = again, again.Subscribe()
			b.turn("after")
			want := append(slices.Clone(left), model.Message{Text: replies[6].text}, model.Message{Text: "after"})
			got := b.model.request(t, 7).Messages
			same := func(a, b model.Message) bool { return a.Text == b.Text }
			if !slices.EqualFunc(got, want, same) {
				t.Errorf("%d messages after the resume, want %d: %.30q", len(got), len(want), fmt.Sprint(got))
			}
		})
	}
}
