package terminal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Shot is a screen of a cast, with how long it is shown.
type Shot struct {
	Screen Screen
	For    time.Duration
}

// Cast draws screens one after the other, as a picture that moves and begins anew at its end. Where pictures do not
// move the last screen is seen. fg and bg are the terminal's own colours as #rrggbb.
func Cast(shots []Shot, fg, bg string) string {
	if len(shots) == 0 {
		return ""
	}
	var total time.Duration
	shows := map[string][]span{} // what is drawn, with the times at which it is seen
	for _, shot := range shots {
		for y := range shot.Screen.cells {
			var line strings.Builder
			shot.Screen.svgLine(&line, y, fg, bg)
			if line.Len() > 0 {
				shows[line.String()] = during(shows[line.String()], total, total+shot.For)
			}
		}
		if cursor := shot.Screen.svgCursor(fg); cursor != "" {
			shows[cursor] = during(shows[cursor], total, total+shot.For)
		}
		total += shot.For
	}
	var b strings.Builder
	last := shots[len(shots)-1].Screen
	last.svgHead(&b, bg)
	for _, line := range slices.Sorted(maps.Keys(shows)) {
		spans := shows[line]
		if len(spans) == 1 && spans[0] == (span{0, total}) {
			b.WriteString(line)
			continue
		}
		atRest := "hidden"
		if spans[len(spans)-1].end == total {
			atRest = "visible"
		}
		values, times := timing(spans, total)
		fmt.Fprintf(&b, `<g visibility="%s"><animate attributeName="visibility" calcMode="discrete" dur="%.1fs" repeatCount="indefinite" values="%s" keyTimes="%s"/>`+"\n%s</g>\n",
			atRest, total.Seconds(), values, times, line)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// span is a time during which something is seen, from the beginning of a cast.
type span struct{ begin, end time.Duration }

// during adds a span, and joins it with the one before if they touch.
func during(spans []span, begin, end time.Duration) []span {
	if n := len(spans); n > 0 && spans[n-1].end >= begin {
		spans[n-1].end = end
		return spans
	}
	return append(spans, span{begin, end})
}

// timing returns the values of an animated visibility and their times, from 0 to 1.
func timing(spans []span, total time.Duration) (values, times string) {
	var v, at []string
	add := func(value string, t time.Duration) {
		v, at = append(v, value), append(at, fmt.Sprintf("%.4f", t.Seconds()/total.Seconds()))
	}
	if spans[0].begin > 0 {
		add("hidden", 0)
	}
	for _, s := range spans {
		add("visible", s.begin)
		if s.end < total {
			add("hidden", s.end)
		}
	}
	return strings.Join(v, ";"), strings.Join(at, ";")
}
