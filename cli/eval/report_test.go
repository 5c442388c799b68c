package eval_test

import (
	"math"
	"testing"

	"jcode/cli/eval"
)

func TestCountsMeanWhatStatisticsSay(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {5, 10, 0.2366, 0.7634}, {10, 10, 0.7225, 1}, {8, 10, 0.4902, 0.9433}} {
		if low, high := eval.Wilson(c.k, c.n); math.Abs(low-c.low) > 1e-3 || math.Abs(high-c.high) > 1e-3 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", c.k, c.n, low, high, c.low, c.high)
		}
	}
	for _, c := range []struct {
		a, n, b, m int
		p          float64
	}{{3, 4, 1, 4, 0.4857}, {8, 10, 1, 6, 0.0350}, {5, 5, 5, 5, 1}, {0, 0, 3, 5, 1}, {10, 10, 0, 10, 1.0825e-5}} {
		if p := eval.Fisher(c.a, c.n, c.b, c.m); math.Abs(p-c.p) > 1e-3*max(c.p, 0.1) {
			t.Errorf("%d of %d and %d of %d: p = %v, want %v", c.a, c.n, c.b, c.m, p, c.p)
		}
	}
}
