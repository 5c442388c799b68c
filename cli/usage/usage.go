// Package usage owns how used tokens and money are grouped and shown: as a table with bars for a terminal, as
// JSON, and as one HTML page; `jcode usage` (Cmd in command.go, the first to read) and /usage.
package usage

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/session"
)

// By says what lines are grouped by.
type By string

// What lines can be grouped by.
const (
	ByDay     By = "day"
	ByModel   By = "model"
	ByProject By = "project"
	BySession By = "session"
)

// Line is one group of a report.
type Line struct {
	// Name is the day, the model, the project's folder or the session's title.
	Name string `json:"name"`
	// Session is its ID, if lines are sessions.
	Session string `json:"session_id,omitempty"`
	// Input are the tokens that were sent and neither read from nor written to a cache.
	Input      int     `json:"input_tokens"`
	CacheRead  int     `json:"cache_read_tokens"`
	CacheWrite int     `json:"cache_write_tokens"`
	Output     int     `json:"output_tokens"`
	Requests   int     `json:"requests"`
	Searches   int     `json:"web_searches,omitempty"`
	Cost       float64 `json:"-"`
	// CostUSD is what is known of the cost, nil if nothing is; Unpriced are the requests whose price is not known.
	CostUSD  *float64 `json:"cost_usd"`
	Unpriced int      `json:"unpriced_requests,omitempty"`
	// CacheShare is the share of the sent tokens that was read from a cache, 0 to 1.
	CacheShare float64 `json:"cache_share"`
	// Estimated says that some counts did not come from the provider.
	Estimated bool `json:"estimated,omitempty"`
}

// Report is what was used in some days.
type Report struct {
	Days  int    `json:"days"`
	By    By     `json:"by"`
	Lines []Line `json:"lines"`
	Total Line   `json:"total"`
}

// New groups rows: days in order, everything else by its cost and tokens, the largest first.
func New(rows []session.Spent, days int, by By) Report {
	r := Report{Days: days, By: by, Lines: []Line{}, Total: Line{Name: "total"}}
	at := map[string]int{}
	for _, row := range rows {
		id, name := group(row, by)
		i, known := at[id]
		if !known {
			i = len(r.Lines)
			at[id] = i
			line := Line{Name: name}
			if by == BySession {
				line.Session = row.Session
			}
			r.Lines = append(r.Lines, line)
		}
		r.Lines[i].add(row)
		r.Total.add(row)
	}
	if by != ByDay {
		slices.SortStableFunc(r.Lines, func(a, b Line) int {
			return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.tokens(), a.tokens()))
		})
	}
	for i := range r.Lines {
		r.Lines[i].share()
	}
	r.Total.share()
	return r
}

// group returns the key and the name of the line that a row belongs to.
func group(row session.Spent, by By) (id, name string) {
	switch by {
	case ByModel:
		return row.Model, cmp.Or(row.Model, "(unknown)")
	case ByProject:
		return row.ProjectID, cmp.Or(filepath.Base(row.Cwd), "(unknown)")
	case BySession:
		return row.Session, cmp.Or(row.Title, row.Session)
	case ByDay:
	}
	return row.Day, row.Day
}

func (l *Line) add(row session.Spent) {
	u := row.Usage
	l.Input += max(u.Input-u.Cached-u.Written, 0)
	l.CacheRead += u.Cached
	l.CacheWrite += u.Written
	l.Output += u.Output
	l.Requests += row.Requests
	l.Unpriced += row.Unpriced
	l.Searches += u.Searches
	l.Cost += u.Cost
	l.Estimated = l.Estimated || u.Estimated
}

func (l *Line) share() {
	if sent := l.Input + l.CacheRead + l.CacheWrite; sent > 0 {
		l.CacheShare = float64(l.CacheRead) / float64(sent)
	}
	if l.Unpriced < l.Requests || l.Cost > 0 {
		l.CostUSD = &l.Cost
	}
}

func (l *Line) tokens() int { return l.Input + l.CacheRead + l.CacheWrite + l.Output }

// barCells is the width of a bar.
const barCells = 20

// The columns of a report: their heads and widths. Where there is little room, only the short ones are shown.
func columns(width int) []column {
	all := []column{{"input", 9}, {"read", 9}, {"write", 9}, {"output", 9}, {"cost", 10}, {"cached", 7}}
	if width >= minName+total(all) {
		return all
	}
	return []column{{"input", 8}, {"output", 8}, {"cost", 10}}
}

type column struct {
	head  string
	width int
}

