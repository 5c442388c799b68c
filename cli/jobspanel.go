package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/tools/builtin"
	"jcode/tools/command"
)

// jobsPanel lists background commands, and can end them.
func jobsPanel(shell *builtin.Shell) command.Panel {
	return command.Panel{
		Name: "jobs", Help: "background commands: look at one, end one", Title: "Background commands",
		Empty: "Nothing runs in the background.",
		Rows:  func(context.Context) ([]command.Row, error) { return mapSlice(shell.Jobs(), jobRow), nil },
		Actions: []command.Action{
			{Label: "look at it", Run: func(_ context.Context, row command.Row) (string, error) { return row.Detail, nil }},
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

func jobRow(j builtin.Job) command.Row {
	took := time.Since(j.Started)
	if !j.Ended.IsZero() {
		took = j.Ended.Sub(j.Started)
	}
	lines := []string{j.Command, "in " + j.Dir, "output: " + j.Log}
	for _, p := range j.Running {
		lines = append(lines, fmt.Sprintf("running: %s (pid %d)", p.Command, p.Pid))
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
