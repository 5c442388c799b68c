package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/tools"
)

// connectArgs are the arguments of mcp_connect.
type connectArgs struct {
	Name        string            `json:"name"`
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Cwd         string            `json:"cwd"`
	URL         string            `json:"url"`
	Type        string            `json:"type"`
	Headers     map[string]string `json:"headers"`
	Persist     bool              `json:"persist"`
	WaitSeconds *float64          `json:"wait_seconds"`
}

const connectSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","description":"Server name; alone it connects a configured server"},` +
	`"command":{"type":"string","description":"Program of a new stdio server"},` +
	`"args":{"type":"array","items":{"type":"string"},"description":"Its arguments"},` +
	`"env":{"type":"object","additionalProperties":{"type":"string"},"description":"Its variables; ${NAME} takes one of jcode's"},` +
	`"cwd":{"type":"string","description":"Its working folder"},` +
	`"url":{"type":"string","description":"URL of a new HTTP server"},` +
	`"type":{"type":"string","enum":["http","sse"],"description":"With url; default http"},` +
	`"headers":{"type":"object","additionalProperties":{"type":"string"},"description":"With url; ${NAME} takes one of jcode's variables"},` +
	`"persist":{"type":"boolean","description":"Also write it to the user's configuration"},` +
	`"wait_seconds":{"type":"number","minimum":0,"maximum":60,"description":"Default 5"}},` +
	`"required":["name"]}`

func (c controls) connect() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_connect", Group: tools.GroupBuiltin, Needs: tools.CapMCP,
			Description: "Connect an MCP server while running: a configured one by name, or a new one by command (with args, env, cwd) or url (with headers). Its tools can be used in your next step.",
			Parameters:  json.RawMessage(connectSchema),
		},
		plan: c.planConnect,
		run:  c.runConnect,
	}
}

// target returns the target in a call's arguments; nil if the call only names a server.
func (a connectArgs) target() (*config.Target, error) {
	switch {
	case a.Command != "" && a.URL != "":
		return nil, errors.New("give command or url, not both")
	case a.Command != "":
		t := &config.Target{Type: config.Stdio, Command: a.Command, Args: a.Args, Env: a.Env, Cwd: a.Cwd}
		if len(a.Args) == 0 && strings.ContainsAny(strings.TrimSpace(a.Command), " \t") {
			if words := strings.Fields(a.Command); !strings.ContainsAny(a.Command, `"'\$`) {
				t.Command, t.Args = words[0], words[1:]
			}
		}
		return t, nil
	case a.URL != "":
		t := &config.Target{Type: config.HTTP, URL: a.URL, Headers: a.Headers}
		switch a.Type {
		case "", "http":
		case "sse":
			t.Type = config.SSE
		default:
			return nil, fmt.Errorf("type is http or sse, not %q", a.Type)
		}
		return t, nil
	}
	return nil, nil
}

// connection is a server that a call connects. It is resolved once, so that the person is
// shown exactly what starts.
type connection struct {
	args    connectArgs
	entry   config.Entry
	brought bool   // the call brings the target
	known   bool   // the entry was there before the call
	asked   bool   // it starts only when the gate allows it
	pin     string // what an approval is bound to, if the gate was asked
}

// resolve settles which server a call means.
func (c controls) resolve(call tools.Call) (connection, error) {
	var got connection
	if err := call.Decode(&got.args); err != nil {
		return got, err
	}
	target, err := got.args.target()
	if got.brought = target != nil; got.brought && err == nil {
		err = config.CheckServer(got.args.Name, *target)
	}
	if err != nil {
		return got, tools.Errorf(tools.KindInvalidArgs, "%w", err)
	}
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	w, name := c.m.wants, got.args.Name
	if !got.brought {
		got.known = true
		if got.entry, err = w.named(name); err == nil {
			err = got.entry.Err
		}
	} else {
		got.entry, got.known, err = w.fits(name, *target, config.ScopeSession)
	}
	if err != nil {
		return got, tools.Errorf(tools.KindMCP, "%w", err)
	}
	got.asked = !got.known || got.args.Persist || !c.needsNoQuestion(got.entry)
	return got, nil
}

// needsNoQuestion reports whether an entry may be connected without asking: nothing that
// it starts has changed, and the person configured and enabled it, or it was approved in
// this session. The caller holds mu.
func (c controls) needsNoQuestion(e config.Entry) bool {
	if c.m.approvals.changedSince(e) {
		return false
	}
	if a := c.m.actors[e.Name]; a != nil && a.view.Load().state != StateDisconnected && a.view.Load().entry.Target.Equal(e.Target) {
		return true
	}
	switch e.Source.Scope {
	case config.ScopeRun, config.ScopeUser, config.ScopeProgram:
		return e.Enabled
	case config.ScopeProject:
		return e.Enabled && c.m.approvals.approved(e)
	}
	return false
}

