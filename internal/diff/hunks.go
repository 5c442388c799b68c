package diff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Hunk says that some lines of one text are some lines of another instead. Lines are counted from 0, and
// the ends are exclusive.
type Hunk struct{ From, FromEnd, To, ToEnd int }

// Hunks returns what differs between two texts, in order, without context. A part that is too large to be
// compared line by line is one hunk.
func Hunks(old, now string) []Hunk {
	if old == now {
		return nil
	}
	head, old, now, _ := trim(old, now)
	first := count(head)
	if len(old)+len(now) > maxCompare {
		return []Hunk{{first, first + count(old), first, first + count(now)}}
	}
	var out []Hunk
	from, to, at := first, first, 0 // the lines at the offset `at` of old
	for _, e := range udiff.Lines(old, now) {
		same := count(old[at:e.Start])
		h := Hunk{From: from + same, To: to + same}
		h.FromEnd, h.ToEnd = h.From+count(old[e.Start:e.End]), h.To+count(e.New)
		from, to, at = h.FromEnd, h.ToEnd, e.End
		if n := len(out) - 1; n >= 0 && out[n].FromEnd == h.From && out[n].ToEnd == h.To {
			out[n].FromEnd, out[n].ToEnd = h.FromEnd, h.ToEnd
			continue
		}
		out = append(out, h)
	}
	return out
}

// Lines cuts a text into lines with their line breaks.
func Lines(s string) []string {
	out := make([]string, 0, count(s))
	for l := range strings.Lines(s) {
		out = append(out, l)
	}
	return out
}
