package health

import (
	"fmt"
	"io"

	"jcode/internal/text"
)

// Finding is one line of the doctor's report.
type Finding struct {
	// Area is what the line is about: "config", "model", "database".
	Area string `json:"area"`
	// State is ok, warn or fail.
	State string `json:"state"`
	Text  string `json:"text"`
	// Advice says what to do; empty if nothing.
	Advice string `json:"advice,omitempty"`

	Exit int // the exit code for a failure
}

// The states of a finding.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// Report is what checks find. A check of a part adds to it and goes on: a fault in one does not affect the others.
type Report struct {
	Show  func(Finding) // is called with each finding as it is made; may be nil
	Found []Finding
}

// Say adds a finding.
func (r *Report) Say(f Finding) {
	r.Found = append(r.Found, f)
	if r.Show != nil {
		r.Show(f)
	}
}

// OK adds what is as it should be.
func (r *Report) OK(area, format string, args ...any) {
	r.Say(Finding{Area: area, State: OK, Text: fmt.Sprintf(format, args...)})
}

// Warn adds what should be looked at; advice says what to do, "" for nothing.
func (r *Report) Warn(area, advice, format string, args ...any) {
	r.Say(Finding{Area: area, State: Warn, Text: fmt.Sprintf(format, args...), Advice: advice})
}

// Fail adds what is wrong; exit is the exit code for it.
func (r *Report) Fail(area, advice string, exit int, format string, args ...any) {
	r.Say(Finding{Area: area, State: Fail, Text: fmt.Sprintf(format, args...), Advice: advice, Exit: exit})
}

// Print writes the finding in a line, and its advice in another.
func (f Finding) Print(w io.Writer) {
	mark := map[string]string{OK: "✓", Warn: "!", Fail: "✗"}[f.State]
	fmt.Fprintf(w, "%s %-9s %s\n", mark, f.Area, text.Clean(f.Text))
	if f.Advice != "" {
		fmt.Fprintf(w, "  %-9s → %s\n", "", text.Clean(f.Advice))
	}
}