// planConnect returns what a connect would run.
func (c controls) planConnect(call tools.Call) (tools.Plan, error) {
	got, err := c.resolve(call)
	plan := tools.Plan{Summary: "Connect MCP server " + got.args.Name}
	if err != nil {
		return plan, err
	}
	if !got.asked {
		plan.Prepared = got
		return plan, nil
	}
	e := got.entry
	c.m.mu.Lock()
	_, configured := c.m.wants.chosen[e.Name]
	_, replaces := c.m.wants.extra[e.Name]
	c.m.mu.Unlock()
	if got.args.Persist && !configured && len(config.Variables(e.Target)) > 0 {
		// A configuration file expands variables: what a model wrote must not get there.
		return plan, tools.Errorf(tools.KindInvalidArgs, "persist does not take ${...}: variables are expanded only in what the user wrote; ask the user to run `jcode mcp add`, or connect without persist")
	}
	access := c.m.approvals.access(e)
	got.pin = access.Hash
	plan.Accesses, plan.Notes = []tools.Access{access}, c.m.approvals.notes(e)
	if configured && e.Source.Scope == config.ScopeProject {
		plan.Notes = append(plan.Notes, "from the project's file "+e.Source.File)
	}
	if replaces && !got.known {
		plan.Notes = append(plan.Notes, "it replaces the server "+e.Name+" of this session")
	}
	if got.args.Persist {
		plan.Notes = append(plan.Notes, "it is written to "+c.m.opt.Paths.UserFile())
	}
	plan.Prepared = got
	return plan, nil
}

type connectResult struct {
	Name      string          `json:"name"`
	State     State           `json:"state"`
	ToolCount *int            `json:"tool_count,omitempty"`
	Tokens    *int            `json:"tokens,omitempty"`
	Deferred  *bool           `json:"deferred,omitempty"`
	Tools     []connectedTool `json:"tools,omitempty"`
	More      string          `json:"more,omitempty"`
	Skipped   int             `json:"skipped,omitempty"`
	Waited    float64         `json:"waited_seconds,omitempty"`
	Note      string          `json:"note,omitempty"`
}

type connectedTool struct {
	Name        string `json:"name"`
	Tool        string `json:"tool"`
	Description string `json:"description"`
}

const (
	defaultWait     = 5 * time.Second
	longestWait     = 60 * time.Second
	maxShownTools   = 50
	maxShownDetails = 120
)

func (c controls) runConnect(ctx context.Context, call tools.Call) (tools.Result, error) {
	got, ok := call.Plan.Prepared.(connection)
	if !ok {
		return tools.Result{}, tools.Errorf(tools.KindMCP, "%s was not planned", call.Name)
	}
	name := got.entry.Name
	outcome, err := c.begin(got, call.Decision)
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.KindMCP, "%w", err)
	}
	wait := defaultWait
	if got.args.WaitSeconds != nil {
		wait = min(max(time.Duration(*got.args.WaitSeconds*float64(time.Second)), 0), longestWait)
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err = await(limited, outcome)
	if waiting := err != nil && limited.Err() != nil && ctx.Err() == nil; err != nil && !waiting {
		return tools.Result{}, c.connectError(ctx, name, err)
	}
	d, err := c.m.Server(name)
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.KindMCP, "%w", err)
	}
	res := c.connectResult(d, time.Since(began))
	if got.args.Persist && got.brought {
		if err := c.persist(got.entry); err != nil {
			res.Note = strings.TrimSpace(res.Note + " not written to the configuration: " + err.Error())
		}
	}
	if res.ToolCount == nil {
		return compact(res, "%s: still connecting", res.Name)
	}
	return compact(res, "%s: connected, %s, %s", res.Name, text.Count(*res.ToolCount, "tool"), text.Count(*res.Tokens, "token"))
}

// begin connects what was resolved and allowed, and returns the outcome of the attempt.
func (c controls) begin(got connection, dec tools.Decision) (<-chan error, error) {
	m, e := c.m, got.entry
	m.control.Lock()
	defer m.control.Unlock()
	waits := !m.approvals.approved(e)
	if got.asked {
		if now := m.approvals.pin(e); now != got.pin {
			return nil, changedSinceShown(e.Name)
		}
		if waits {
			if err := m.approvals.approve(e, got.pin, dec.By == tools.ByUser); err != nil {
				return nil, err
			}
		}
		m.approvals.accept(e.Name)
	}
	m.mu.Lock()
	if waits {
		m.wants.choose()
		m.wants.wantEnabled()
	}
	err := c.current(got)
	if err == nil {
		_, err = m.wants.want(e.Name, m.wants.own)
	}
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return m.attempts(order{single: map[string]bool{e.Name: got.brought}}, e.Name)[e.Name], nil
}

