package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// measurements are the numbers that jobs reported, and why others are missing.
type measurements map[value]*measured

type measured struct {
	numbers []float64
	skipped string // why there is no number
}

func (m measurements) at(v value) *measured {
	if m[v] == nil {
		m[v] = &measured{}
	}
	return m[v]
}

// skip notes why a benchmark of a job, or with "" all of them, gave nothing.
func (m measurements) skip(job, from, why string) { m.at(value{job: job, from: from}).skipped = why }

// read takes the output of go test: the lines of benchmarks, the attributes of tests, and
// the reasons of what was skipped.
func (m measurements) read(job, output string) {
	skipped := ""
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "=== ATTR") && len(fields) == 5:
			m.add(value{job, fields[2], fields[3]}, fields[4])
		case strings.HasPrefix(line, "--- SKIP: ") && len(fields) >= 3:
			skipped = strings.TrimSuffix(fields[2], ":")
		case skipped != "" && strings.HasPrefix(line, " "):
			_, why, _ := strings.Cut(line, ": ")
			m.skip(job, skipped, strings.TrimSpace(why))
			skipped = ""
		case strings.HasPrefix(line, "Benchmark") && len(fields) >= 4:
			from := processors.ReplaceAllString(fields[0], "")
			for i := 2; i+1 < len(fields); i += 2 {
				m.add(value{job, from, fields[i+1]}, fields[i])
			}
		}
	}
}

// processors is what go test puts behind a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

func (m measurements) add(v value, number string) {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		m.at(v).skipped = "unreadable: " + number
		return
	}
	m.at(v).numbers = append(m.at(v).numbers, n)
}

// median returns the middle of what was measured, or says why there is nothing.
func (m measurements) median(v value) (n float64, why string) {
	if got := m[v]; got != nil && len(got.numbers) > 0 {
		sorted := slices.Sorted(slices.Values(got.numbers))
		return sorted[len(sorted)/2], ""
	}
	for _, from := range []string{v.from, v.function(), ""} {
		if got := m[value{job: v.job, from: from}]; got != nil && got.skipped != "" {
			return 0, got.skipped
		}
	}
	return 0, "not measured"
}

// result is the number of a figure as it is shown, or why there is none.
func (m measurements) result(f figure) (n float64, why string) {
	n, why = m.median(f.value)
	if why != "" {
		return 0, why
	}
	if f.over != nil {
		below, why := m.median(*f.over)
		if why != "" || below == 0 {
			return 0, "nothing to compare with"
		}
		n /= below
	}
	if f.scale != 0 {
		n *= f.scale
	}
	return n, ""
}

// printTable prints the figures, as aligned columns or as Markdown.
func printTable(out io.Writer, rows []figure, m measurements, markdown bool) {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	row := func(cells ...string) {
		if markdown {
			fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
		} else {
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
	}
	row("figure", "measured", "budget", "ok")
	if markdown {
		row("---", "---", "---", "---")
	}
	for _, f := range rows {
		n, why := m.result(f)
		switch {
		case why != "":
			row(f.name, why, shown(f.budget, f.unit), "–")
		case n <= f.budget:
			row(f.name, shown(n, f.unit), shown(f.budget, f.unit), "yes")
		default:
			row(f.name, shown(n, f.unit), shown(f.budget, f.unit), "no")
		}
	}
	if !markdown {
		_ = table.Flush() // the error is that of a closed output
	}
}

// shown returns three digits that count, or all of a whole number, and the unit.
func shown(n float64, unit string) string {
	s := strconv.FormatFloat(n, 'f', -1, 64)
	if whole := n == math.Trunc(n); !whole && len(s) > 4 {
		digits := 2 - int(math.Floor(math.Log10(math.Abs(n))))
		s = strconv.FormatFloat(n, 'f', min(max(digits, 0), 4), 64)
	}
	return s + " " + unit
}
