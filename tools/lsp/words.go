package lsp

import (
	"fmt"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/tools/lsp/protocol"
)

const maxTold = 10 // problems in a result

// line formats a problem.
func (in *instance) line(p problem) string {
	code := strings.Trim(string(p.Code), `"`)
	if strings.HasPrefix(code, "{") || code == "null" {
		code = ""
	}
	s := fmt.Sprintf("%s:%d:%d ", in.around.shown(p.path), p.Range.Start.Line+1, p.Range.Start.Character+1)
	if p.Severity == protocol.SeverityWarning {
		s += "warning: "
	}
	s += text.Cut(text.OneLine(p.Message), 300)
	if code != "" {
		s += " [" + text.Cut(text.OneLine(code), 60) + "]"
	}
	return s
}

// worded returns the lines for a result, the most important first, or "" if nothing is new. on
// names the change if it is not the one of the result.
func (in *instance) worded(t told, out outcome, on string) string {
	var b strings.Builder
	if len(t.list) > 0 {
		fmt.Fprintf(&b, "[%s%s: %s]\n", in.server.Name, on, t.tally())
		for _, p := range t.list[:min(len(t.list), maxTold)] {
			b.WriteString(in.line(p) + "\n")
		}
		if more := len(t.list) - maxTold; more > 0 {
			fmt.Fprintf(&b, "… and %d more: see the tool diagnostics\n", more)
		}
	}
	if s := in.missing(out); s != "" {
		b.WriteString("[" + s + "]\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// missing says that an answer is missing, and why; "" if it is not.
func (in *instance) missing(out outcome) string {
	const later = ": what it finds comes with a later result, or ask with the tool diagnostics"
	name := in.server.Name
	in.mu.Lock()
	never, began := !in.answers, in.began
	in.mu.Unlock()
	switch {
	case out == outcomeLoading:
		return name + " is still loading and has not answered yet" + later
	case out == outcomeUnanswered && never:
		return fmt.Sprintf("%s has not answered yet, and never since it started %s ago: whether the edit broke something is not known", name, time.Since(began).Round(time.Second))
	case out == outcomeUnanswered:
		return name + " has not answered yet" + later
	case out == outcomeEnded:
		why := text.Cut(text.OneLine(in.failure().Error()), 200)
		if refused := in.refusal(); refused != "" {
			why += "; " + refused
		}
		return fmt.Sprintf("%s can't be asked (%s): whether the edit broke something is not known", name, why)
	}
	return ""
}

func (t told) tally() string {
	errs, warnings := 0, 0
	for _, p := range t.list {
		if p.Severity == protocol.SeverityError {
			errs++
		} else {
			warnings++
		}
	}
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{errs, "error"}, {warnings, "warning"}} {
		switch {
		case c.n > 0 && t.doubt:
			parts = append(parts, text.Count(c.n, c.noun))
		case c.n > 0:
			parts = append(parts, text.Count(c.n, "new "+c.noun))
		}
	}
	if t.older > 0 {
		parts = append(parts, fmt.Sprintf("%d older", t.older))
	}
	if t.doubt {
		parts = append(parts, "some may be older than this edit, which came while it was reading the project")
	}
	return strings.Join(parts, ", ")
}
