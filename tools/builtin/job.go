package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"jcode/tools"
)

//go:embed job.md
var jobText string

// jobTool lists background commands, shows their output and ends them.
type jobTool struct{ shell *Shell }

// Spec implements tools.Tool.
func (t jobTool) Spec() tools.Spec {
	return tools.Spec{
		// It needs no approval: every job was started by an approved call of exec.
		Name: "job", Description: strings.TrimSpace(jobText), Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapExecute, Serial: "job",
		Parameters: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string","enum":["list","output","kill"]},"id":{"type":"integer","description":"For output and kill"}},"required":["action"]}`),
		MaxOutput:  maxExecText + 4<<10,
	}
}

// Run implements tools.Tool.
func (t jobTool) Run(_ context.Context, call tools.Call) (tools.Result, error) {
	var args struct {
		Action string
		ID     *int
	}
	if err := call.Decode(&args); err != nil {
		return tools.Result{}, err
	}
	if args.Action == "list" {
		return t.list(), nil
	}
	if args.ID == nil {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "missing required argument: id (the number of the job)")
	}
	if args.Action == "kill" {
		if err := t.shell.KillJob(*args.ID); err != nil {
			return tools.Result{}, err
		}
	}
	out, err := t.shell.JobOutput(*args.ID)
	if err != nil {
		return tools.Result{}, err
	}
	j, err := t.shell.find(*args.ID)
	if err != nil {
		return tools.Result{}, err
	}
	line := describe(j.info())
	if out == "" {
		out = "(no new output)"
	}
	return tools.Result{Text: line + "\n" + out, Data: map[string]any{"job": *args.ID, "state": j.info().State, "output": out}, Display: tools.Display{Summary: line}}, nil
}

func (t jobTool) list() tools.Result {
	jobs := t.shell.Jobs()
	lines := make([]string, 0, len(jobs))
	data := make([]map[string]any, 0, len(jobs))
	for _, j := range jobs {
		lines = append(lines, describe(j))
		data = append(data, map[string]any{"job": j.ID, "command": j.Command, "state": j.State, "log": j.Log})
	}
	if len(lines) == 0 {
		lines = []string{"no background commands"}
	}
	return tools.Result{Text: strings.Join(lines, "\n"), Data: map[string]any{"jobs": data}, Display: tools.Display{Summary: fmt.Sprintf("%d jobs", len(jobs))}}
}

// describe returns a job in one line.
func describe(j Job) string {
	took := time.Since(j.Started)
	if !j.Ended.IsZero() {
		took = j.Ended.Sub(j.Started)
	}
	line := fmt.Sprintf("job %d: %s, %s: %s", j.ID, j.State, took.Round(time.Second), oneLine(j.Command))
	if j.Leftover {
		line += " (what it left running)"
	}
	if len(j.Running) > 0 {
		line += "; running: " + names(j.Running)
	}
	return line
}
