package doctorcli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/tools/command"
)

// Setup is what `jcode doctor` and /doctor are given.
type Setup struct {
	console.Streams
	// Examine checks part by part.
	Examine func(ctx context.Context, w Wanted, r *health.Report)
}

// Wanted says how much is checked.
type Wanted struct {
	Offline bool // neither the model's endpoint nor MCP servers
	Tasks   bool // the queue of tasks, too
	Repair  bool // a damaged database is repaired first
}

// Command is `jcode doctor`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// Cmd checks everything that a session depends on, and says what to do about what is wrong.
type Cmd struct {
	Offline bool `help:"Leave the model's endpoint and MCP servers out."`
	Tasks   bool `help:"Check the queue of tasks too: schema, clock, rights, and git and trust where tasks work."`
	JSON    bool `name:"json" help:"Print the findings as JSON."`
	Repair  bool `help:"Copy what can be read of a damaged session database into a new one first, and restore sessions from files that were moved aside."`
}

// Run prints the report. It exits with 2 when something is wrong with files or settings, with 1 when only the
// model's endpoint fails.
func (c *Cmd) Run(ctx context.Context, std Setup) error {
	var d health.Report
	if !c.JSON {
		d.Show = func(f health.Finding) { f.Print(std.Out) }
	}
	std.Examine(ctx, Wanted{Offline: c.Offline, Tasks: c.Tasks, Repair: c.Repair}, &d)
	if c.JSON {
		if err := console.PrintJSON(std.Out, d.Found); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	exit := console.ExitDone
	for _, f := range d.Found {
		if f.State == health.Fail {
			exit = max(exit, f.Exit)
		}
	}
	if exit != console.ExitDone {
		return &console.Exit{Code: exit, Silent: true, Err: errors.New("the doctor found something wrong")}
	}
	return nil
}

// Page is /doctor.
func Page(ctx context.Context, std Setup) (command.Outcome, error) {
	var report strings.Builder
	std.Examine(ctx, Wanted{}, &health.Report{Show: func(f health.Finding) { f.Print(&report) }})
	return command.Outcome{Page: "Doctor", Notice: strings.TrimRight(report.String(), "\n")}, nil
}
