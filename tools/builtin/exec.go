package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed exec.md
var execText string

// The limits of a command's time.
const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
)

// maxCommand bounds a shell text, in bytes: systems refuse longer arguments.
const maxCommand = 100 << 10

// execTool runs shell commands.
type execTool struct{ shell *Shell }

// execArgs are exec's arguments. Argv is for scripts: no shell reads it.
type execArgs struct {
	Cmd        string   `json:"cmd"`
	Argv       []string `json:"argv"`
	TimeoutMS  int64    `json:"timeout_ms"`
	Dir        string   `json:"dir"`
	Background bool     `json:"background"`
	TTY        bool     `json:"tty"`

	bash bool // bash reads Cmd
}

// Spec implements tools.Tool.
func (t execTool) Spec() tools.Spec {
	const rest = `"timeout_ms":{"type":"integer","description":"Default 120000, at most 600000"},"dir":{"type":"string","description":"Working folder"},"background":{"type":"boolean","description":"Start it and return"},"tty":{"type":"boolean"}`
	return tools.Spec{
		Name: "exec", Description: strings.Replace(strings.TrimSpace(execText), "SHELL", t.shell.name(), 1), Group: tools.GroupCore, Needs: tools.CapExecute, Trusted: true,
		Parameters: json.RawMessage(`{"type":"object","properties":{"cmd":{"type":"string","description":"Shell text"},` + rest + `},"required":["cmd"]}`),
		Check:      json.RawMessage(`{"type":"object","properties":{"cmd":{"type":"string"},"argv":{"type":"array","items":{"type":"string"}},` + rest + `}}`),
		Aliases:    map[string]string{"command": "cmd", "timeout": "timeout_ms", "cwd": "dir", "workdir": "dir", "directory": "dir", "run_in_background": "background"},
		MaxOutput:  maxExecText + 4<<10,
	}
}

// decode decodes the arguments and fills in defaults.
func (t execTool) decode(call tools.Call) (execArgs, error) {
	var a execArgs
	if err := call.Decode(&a); err != nil {
		return a, err
	}
	if call.Caller.Origin != tools.OriginScript {
		a.Argv = nil
	}
	switch {
	case a.Argv == nil && strings.TrimSpace(a.Cmd) == "":
		var given map[string]json.RawMessage
		if json.Unmarshal(call.Arguments, &given) == nil && given["cmd"] == nil {
			return a, tools.Errorf(tools.KindInvalidArgs, "missing required argument: cmd")
		}
		return a, tools.Errorf(tools.KindDenied, "exec denied: the command is empty")
	case a.Argv != nil && (len(a.Argv) == 0 || a.Argv[0] == ""):
		return a, tools.Errorf(tools.KindDenied, "exec denied: the command is empty")
	case len(a.Cmd) > maxCommand:
		return a, tools.Errorf(tools.KindInvalidArgs, "the command has %d bytes, more than %d: write it to a file and run that", len(a.Cmd), maxCommand)
	case strings.IndexByte(a.Cmd, 0) >= 0:
		return a, tools.Errorf(tools.KindInvalidArgs, "the command has a NUL byte")
	}
	dir, err := t.shell.folder(a.Dir)
	if err != nil {
		return a, err
	}
	a.Dir = dir
	a.bash = len(t.shell.opts.Bash) > 0 && a.Argv == nil && call.Caller.Origin != tools.OriginScript // whose contract is sh
	return a, nil
}

// folder resolves a working folder; relative ones are below the workspace's root.
func (s *Shell) folder(dir string) (string, error) {
	if strings.HasPrefix(dir, "~/") || dir == "~" {
		if home, err := os.UserHomeDir(); err == nil {
			dir = home + dir[1:]
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.opts.Dir, dir)
	}
	real, err := paths.Resolve(dir)
	if err != nil {
		return "", tools.Errorf(tools.KindIO, "%w", err)
	}
	return real, nil
}

// enterable returns an error if a command cannot start in a folder.
func enterable(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tools.Errorf(tools.KindIO, "the working folder %s does not exist any more: make it with mkdir, or give another dir", dir)
	case err != nil:
		return tools.Errorf(tools.KindIO, "enter working folder: %w", err)
	case !info.IsDir():
		return tools.Errorf(tools.KindInvalidArgs, "dir %s is a file, not a folder", dir)
	}
	return nil
}

