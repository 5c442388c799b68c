package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"jcode/internal/terminal"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed job.md
var jobText string

// jobTool lists background commands, shows their output and ends them.
type jobTool struct{ shell *Shell }

// jobArgs are job's arguments.
type jobArgs struct {
	Action    string
	ID        *int
	Text      string
	Keys      string
	Pattern   string
	TimeoutMS int64 `json:"timeout_ms"`
}

// Spec implements tools.Tool.
func (t jobTool) Spec() tools.Spec {
	return tools.Spec{
		// All but write needs no approval: every job was started by an approved call of exec.
		Name: "job", Description: strings.TrimSpace(jobText), Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapExecute, Serial: "job",
		Parameters: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string","enum":["list","output","kill","write","read","wait"]},"id":{"type":"integer","description":"For all but list"},"text":{"type":"string","description":"For write"},"keys":{"type":"string","description":"For write, by name with blanks between: enter, ctrl-c, up, esc, f1"},"pattern":{"type":"string","description":"For wait: an RE2 regular expression"},"timeout_ms":{"type":"integer","description":"For wait, 30000 if not given, at most 600000"}},"required":["action"]}`),
		MaxOutput:  maxExecText + 4<<10,
	}
}

// prepared is what a plan of write found.
type prepared struct {
	reader terminal.Reader
	line   typedLine
}

// decode decodes the arguments, and finds the job that they name.
func (t jobTool) decode(call tools.Call) (args jobArgs, in typing, j *job, err error) {
	if err := call.Decode(&args); err != nil || args.Action == "list" {
		return args, in, nil, err
	}
	if args.ID == nil {
		return args, in, nil, tools.Errorf(tools.KindInvalidArgs, "missing required argument: id (the number of the job)")
	}
	if j, err = t.shell.find(*args.ID); err != nil || args.Action != "write" {
		return args, in, j, err
	}
	in.text = args.Text
	if in.keys, err = keyNames(args.Keys); err != nil {
		return args, in, j, err
	}
	switch {
	case in.text == "" && in.keys == nil:
		return args, in, j, tools.Errorf(tools.KindInvalidArgs, "write needs text or keys")
	case len(in.text) > maxTyped:
		return args, in, j, tools.Errorf(tools.KindInvalidArgs, "the text has %d bytes, more than %d: write it to a file", len(in.text), maxTyped)
	case j.isOver():
		return args, in, j, tools.Errorf(tools.KindInvalidArgs, "job %d has ended", j.id)
	}
	return args, in, j, nil
}

// maxTyped bounds what one call types, in bytes.
const maxTyped = 16 << 10

// Plan implements tools.Planner.
func (t jobTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	args, in, j, err := t.decode(call)
	if err != nil || args.Action != "write" {
		return tools.Plan{Summary: "Look at background commands"}, err
	}
	var p prepared
	if term := j.cmd.term; term != nil {
		if in.text != "" && term.Secret() {
			return tools.Plan{}, secretRefusal(j.id)
		}
		p.reader = term.Reader()
	}
	j.mu.Lock()
	p.line = j.line
	j.mu.Unlock()
	plan := tools.Plan{Summary: fmt.Sprintf("Type into %s (job %d: %s)", j.reads(p.reader), j.id, text.Brief(j.cmd.line)), Prepared: p}
	if access, ok := p.line.judged(p.reader, in).access(j, p.reader); ok {
		plan.Accesses = []tools.Access{access}
	}
	return plan, nil
}

// Run implements tools.Tool.
func (t jobTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	args, in, j, err := t.decode(call)
	if err != nil {
		return tools.Result{}, err
	}
	switch args.Action {
	case "list":
		return t.list(), nil
	case "write":
		p, ok := call.Plan.Prepared.(prepared)
		if !ok {
			return tools.Result{}, tools.Errorf(tools.KindDenied, "nobody has decided about this text")
		}
		if err := j.typeInto(in, p.reader, p.line); err != nil {
			return tools.Result{}, err
		}
		why, err := t.shell.settled(ctx, j, still, beginLimit, nil)
		if err != nil {
			return tools.Result{}, err
		}
		return t.shell.look(j, why)
	case "read":
		return t.shell.look(j, "")
	case "wait":
		return t.wait(ctx, args, j)
	case "kill":
		if err := t.shell.KillJob(j.id); err != nil {
			return tools.Result{}, err
		}
	}
	return t.output(j)
}

// wait waits until a job is silent, has ended, or shows a pattern.
func (t jobTool) wait(ctx context.Context, args jobArgs, j *job) (tools.Result, error) {
	limit := defaultWait
	if args.TimeoutMS > 0 {
		limit = min(time.Duration(args.TimeoutMS)*time.Millisecond, maxTimeout)
	}
	var pattern *regexp.Regexp
	if args.Pattern != "" {
		var err error
		if pattern, err = regexp.Compile(args.Pattern); err != nil {
			return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "pattern: %w", err)
		}
	}
	why, err := t.shell.settled(ctx, j, stillLong, limit, pattern)
	if err != nil {
		return tools.Result{}, err
	}
	return t.shell.look(j, why)
}

// output is what a job wrote since the last call.
func (t jobTool) output(j *job) (tools.Result, error) {
	out, err := t.shell.JobOutput(j.id)
	if err != nil {
		return tools.Result{}, err
	}
	line := describe(j.info())
	if out == "" {
		out = "(no new output)"
	}
	return tools.Result{Text: line + "\n" + out, Data: map[string]any{"job": j.id, "state": j.info().State, "output": out}, Display: tools.Display{Summary: line}}, nil
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
	line := fmt.Sprintf("job %d: %s, %s: %s", j.ID, j.State, took.Round(time.Second), text.Brief(j.Command))
	if j.Leftover {
		line += " (what it left running)"
	}
	if len(j.Running) > 0 {
		line += "; running: " + names(j.Running)
	}
	return line
}
