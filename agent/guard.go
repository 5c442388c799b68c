package agent

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
)

// Limits of the loop guard: four equal calls, or four rounds of a cycle of 2 to 5 calls, but never more than
// ten calls in one chain; the second alert ends the turn.
const (
	guardRepeats   = 4
	guardAlerts    = 2
	guardRounds    = 4
	guardChain     = 10
	guardMinPeriod = 2
	guardMaxPeriod = 5
)

// loopGuard detects that a model makes the same call with the same result again and again within one turn. It
// survives a switch of scope and is reset by each user message.
type loopGuard struct {
	repeats int // 0 means guardRepeats
	past    []guardCall
	alerts  int
}

type guardCall struct {
	key       [32]byte // name and arguments
	signature [32]byte // key and result
}

// callKey identifies a call by name and canonical arguments.
func callKey(name string, args json.RawMessage) [32]byte {
	var v any
	canonical := []byte(args)
	if json.Unmarshal(args, &v) == nil {
		if b, err := json.Marshal(v); err == nil { // object keys sorted
			canonical = b
		}
	}
	return sha256.Sum256(bytes.Join([][]byte{[]byte(name), canonical}, []byte{0}))
}

// stuck says why a call must not run, or "" when it may.
func (g *loopGuard) stuck(key [32]byte) string {
	n, repeats := len(g.past), cmp.Or(g.repeats, guardRepeats)
	if n >= repeats && g.past[n-1].key == key && g.cycle(1, repeats) {
		return fmt.Sprintf("The last %d calls were this same call with this same result, so it was not run again. "+
			"The result will not change: use what you have, change the arguments, or try another way.", repeats)
	}
	for p := guardMinPeriod; p <= guardMaxPeriod; p++ {
		// Any call of the cycle counts, not only the next one: a refused call is not a step of it.
		chain := min(guardRounds*p, guardChain)
		if n >= chain && g.cycle(p, chain) && g.inLast(p, key) {
			return fmt.Sprintf("The last %d calls went round in a circle of %d calls with the same results each time, so this call was not run. "+
				"Break the circle: use what you have, or try another way.", chain, p)
		}
	}
	return ""
}

// inLast reports whether a call is among the last n.
func (g *loopGuard) inLast(n int, key [32]byte) bool {
	return slices.ContainsFunc(g.past[len(g.past)-n:], func(c guardCall) bool { return c.key == key })
}

// cycle reports whether the last n calls repeat with period p.
func (g *loopGuard) cycle(p, n int) bool {
	last := g.past[len(g.past)-n:]
	for i := p; i < n; i++ {
		if last[i].signature != last[i-p].signature {
			return false
		}
	}
	return true
}

// add remembers a call that ran.
func (g *loopGuard) add(key [32]byte, result string) {
	sum := sha256.Sum256([]byte(result))
	g.past = append(g.past, guardCall{key: key, signature: sha256.Sum256(append(key[:], sum[:]...))})
	keep := max(guardChain, g.repeats)
	if len(g.past) > 2*keep {
		g.past = append(g.past[:0], g.past[len(g.past)-keep:]...)
	}
}