// Plan implements tools.Planner.
func (t execTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	a, err := t.decode(call)
	if err != nil {
		return tools.Plan{}, err
	}
	access := tools.Access{Kind: tools.AccessExec, Command: a.Cmd, Bash: a.bash, Argv: a.Argv, Dir: a.Dir}
	if a.Argv != nil {
		access.Command = ""
	}
	plan := tools.Plan{Accesses: []tools.Access{access}, Summary: "Run: " + text.Brief(a.line())}
	switch {
	case a.TTY:
		plan.Notes = append(plan.Notes, "gets a terminal, where it can ask and the model can type")
	case a.Background:
		plan.Notes = append(plan.Notes, "keeps running in the background")
	}
	return plan, nil
}

// line returns the command as it is shown.
func (a execArgs) line() string {
	if a.Argv != nil {
		return strings.Join(a.Argv, " ")
	}
	return a.Cmd
}

// spec returns how the command is started.
func (a execArgs) spec(s *Shell) proc.Spec {
	spec := proc.Spec{Argv: a.Argv, Dir: a.Dir, Env: s.opts.Env()}
	switch {
	case a.bash:
		spec.Argv, spec.Env = slices.Concat(s.opts.Bash, []string{a.Cmd}), proc.WithoutBash(spec.Env)
	case a.Argv == nil:
		spec.Argv = s.argv(a.Cmd)
	}
	return spec
}

func (a execArgs) timeout() time.Duration {
	if a.TimeoutMS <= 0 {
		return defaultTimeout
	}
	return min(time.Duration(a.TimeoutMS)*time.Millisecond, maxTimeout)
}

// Run implements tools.Tool.
func (t execTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	a, err := t.decode(call)
	if err != nil {
		return tools.Result{}, err
	}
	if err := enterable(a.Dir); err != nil {
		return tools.Result{}, err
	}
	if a.Background || a.TTY {
		return t.shell.background(ctx, call, a)
	}
	how := t.shell.confinementOf(call)
	own := call.Caller.Confined && !how.sandbox && t.shell.confines()
	how.sandbox = how.sandbox || own
	res, blamed, err := t.once(ctx, call, a, how)
	if blamed != "" && how.vouched != nil && how.sandbox && ctx.Err() == nil {
		// Mode auto would have run it unasked in its own sandbox anyway.
		how.vouched = nil
		res, blamed, err = t.once(ctx, call, a, how)
	}
	if err != nil || blamed == "" || ctx.Err() != nil {
		return res, err
	}
	stopped := "the sandbox of mode auto stopped it"
	switch {
	case how.vouched != nil:
		stopped = "it ran without asking because it only reads, and was confined to reading"
	case how.brought != nil:
		note := "\n[" + stoppedFor(how.brought, blamed) + "]"
		if data, ok := res.Data.(ExecData); ok { // which is what a script sees
			data.Stderr += note
			res.Data = data
		}
		res.Text += note
		return res, nil
	case own: // it was not approved outside the sandbox
		res.Text += "\n[the sandbox stopped it: " + blamed + "]"
		return res, nil
	}
	return t.outside(ctx, call, a, res, stopped, blamed)
}

// once runs the command to its end, confined or not. blamed says why its failure looks like an
// effect of the sandbox.
func (t execTool) once(ctx context.Context, call tools.Call, a execArgs, how confinement) (res tools.Result, blamed string, err error) {
	c, err := t.shell.start(a.spec(t.shell), a.line(), how, outputs{apart: call.Caller.Origin == tools.OriginScript})
	if err != nil {
		return tools.Result{}, "", err
	}
	over := t.shell.waits(c, call)
	end := t.shell.await(ctx, c, a.timeout(), call.Progress)
	over()
	res = end.result()
	if end.moved {
		return res, "", nil
	}
	if news := c.news(); news != "" {
		res.Text += "\n[" + news + "]"
	}
	if news := c.files.news(); news != "" {
		res.Text += "\n[" + news + "]"
	}
	return res, t.shell.blamed(c, end.exit.Code), nil
}