// Text returns the report for a terminal of a width in cells.
func (r Report) Text(width int) string {
	if len(r.Lines) == 0 {
		return fmt.Sprintf("Nothing was used in the last %s.\n", text.Count(r.Days, "day"))
	}
	shown := columns(width)
	most := r.most()
	name := len(r.By)
	for _, l := range append(r.Lines, r.Total) {
		name = max(name, text.Width(l.Name))
	}
	name = max(min(name, width-total(shown), 40), 5)
	bars := width >= name+total(shown)+2+barCells && most > 0
	var b strings.Builder
	row := func(first string, values ...string) {
		line := pad(first, name)
		for i, c := range values {
			line += strings.Repeat(" ", max(shown[i].width-text.Width(c), 1)) + c
		}
		b.WriteString(strings.TrimRight(line, " "))
	}
	heads := make([]string, len(shown))
	for i, c := range shown {
		heads[i] = c.head
	}
	row(string(r.By), heads...)
	b.WriteByte('\n')
	for _, l := range append(slices.Clone(r.Lines), r.Total) {
		last := l == r.Total
		if last {
			b.WriteString(strings.Repeat("─", name+total(shown)) + "\n")
		}
		of := map[string]string{
			"input": l.mark() + Tokens(l.Input), "read": Tokens(l.CacheRead), "write": Tokens(l.CacheWrite),
			"output": l.mark() + Tokens(l.Output), "cost": l.money(), "cached": fmt.Sprintf("%.0f%%", 100*l.CacheShare),
		}
		var values []string
		for _, head := range heads {
			values = append(values, of[head])
		}
		row(text.Clean(l.Name), values...)
		if bars && !last {
			b.WriteString("  " + bar(r.measure(l)/most))
		}
		b.WriteByte('\n')
	}
	b.WriteString(cells.WrapText(r.legend(len(shown) > 3, bars), max(width, 20)) + "\n")
	return b.String()
}

// legend says what the figures are that are shown.
func (r Report) legend(cached, bars bool) string {
	said := ""
	if n := r.Total.Unpriced; n > 0 {
		said = fmt.Sprintf("%s: the price of %s is not known; set models[].prices, or read a newer table with jcode models update.\n", r.unpriced(), text.Count(n, "request"))
	}
	said += fmt.Sprintf("The last %s.", text.Count(r.Days, "day"))
	var parts []string
	if cached {
		parts = append(parts, "read and write: the provider's prompt cache")
	}
	if r.Total.Estimated {
		parts = append(parts, "~: an estimate")
	}
	if bars {
		parts = append(parts, "bars: "+r.measured())
	}
	if len(parts) > 0 {
		said += " " + strings.Join(parts, "; ") + "."
	}
	return said
}

// unpriced returns the marks of lines whose price is not known, or only in part, as far as there are any.
func (r Report) unpriced() string {
	var marks []string
	for _, mark := range []string{"?", ">"} {
		if slices.ContainsFunc(append(slices.Clone(r.Lines), r.Total), func(l Line) bool { return strings.HasPrefix(l.money(), mark) }) {
			marks = append(marks, mark)
		}
	}
	return strings.Join(marks, ", ")
}

// minName is the least width of the names beside all columns.
const minName = 10

func total(list []column) (width int) {
	for _, c := range list {
		width += c.width
	}
	return width
}

// measure returns what bars compare: money if any is known, otherwise tokens.
func (r Report) measure(l Line) float64 {
	if r.Total.Cost > 0 {
		return l.Cost
	}
	return float64(l.tokens())
}

// most returns the largest measure of a line.
func (r Report) most() float64 {
	most := 0.0
	for _, l := range r.Lines {
		most = max(most, r.measure(l))
	}
	return most
}

func (r Report) measured() string {
	if r.Total.Cost > 0 {
		return "cost"
	}
	return "tokens"
}

// bar draws a share of a full bar in eighths of a cell.
func bar(share float64) string {
	eighths := int(share*barCells*8 + 0.5)
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return out
}

func pad(s string, cells int) string {
	s = text.Truncate(strings.ReplaceAll(s, "\n", " "), cells, "…")
	return s + strings.Repeat(" ", max(cells-text.Width(s), 0))
}

// Tokens abbreviates a number of tokens: 950, 12.3k, 4.1M.
func Tokens(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// mark returns what precedes figures of a line that are based on estimates.
func (l Line) mark() string {
	if l.Estimated {
		return "~"
	}
	return ""
}

// money returns what a line cost, with its mark.
func (l Line) money() string {
	switch {
	case l.Cost > 0 && l.Unpriced > 0:
		return ">" + Money(l.Cost)
	case l.Cost > 0:
		return l.mark() + Money(l.Cost)
	case l.Unpriced > 0:
		return "?"
	}
	return Money(l.Cost)
}

// Money writes US dollars with as many digits as are significant.
func Money(usd float64) string {
	switch {
	case usd == 0:
		return "–"
	case usd < 0.01:
		return fmt.Sprintf("$%.5f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
