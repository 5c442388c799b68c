package shellcli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"jcode/cli/attach"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools/builtin"
	"jcode/tools/command"
)

// Jobs lists background commands, and can end them.
func Jobs(shell *builtin.Shell) command.Panel {
	return command.Panel{
		Name: "jobs", Help: "background commands: look at one, end one", Title: "Background commands",
		Empty: "Nothing runs in the background.",
		Live:  true,
		Rows: func(context.Context) ([]command.Row, error) {
			return slicex.Map(shell.Jobs(), func(j builtin.Job) command.Row {
				screen, _ := shell.JobScreen(j.ID)
				return jobRow(j, screen)
			}), nil
		},
		Actions: []command.Action{
			{Label: "look at it", Lend: func(row command.Row) func(context.Context, *os.File, *os.File) error { return attachJob(shell, row.ID) }, Run: func(_ context.Context, row command.Row) (string, error) { return row.Detail, nil }},
			{Key: "ctrl+d", Label: "end it", Confirm: true, Run: func(_ context.Context, row command.Row) (string, error) {
				var id int
				if _, err := fmt.Sscan(row.ID, &id); err != nil {
					return "", errors.New("no job chosen")
				}
				return "ended job " + row.ID, shell.KillJob(id)
			}},
		},
	}
}

// attachJob returns what shows a job in the person's terminal, nil if it has none.
func attachJob(shell *builtin.Shell, row string) func(ctx context.Context, in, out *os.File) error {
	id, err := strconv.Atoi(row)
	if err != nil {
		return nil
	}
	if j, ok := shell.Job(id); !ok || !j.Terminal || !j.Ended.IsZero() {
		return nil
	}
	return func(ctx context.Context, in, out *os.File) error {
		return attach.Take(ctx, in, out, func(cols, rows int) (attach.Job, error) { return shell.ShowJob(id, cols, rows) })
	}
}

// jobRow is the row of a job. screen is what its terminal shows, "" if it has none.
func jobRow(j builtin.Job, screen string) command.Row {
	took := time.Since(j.Started)
	if !j.Ended.IsZero() {
		took = j.Ended.Sub(j.Started)
	}
	lines := []string{j.Command, "in " + j.Dir, "output: " + j.Log}
	for _, p := range j.Running {
		lines = append(lines, fmt.Sprintf("running: %s (pid %d)", p.Command, p.Pid))
	}
	if j.Terminal && j.Ended.IsZero() {
		lines = append(lines, "enter types there, ctrl+] comes back; this is its screen:", screen)
	}
	keys := []string{"look at it"}
	if j.Ended.IsZero() {
		keys = append(keys, "end it")
	}
	return command.Row{
		Keys: keys, ID: fmt.Sprint(j.ID), Name: text.Headline(j.Command), Info: took.Round(time.Second).String(), State: j.State,
		Current: j.Ended.IsZero(), Detail: strings.Join(lines, "\n"),
	}
}
