package agent_test

import (
	"fmt"
	"testing"
)

func TestTheFirstRequestAfterACompactionSaysThatItsBeginningChanged(t *testing.T) {
	t.Parallel()
	var replies []reply
	for i := range 6 {
		replies = append(replies, reply{text: fmt.Sprint("answer ", i)})
	}
	b := start(t, replies)
	for i := range 4 {
		b.turn(fmt.Sprint("prompt ", i))
	}
	if err := b.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	b.turn("prompt 4")
	b.turn("prompt 5")
	for n, want := range []bool{false, false, false, false, true, false} {
		if got := b.model.request(t, n).Rebuilt; got != want {
			t.Errorf("request %d: %v, want %v", n, got, want)
		}
	}
}
