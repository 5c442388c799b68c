package usage_test

import (
	"strings"
	"testing"

	"jcode/cli/usage"
	"jcode/internal/text"
	"jcode/session"
)

var rows = []session.Spent{
	{Day: "2026-03-01", Model: "a", Session: "1", Title: "first <b>", Cwd: "/p/one", ProjectID: "p1", Requests: 2, Usage: session.Usage{Input: 1000, Cached: 900, Written: 50, Output: 10, Cost: 0.5}},
	{Day: "2026-03-02", Model: "b", Session: "2", Title: "second", Cwd: "/p/two", ProjectID: "p2", Requests: 1, Usage: session.Usage{Input: 2_000_000, Output: 5, Cost: 2, Estimated: true}},
	{Day: "2026-03-02", Model: "a", Session: "1", Title: "first <b>", Cwd: "/p/one", ProjectID: "p1", Requests: 1, Usage: session.Usage{Input: 100, Output: 1, Cost: 0.25}},
}

func TestLinesAreGroupedAndTheCacheIsNoInput(t *testing.T) {
	r := usage.New(rows, 30, usage.ByModel)
	if len(r.Lines) != 2 || r.Lines[0].Name != "b" || r.Lines[1].Name != "a" {
		t.Fatalf("lines %+v", r.Lines)
	}
	a := r.Lines[1]
	if a.Input != 150 || a.CacheRead != 900 || a.CacheWrite != 50 || a.Output != 11 || a.Requests != 3 || a.Cost != 0.75 {
		t.Errorf("line %+v", a)
	}
	if a.CacheShare < 0.818 || a.CacheShare > 0.819 {
		t.Errorf("share %v", a.CacheShare)
	}
	if r.Total.Requests != 4 || r.Total.Cost != 2.75 {
		t.Errorf("total %+v", r.Total)
	}
	for by, first := range map[usage.By]string{usage.ByDay: "2026-03-01", usage.ByProject: "two", usage.BySession: "second"} {
		if got := usage.New(rows, 30, by).Lines[0].Name; got != first {
			t.Errorf("by %s: first line %q", by, got)
		}
	}
}

func TestTableFitsItsTerminalAndMarksEstimates(t *testing.T) {
	for _, width := range []int{40, 58, 60, 80, 120, 200} {
		out := usage.New(rows, 30, usage.BySession).Text(width)
		for line := range strings.Lines(out) {
			if w := text.Width(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("width %d: a line of %d cells: %s", width, w, line)
			}
		}
		if !strings.Contains(out, "~2.0M") || !strings.Contains(out, "~$2.75") {
			t.Errorf("width %d:\n%s", width, out)
		}
		bars := strings.Contains(out, "█")
		if width >= 120 && !bars || strings.Contains(out, "bars: cost") != bars {
			t.Errorf("width %d: bars %v, but the legend says something else\n%s", width, bars, out)
		}
		if cached := strings.Contains(out, "cached"); cached != (width >= 80) || cached != strings.Contains(out, "prompt cache") {
			t.Errorf("width %d: columns of the cache %v\n%s", width, cached, out)
		}
	}
	if out := usage.New(nil, 1, usage.ByDay).Text(80); !strings.Contains(out, "Nothing was used in the last 1 day.") {
		t.Errorf("empty: %s", out)
	}
}

func TestPageIsSelfContainedAndEscapesTitles(t *testing.T) {
	html := usage.HTML([]usage.Report{usage.New(rows, 30, usage.ByDay), usage.New(rows, 30, usage.BySession)})
	if !strings.Contains(html, "first &lt;b&gt;") || strings.Contains(html, "first <b>") {
		t.Error("a title is not escaped")
	}
	for _, outside := range []string{"http://", "https://", "<script", "src="} {
		if strings.Contains(html, outside) {
			t.Errorf("the page reaches outside: %s", outside)
		}
	}
	if strings.Count(html, "<table>") != 2 || !strings.Contains(html, "width: 100.0%") {
		t.Errorf("page %s", html)
	}
}

func TestOnlyTheMarksThatAreShownAreExplained(t *testing.T) {
	t.Parallel()
	free := session.Spent{Day: "2026-03-02", Model: "c", Requests: 2, Unpriced: 2}
	for want, rows := range map[string][]session.Spent{
		"\n?: the price of 2 requests": {free},
		"\n?, >: the price of 2":       {free, rows[0]}, // the total is more than what is known
	} {
		if out := usage.New(rows, 30, usage.ByModel).Text(80); !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := usage.New(rows, 30, usage.ByModel).Text(80); strings.Contains(out, "?") {
		t.Errorf("all prices are known:\n%s", out)
	}
}
