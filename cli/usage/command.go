package usage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/cli/console"

	"jcode/internal/atomicfile"
	"jcode/session"
	"jcode/tools/command"
)

// Setup is what `jcode usage` is given.
type Setup struct {
	console.Streams
	// Open opens the sessions. The caller closes them.
	Open func(ctx context.Context) (store *session.Store, done func(), err error)
}

// Command is `jcode usage`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// Cmd shows what models have cost, from the database alone.
type Cmd struct {
	Days int    `default:"30" help:"Days to look back." placeholder:"N"`
	By   string `enum:"day,model,project,session" default:"day" help:"What a line is: ${enum}."`
	JSON bool   `name:"json" help:"Print one JSON object."`
	HTML string `name:"html" help:"Write all groupings as one HTML page." placeholder:"FILE"`
}

// Run prints the report, or writes the page.
func (c *Cmd) Run(ctx context.Context, std Setup) error {
	if c.Days < 1 {
		return console.Usage("--days: a number above 0")
	}
	store, done, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	rows, err := spending(ctx, store, c.Days)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		var reports []Report
		for _, by := range []By{ByDay, ByModel, ByProject, BySession} {
			reports = append(reports, New(rows, c.Days, by))
		}
		if err := atomicfile.Write(c.HTML, []byte(HTML(reports)), atomicfile.Options{}); err != nil {
			return console.Usage("--html: %w", err)
		}
		fmt.Fprintln(std.Err, "jcode: written to "+c.HTML)
		return nil
	}
	report := New(rows, c.Days, By(c.By))
	if c.JSON {
		return console.PrintJSON(std.Out, report)
	}
	fmt.Fprint(std.Out, report.Text(std.Columns()))
	return nil
}

// spending sums what was used in the last days, including today.
func spending(ctx context.Context, store *session.Store, days int) ([]session.Spent, error) {
	now := time.Now()
	return store.Spending(ctx, time.Date(now.Year(), now.Month(), now.Day()-days+1, 0, 0, 0, 0, now.Location()))
}

// Words returns the arguments of /usage.
func Words() []string { return []string{"day", "model", "project", "session"} }

// Page is /usage [days] [day|model|project|session], or with the flags of jcode usage.
func Page(ctx context.Context, store *session.Store, args string) (command.Outcome, error) {
	days, by := 30, ByDay
	for _, word := range strings.Fields(strings.ReplaceAll(args, "=", " ")) {
		n, err := strconv.Atoi(word)
		switch {
		case slices.Contains([]string{"--by", "by", "--days", "days"}, word):
		case err == nil && n > 0:
			days = n
		case slices.Contains(Words(), word):
			by = By(word)
		default:
			return command.Outcome{}, fmt.Errorf("/usage %s: give a number of days, and day, model, project or session", args)
		}
	}
	rows, err := spending(ctx, store, days)
	if err != nil {
		return command.Outcome{}, err
	}
	report := New(rows, days, by)
	const noticeCells = 76 // where the width is unknown
	return command.Outcome{Page: "Usage", Notice: strings.TrimRight(report.Text(noticeCells), "\n"), Wide: report.Text}, nil
}
