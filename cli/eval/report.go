package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"jcode/internal/text"
)

// Line sums up the runs of one set-up, of all tasks or of one.
type Line struct {
	Setup  string `json:"setup"`
	Task   string `json:"task,omitempty"` // "" for all of them
	Runs   int    `json:"runs"`
	Passed int    `json:"passed"`
	// Low and High are the interval in which the true share of passes lies with 95 % (Wilson's).
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// The rest are means of a run. Cost is nil if that of a run is unknown.
	Tokens  float64  `json:"tokens"`
	Cost    *float64 `json:"cost_usd"`
	Seconds float64  `json:"seconds"`
}

// Comparison is what two set-ups have in common: how likely a difference in passes at least as large is if they are equally
// good (Fisher's exact test, both sides).
type Comparison struct {
	A string  `json:"a"`
	B string  `json:"b"`
	P float64 `json:"p"`
}

// Report is what runs came to.
type Report struct {
	Total    []Line       `json:"total"`
	Tasks    []Line       `json:"tasks"`
	Compared []Comparison `json:"compared"`
	Runs     []Run        `json:"runs"`
}

// Sum sums runs up.
func Sum(runs []Run) Report {
	out := Report{Runs: runs}
	var setups, tasks []string
	for _, r := range runs {
		if !slices.Contains(setups, r.Setup) {
			setups = append(setups, r.Setup)
		}
		if !slices.Contains(tasks, r.Task) {
			tasks = append(tasks, r.Task)
		}
	}
	for _, s := range setups {
		out.Total = append(out.Total, line(runs, s, ""))
	}
	for _, t := range tasks {
		for _, s := range setups {
			out.Tasks = append(out.Tasks, line(runs, s, t))
		}
	}
	for i, a := range out.Total {
		for _, b := range out.Total[i+1:] {
			out.Compared = append(out.Compared, Comparison{a.Setup, b.Setup, Fisher(a.Passed, a.Runs, b.Passed, b.Runs)})
		}
	}
	return out
}

func line(runs []Run, setup, task string) Line {
	l := Line{Setup: setup, Task: task}
	cost, known := 0.0, true
	for _, r := range runs {
		if r.Setup != setup || task != "" && r.Task != task {
			continue
		}
		l.Runs++
		if r.Passed {
			l.Passed++
		}
		l.Tokens += float64(r.Input + r.Output)
		l.Seconds += float64(r.Millis) / 1000
		if r.Cost == nil {
			known = false
		} else {
			cost += *r.Cost
		}
	}
	if l.Runs > 0 {
		l.Tokens /= float64(l.Runs)
		l.Seconds /= float64(l.Runs)
		if cost /= float64(l.Runs); known {
			l.Cost = &cost
		}
	}
	l.Low, l.High = Wilson(l.Passed, l.Runs)
	return l
}

// Wilson returns the interval in which the true share lies with 95 %, if k of n passed.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

// Fisher returns how likely it is that two set-ups that are equally good differ at least as much as a of n and b of m.
func Fisher(a, n, b, m int) float64 {
	choose := func(n, k int) float64 {
		x, _ := math.Lgamma(float64(n + 1))
		y, _ := math.Lgamma(float64(k + 1))
		z, _ := math.Lgamma(float64(n - k + 1))
		return x - y - z
	}
	passed := a + b
	likely := func(x int) float64 { return math.Exp(choose(n, x) + choose(m, passed-x) - choose(n+m, passed)) }
	seen, p := likely(a), 0.0
	for x := max(0, passed-m); x <= min(n, passed); x++ {
		if l := likely(x); l <= seen*(1+1e-9) {
			p += l
		}
	}
	return min(1, p)
}

// Text returns the report as a table.
func (r Report) Text() string {
	var b strings.Builder
	width := len("set-up")
	for _, l := range slices.Concat(r.Total, r.Tasks) {
		width = max(width, text.Width(l.name()))
	}
	row := func(name, passed, share, tokens, cost, seconds string) {
		fmt.Fprintf(&b, "%s%s  %9s  %12s  %9s  %9s  %8s\n", name, strings.Repeat(" ", width-text.Width(name)), passed, share, tokens, cost, seconds)
	}
	row("set-up", "passed", "95 %", "tokens", "cost", "time")
	for _, list := range [][]Line{r.Total, r.Tasks} {
		for _, l := range list {
			cost := "?"
			if l.Cost != nil {
				cost = text.Dollars(*l.Cost)
			}
			row(l.name(), fmt.Sprintf("%d of %d", l.Passed, l.Runs), fmt.Sprintf("%.0f to %.0f %%", 100*l.Low, 100*l.High), fmt.Sprintf("%.0f", l.Tokens), cost, fmt.Sprintf("%.1f s", l.Seconds))
		}
		if len(r.Total) == len(r.Tasks) && len(r.Tasks) > 0 && &list[0] == &r.Total[0] {
			break // there is one task only
		}
	}
	for _, c := range r.Compared {
		fmt.Fprintf(&b, "%s and %s: p = %.3f\n", c.A, c.B, c.P)
	}
	return b.String()
}

// name names a line in the table.
func (l Line) name() string {
	if l.Task == "" {
		return l.Setup
	}
	return "  " + l.Task + ": " + l.Setup
}
