package agent

import (
	"encoding/json"
	"testing"
)

func TestLoopGuard(t *testing.T) {
	t.Parallel()
	call := func(name string) [32]byte { return callKey(name, json.RawMessage(`{"b":1, "a":2}`)) }
	if call("x") != callKey("x", json.RawMessage(`{"a":2,"b":1}`)) {
		t.Error("the order of arguments makes another call")
	}
	t.Run("the fifth equal call is not run", func(t *testing.T) {
		var g loopGuard
		for i := range 4 {
			if why := g.stuck(call("x")); why != "" {
				t.Fatalf("call %d: %s", i+1, why)
			}
			g.add(call("x"), "same")
		}
		if g.stuck(call("x")) == "" {
			t.Error("the fifth equal call would run")
		}
		if why := g.stuck(call("y")); why != "" {
			t.Errorf("another call is held back: %s", why)
		}
	})
	t.Run("changing results never trip it", func(t *testing.T) {
		var g loopGuard
		for i := range 50 {
			if why := g.stuck(call("x")); why != "" {
				t.Fatalf("call %d: %s", i+1, why)
			}
			g.add(call("x"), string(rune('a'+i)))
		}
	})
	for period := 2; period <= 5; period++ {
		var g loopGuard
		most := min(10, 4*period)
		for i := range most {
			name := string(rune('a' + i%period))
			if why := g.stuck(call(name)); why != "" {
				t.Fatalf("period %d, call %d: %s", period, i+1, why)
			}
			g.add(call(name), "r")
		}
		for i := most; i < most+period; i++ { // a refused call does not begin another round
			if g.stuck(call(string(rune('a'+i%period)))) == "" {
				t.Errorf("a cycle of %d goes on at call %d", period, i+1)
			}
		}
		if why := g.stuck(call("other")); why != "" {
			t.Errorf("period %d: a call that breaks the cycle is held back", period)
		}
	}
}
