package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"jcode/cli/console"
	"jcode/cli/usage"
	"jcode/internal/atomicfile"
	"jcode/session"
	"jcode/tools/command"
)

// usageCmd shows what models have cost, from the database alone.
type usageCmd struct {
	Days int    `default:"30" help:"Days to look back." placeholder:"N"`
	By   string `enum:"day,model,project,session" default:"day" help:"What a line is: ${enum}."`
	JSON bool   `name:"json" help:"Print one JSON object."`
	HTML string `name:"html" help:"Write all groupings as one HTML page." placeholder:"FILE"`
}

// Run prints the report, or writes the page.
func (c *usageCmd) Run(ctx context.Context, f *flags, std Streams) error {
	if c.Days < 1 {
		return console.Usage("--days: a number above 0")
	}
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	rows, err := spending(ctx, a.store, c.Days)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		var reports []usage.Report
		for _, by := range []usage.By{usage.ByDay, usage.ByModel, usage.ByProject, usage.BySession} {
			reports = append(reports, usage.New(rows, c.Days, by))
		}
		if err := atomicfile.Write(c.HTML, []byte(usage.HTML(reports)), atomicfile.Options{}); err != nil {
			return console.Usage("--html: %w", err)
		}
		fmt.Fprintln(std.Err, "jcode: written to "+c.HTML)
		return nil
	}
	report := usage.New(rows, c.Days, usage.By(c.By))
	if c.JSON {
		return console.PrintJSON(std.Out, report)
	}
	fmt.Fprint(std.Out, report.Text(columns(std)))
	return nil
}

// columns returns the width of the terminal on stdout, or what $COLUMNS says.
func columns(std Streams) int {
	if f, ok := console.Behind(std.Out).(*os.File); ok && std.OutIsTerminal {
		if width, _, err := term.GetSize(f.Fd()); err == nil && width > 0 {
			return width
		}
	}
	if n, err := strconv.Atoi(std.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 100
}

// spending sums what was used in the last days, including today.
func spending(ctx context.Context, store *session.Store, days int) ([]session.Spent, error) {
	now := time.Now()
	return store.Spending(ctx, time.Date(now.Year(), now.Month(), now.Day()-days+1, 0, 0, 0, 0, now.Location()))
}

// usageWords returns the arguments of /usage.
func usageWords() []string { return []string{"day", "model", "project", "session"} }

// usage is /usage [days] [day|model|project|session], or with the flags of jcode usage.
func (p personCommands) usage(ctx context.Context, args string) (command.Outcome, error) {
	days, by := 30, usage.ByDay
	for _, word := range strings.Fields(strings.ReplaceAll(args, "=", " ")) {
		n, err := strconv.Atoi(word)
		switch {
		case slices.Contains([]string{"--by", "by", "--days", "days"}, word):
		case err == nil && n > 0:
			days = n
		case slices.Contains(usageWords(), word):
			by = usage.By(word)
		default:
			return command.Outcome{}, fmt.Errorf("/usage %s: give a number of days, and day, model, project or session", args)
		}
	}
	rows, err := spending(ctx, p.store, days)
	if err != nil {
		return command.Outcome{}, err
	}
	report := usage.New(rows, days, by)
	const noticeCells = 76 // where the width is unknown
	return command.Outcome{Page: "Usage", Notice: strings.TrimRight(report.Text(noticeCells), "\n"), Wide: report.Text}, nil
}
