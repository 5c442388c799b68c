//go:build linux || darwin

package tui

import (
	"fmt"
	"strings"
	"testing"

	"jcode/tui/dialog"
	"jcode/tui/transcript"
	"jcode/tui/tuitest"
)

// A search in a long session draws only the items that match, and does not cache what it draws.
func TestFindInALongSessionDrawsOnlyWhatItFinds(t *testing.T) {
	p, _ := still(t, 80, 24, nil)
	const items, every = 20_000, 1000
	for i := range items {
		src := fmt.Sprintf("Answer %d about\nsome **other** things.", i)
		if i%every == 0 {
			src = fmt.Sprintf("Answer %d holds the **nee**dle.", i)
		}
		p.tr.Add(&transcript.Answer{Src: src, Raw: len(src), Done: true})
	}
	cmd := p.search.findText("The Needle")
	for len(p.tr.Find.Hits) == 0 { // on a slow machine the first time slice may not be enough
		next, ok := cmd().(dialog.Do)
		if !ok {
			t.Fatal("the search ended without a hit")
		}
		cmd = p.route(next)
	}
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, fmt.Sprintf("Answer %d holds the needle", items-every)) {
		t.Errorf("the newest hit is not shown at once:\n%s", s)
	}
	settleCmd(p, cmd)
	if n := len(p.tr.Find.Hits); n != items/every {
		t.Errorf("%d hits, want %d", n, items/every)
	}
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "20 of 20, n and N go on") {
		t.Errorf("the count is not shown:\n%s", s)
	}
	drawn := 0
	for _, it := range p.tr.Items {
		if a, ok := it.(*transcript.Answer); ok && a.Cached() {
			drawn++
		}
	}
	if drawn > 100 {
		t.Errorf("%d drawings are kept", drawn)
	}
	press(p, "n")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "19 of 20") || !strings.Contains(s, fmt.Sprintf("Answer %d holds the needle", items-2*every)) {
		t.Errorf("n does not go up:\n%s", s)
	}
	press(p, "N", "N")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "1 of 20") || !strings.Contains(s, "Answer 0 holds") {
		t.Errorf("N does not go round:\n%s", s)
	}
}

// Moving to a hit works before the whole transcript has been searched.
func TestNextHitIsFoundBeforeTheSearchIsDone(t *testing.T) {
	p, _ := still(t, 80, 24, nil)
	for i := range 3 {
		p.tr.Add(&transcript.Answer{Src: fmt.Sprintf("needle %d", i), Done: true})
	}
	p.search.findText("needle") // the rest of the search never runs
	press(p, "n")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "2 so far") || p.tr.Find.At != 1 {
		t.Errorf("at %d:\n%s", p.tr.Find.At, s)
	}
	press(p, "n", "n")
	if s := tuitest.Stripped(p.frameText()); p.tr.Find.At != 0 || !strings.Contains(s, "3 of 3") {
		t.Errorf("at %d:\n%s", p.tr.Find.At, s)
	}
}

// A search that found nothing takes no letter from what is typed next, and the hit that is counted stands out.
func TestASearchTakesLettersOnlyWhereItFoundSomething(t *testing.T) {
	p, _ := still(t, 80, 24, nil)
	for i := range 2 {
		p.tr.Add(&transcript.Answer{Src: fmt.Sprintf("needle %d", i), Done: true})
	}
	p.tr.Search(&p.look, "needle")
	marked := func() (out []string) {
		for line := range strings.Lines(p.frameText()) {
			if strings.Contains(line, "\x1b[7m") && strings.Contains(tuitest.Stripped(line), "needle ") {
				out = append(out, strings.TrimSpace(tuitest.Stripped(line)))
			}
		}
		return out
	}
	if got := marked(); len(got) != 1 || !strings.Contains(got[0], "needle 1") {
		t.Errorf("standing out: %q", got)
	}
	press(p, "n")
	if got := marked(); len(got) != 1 || !strings.Contains(got[0], "needle 0") {
		t.Errorf("standing out after n: %q", got)
	}
	p.tr.Search(&p.look, "haystack")
	press(p, "n", "e", "x", "t")
	if got := p.in.Text(); got != "next" {
		t.Errorf("the input is %q", got)
	}
}