// current adds a new entry, and checks that a known one is still the definition of its name.
// The caller holds mu.
func (c controls) current(got connection) error {
	if !got.known {
		_, _, err := c.m.wants.adopt(got.entry.Name, got.entry.Target, got.entry.Source.Scope)
		return err
	}
	now, err := c.m.wants.named(got.entry.Name)
	if err == nil && (!now.Target.Equal(got.entry.Target) || now.Source != got.entry.Source) {
		err = changedSinceShown(got.entry.Name)
	}
	return err
}

func changedSinceShown(name string) error {
	return fmt.Errorf("what the server %s starts has changed since it was shown: connect it again", name)
}

// persist writes a server to the person's own file.
func (c controls) persist(e config.Entry) error {
	if _, err := c.m.opt.Paths.AddServer(e.Name, e.Target, config.AddOptions{}); err != nil {
		return err
	}
	c.m.control.Lock()
	defer c.m.control.Unlock()
	c.m.readConfig()
	return nil
}

func (c controls) connectResult(d Details, waited time.Duration) connectResult {
	if d.State != StateConnected {
		return connectResult{
			Name: d.Name, State: StateConnecting, Waited: float64(waited.Round(100*time.Millisecond)) / float64(time.Second),
			Note: "still connecting; its tools are announced when they come",
		}
	}
	deferred := c.m.offer.totals().Mode == "deferred"
	count := d.Tools
	out := connectResult{Name: d.Name, State: d.State, ToolCount: &count, Tokens: &d.Tokens, Deferred: &deferred, Skipped: len(d.Skipped)}
	for i, t := range d.ToolList {
		if i == maxShownTools {
			out.More = fmt.Sprintf("%d more: mcp_list with name %s", len(d.ToolList)-i, d.Name)
			break
		}
		out.Tools = append(out.Tools, connectedTool{t.Wire, t.Name, text.FirstLine(t.Description, maxShownDetails)})
	}
	if deferred {
		out.Note = "its tools are called through mcp_call; mcp_search finds them"
	}
	return out
}

// connectError returns what the model reads about a failed connect, with what to change.
func (c controls) connectError(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return tools.Errorf(tools.KindCancelled, "cancelled by user")
	}
	secrets := c.m.secretsOf(name)
	s := fmt.Sprintf("MCP server %s did not connect: %s", name, config.Scrub(plainError(err), secrets))
	var tail string
	if d, err := c.m.Server(name); err == nil {
		tail = d.Stderr
	}
	if tail != "" && !strings.Contains(s, text.LastLines(tail, 1)) {
		s += "\nlast lines of its stderr:\n" + text.Ellipsis(tail, 1500)
	}
	return tools.Errorf(tools.KindMCP, "%s\n%s", s, adviceFor(err, name))
}

// adviceFor returns what to change after a failed connect.
func adviceFor(err error, name string) string {
	text := err.Error()
	_, signIn := errors.AsType[*auth.NeedsSignIn](err)
	_, locked := errors.AsType[*auth.KeyringError](err)
	switch {
	case locked:
		return "You can't unlock the keyring. Tell the user, and continue without this server until they have."
	case signIn:
		return "You can't sign in yourself. Tell the user, and continue without this server until they have."
	case strings.Contains(text, "command not found"):
		return "Check the spelling, install the program, or give its full path in command."
	case strings.Contains(text, "environment variable"):
		return "Set the variable before jcode starts, or give a default as ${NAME:-value}."
	case strings.Contains(text, "connectTimeout"):
		return "It may need longer to start (a first npx run downloads): try mcp_connect with name " + name + " again."
	case strings.Contains(text, "that is set was refused"):
		return "Its credentials are refused: the value of that header has to be renewed, or lacks rights."
	case strings.Contains(text, "401"), strings.Contains(text, "403"):
		return "It wants credentials: set an Authorization header in headers."
	case wire.RetryOf(err) == wire.RetryEarly:
		return "The command ended before it spoke MCP: check its arguments and the environment variables that it needs (env)."
	}
	return "Call mcp_connect again with other arguments, or mcp_list to see all servers."
}
