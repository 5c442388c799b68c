package demo

import (
	"context"
	"fmt"
	"io"
	"strings"

	"jcode/agent/event"
	printcli "jcode/cli/print"
	"jcode/internal/text"
	"jcode/tools"
)

// playedAsker answers approvals as the tour's person would, and says so.
type playedAsker struct{ notes io.Writer }

// Ask approves once.
func (a playedAsker) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	what := q.Heading()
	if q.Command != "" {
		what += ": " + q.Command
	}
	fmt.Fprintf(a.notes, "jcode: approval played: yes, once: %s\n", what)
	return tools.Answer{Scope: tools.AnswerOnce, Option: -1}, nil
}

// printer also shows the calls of a printed tour, with what commands print and what a language server
// finds.
type printer struct {
	printcli.Printer
	notes io.Writer
}

func (p *printer) Event(ev event.Event) {
	switch ev := ev.(type) {
	case event.CallStart:
		fmt.Fprintf(p.notes, "  → %s %s\n", ev.Name, ev.Arguments)
	case event.CallEnd:
		mark := "✓"
		if ev.Result.Failed {
			mark = "✗"
		}
		line := ev.Result.Display.Summary
		if line == "" {
			line = text.Headline(ev.Result.Text)
		}
		fmt.Fprintf(p.notes, "  %s %s: %s\n", mark, ev.Name, line)
		more := ev.Result.Display.Found
		if ev.Name == "exec" {
			more = ev.Result.Text
		}
		for _, line := range strings.Split(strings.TrimSpace(more), "\n") {
			if line != "" {
				fmt.Fprintf(p.notes, "      %s\n", line)
			}
		}
	}
	p.Printer.Event(ev)
}