// confinementOf returns how a command runs, given the decision about it.
func (s *Shell) confinementOf(call tools.Call) confinement {
	d := call.Decision
	how := confinement{sandbox: d.Sandbox, vouched: d.Vouched, watched: call.Caller.CurrentMode() == tools.ModeYolo, caller: call.Caller, call: call.ID, called: true}
	if b := call.Caller.Brought; b != nil && !b.Outside && s.confinable() {
		how.brought, how.sandbox, how.rights.Network = b, true, b.Network
	}
	return how
}

// stoppedFor says that the sandbox stopped a command of code that others brought, and how a person lets it.
func stoppedFor(b *tools.Brought, blamed string) string {
	right := tools.TrustOutside
	if strings.HasPrefix(blamed, "it has no network") {
		right = tools.TrustNetwork
	}
	return "the sandbox stopped it, in which commands of a project's or a plugin's scripts run: " + blamed + "; the user can let it with " + b.Allow + " " + string(right)
}

// outside offers to run a command again without the sandbox that stopped it.
func (t execTool) outside(ctx context.Context, call tools.Call, a execArgs, res tools.Result, stopped, blamed string) (tools.Result, error) {
	first := a.line()
	res.Text += "\n[" + stopped + ": " + blamed + "]"
	if t.shell.opts.Outside == nil {
		return res, nil
	}
	plan := call.Plan
	plan.Notes = append(slices.Clone(plan.Notes), stopped+": "+blamed, "running it again repeats what it did before it failed")
	req := tools.GateRequest{Spec: t.Spec(), Call: call, Plan: plan}
	req, dec, err := tools.Approve(ctx, req, t.shell.opts.Outside, func(edited tools.Call) (tools.Call, tools.Plan, error) {
		next, err := t.Plan(ctx, edited)
		next.Notes = plan.Notes
		return edited, next, err
	})
	if err != nil {
		return tools.Result{}, err
	}
	if call.Caller.Observe != nil && !dec.Silent {
		call.Caller.Observe(call, dec)
	}
	if !dec.Allow {
		res.Text += "\n[it was not run outside: " + dec.Reason + "]"
		return res, nil
	}
	if a, err = t.decode(req.Call); err != nil {
		return tools.Result{}, err
	}
	again, _, err := t.once(ctx, call, a, confinement{caller: call.Caller, call: call.ID, called: true})
	if err != nil {
		return tools.Result{}, err
	}
	if shown := a.line(); shown != first {
		again.Text = "[the user edited it: " + text.Brief(shown) + "]\n" + again.Text
	}
	again.Text = "[" + stopped + " first (" + blamed + "); this is the run outside]\n" + again.Text
	return again, nil
}

// confines reports whether jcode's own commands run in the sandbox now.
func (s *Shell) confines() bool {
	return s.opts.Confiner != nil && s.opts.Confines != nil && s.opts.Confines()
}

// confinable reports whether commands can run in the sandbox.
func (s *Shell) confinable() bool { return s.opts.Confiner != nil && s.opts.Confiner.Available() }

// RunCommand runs a shell line for jcode itself, such as a formatter after an edit, with the limits
// of exec, and in the sandbox if Confines requires it or the line is one of others. It returns an error if the line could not be
// run, did not end in time, or was ended by a signal.
func (s *Shell) RunCommand(ctx context.Context, command, dir string, theirs bool) (output string, code int, err error) {
	if err := enterable(dir); err != nil {
		return "", -1, err
	}
	confined := s.confines() || theirs && s.confinable()
	spec := proc.Spec{Argv: s.argv(command), Dir: dir, Env: s.opts.Env()}
	c, err := s.start(spec, command, confinement{sandbox: confined, watched: !confined}, outputs{})
	if err != nil {
		return "", -1, err
	}
	end := s.await(ctx, c, defaultTimeout, nil)
	output = end.output
	if blamed := s.blamed(c, end.exit.Code); blamed != "" {
		output += "\n[the sandbox stopped it: " + blamed + "]"
	}
	if news := c.news(); news != "" {
		output += "\n[" + news + "]"
	}
	switch {
	case end.cancelled:
		return output, -1, ctx.Err()
	case end.timedOut > 0, end.exit.Signal != "":
		return output, -1, errors.New(end.data.Error)
	}
	return output, end.exit.Code, nil
}
