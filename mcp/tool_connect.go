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
	Headers     map[string]string `json:"headers"`
	Persist     bool              `json:"persist"`
	WaitSeconds *float64          `json:"wait_seconds"`
}

const connectSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","description":"Server name; alone it connects a configured server"},` +
	`"command":{"type":"string","description":"Program of a new stdio server"},` +
	`"args":{"type":"array","items":{"type":"string"}},` +
	`"env":{"type":"object","additionalProperties":{"type":"string"}},` +
	`"cwd":{"type":"string"},` +
	`"url":{"type":"string","description":"URL of a new HTTP server"},` +
	`"headers":{"type":"object","additionalProperties":{"type":"string"}},` +
	`"persist":{"type":"boolean","description":"Also write it to the person's configuration"},` +
	`"wait_seconds":{"type":"number","minimum":0,"maximum":60,"description":"Default 5"}},` +
	`"required":["name"]}`

func (m *Manager) connectTool() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_connect", Group: tools.GroupBuiltin, Needs: tools.CapMCP,
			Description: "Connect an MCP server while running: a configured one by name, or a new one by command (with args, env, cwd) or url (with headers). Its tools can be used in your next step.",
			Parameters:  json.RawMessage(connectSchema),
		},
		plan: m.planConnect,
		run:  m.runConnect,
	}
}

func decodeConnect(call tools.Call) (connectArgs, *config.Target, error) {
	var args connectArgs
	if err := call.Decode(&args); err != nil {
		return args, nil, err
	}
	switch {
	case args.Command != "" && args.URL != "":
		return args, nil, tools.Errorf(tools.KindInvalidArgs, "give command or url, not both")
	case args.Command != "":
		t := &config.Target{Type: config.Stdio, Command: args.Command, Args: args.Args, Env: args.Env, Cwd: args.Cwd}
		if len(args.Args) == 0 && strings.ContainsAny(strings.TrimSpace(args.Command), " \t") {
			if words := strings.Fields(args.Command); !strings.ContainsAny(args.Command, `"'\$`) {
				t.Command, t.Args = words[0], words[1:]
			}
		}
		return args, t, nil
	case args.URL != "":
		return args, &config.Target{Type: config.HTTP, URL: args.URL, Headers: args.Headers}, nil
	}
	return args, nil, nil
}

// planConnect says what a connect would run. A server that the person configured and
// enabled needs no question.
func (m *Manager) planConnect(call tools.Call) (tools.Plan, error) {
	args, target, err := decodeConnect(call)
	if err != nil {
		return tools.Plan{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	plan := tools.Plan{Summary: "Connect MCP server " + args.Name}
	e, known := m.entry(args.Name)
	_, configured := m.chosen[args.Name]
	switch {
	case target == nil && !known:
		return plan, tools.Errorf(tools.KindMCP, "%w", config.UnknownServer(args.Name, m.known()))
	case target == nil && e.Err != nil:
		return plan, tools.Errorf(tools.KindMCP, "%w", e.Err)
	case target != nil && configured && !e.Target.Equal(*target):
		return plan, tools.Errorf(tools.KindMCP, "a server %q is configured with another target (%s): choose another name", args.Name, sourceText(e.Source))
	case target != nil:
		if err := config.CheckKey(args.Name); err != nil {
			return plan, tools.Errorf(tools.KindInvalidArgs, "%w", err)
		}
		if err := config.Check(*target); err != nil {
			return plan, tools.Errorf(tools.KindInvalidArgs, "server %s: %w", args.Name, err)
		}
	default:
		target = &e.Target
	}
	if known && e.Target.Equal(*target) && m.needsNoQuestion(e) && !args.Persist {
		return plan, nil
	}
	from := config.ScopeSession
	if configured {
		from = e.Source.Scope
	}
	plan.Accesses = []tools.Access{m.connectAccess(args.Name, *target, from)}
	if args.Persist && !configured && len(config.Variables(*target)) > 0 {
		// A configuration file expands variables: what a model wrote must not get there.
		return plan, tools.Errorf(tools.KindInvalidArgs, "persist does not take ${...}: variables are expanded only in what a person wrote; ask the person to run `jcode mcp add`, or connect without persist")
	}
	plan.Notes = m.targetNotes(*target, from)
	if configured && e.Source.Scope == config.ScopeProject {
		plan.Notes = append(plan.Notes, "from the project's file "+e.Source.File)
	}
	if known && !configured && !e.Target.Equal(*target) {
		plan.Notes = append(plan.Notes, "it replaces the server "+args.Name+" of this session")
	}
	if args.Persist {
		plan.Notes = append(plan.Notes, "it is written to "+m.opt.Paths.UserFile())
	}
	return plan, nil
}

// needsNoQuestion reports whether an entry may be connected without asking. The caller
// holds mu.
func (m *Manager) needsNoQuestion(e config.Entry) bool {
	if a := m.actors[e.Name]; a != nil && a.view.Load().state != StateDisconnected && a.view.Load().entry.Target.Equal(e.Target) {
		return true // it was approved in this session
	}
	if m.changedSince(e) {
		return false
	}
	switch e.Source.Scope {
	case config.ScopeRun, config.ScopeUser:
		return e.Enabled
	case config.ScopeProject:
		return e.Enabled && m.isApproved(e)
	}
	return false
}

// connectAccess is what the gate judges of a start. A grant is bound to the files that it
// starts, too.
func (m *Manager) connectAccess(name string, t config.Target, from config.Scope) tools.Access {
	a := tools.Access{Kind: tools.AccessConnect, Target: name, Hash: m.pinOf(config.Entry{Name: name, Target: t, Source: config.Source{Scope: from}})}
	if t.Type == config.Stdio {
		a.Command = t.Line()
	} else {
		a.URL = t.URL
	}
	return a
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

func (m *Manager) runConnect(ctx context.Context, call tools.Call) (tools.Result, error) {
	args, target, err := decodeConnect(call)
	if err != nil {
		return tools.Result{}, err
	}
	if err := m.approvedByCall(args.Name, target, call); err != nil {
		return tools.Result{}, tools.Errorf(tools.KindMCP, "%w", err)
	}
	wait := defaultWait
	if args.WaitSeconds != nil {
		wait = min(max(time.Duration(*args.WaitSeconds*float64(time.Second)), 0), longestWait)
	}
	got, err := m.Connect(ctx, args.Name, target, config.ScopeSession, wait)
	if err != nil {
		return tools.Result{}, m.connectError(ctx, args.Name, err)
	}
	var persistNote string
	if args.Persist && target != nil {
		if err := m.Persist(args.Name, *target); err != nil {
			persistNote = "not written to the configuration: " + err.Error()
		} else {
			m.control.Lock()
			m.readConfig()
			m.control.Unlock()
		}
	}
	res := m.connectResult(got)
	if persistNote != "" {
		res.Note = strings.TrimSpace(res.Note + " " + persistNote)
	}
	if res.ToolCount == nil {
		return compact(res, "%s: still connecting", res.Name)
	}
	return compact(res, "%s: connected, %s, %s", res.Name, text.Count(*res.ToolCount, "tool"), text.Count(*res.Tokens, "token"))
}

// approvedByCall keeps a project entry's approval that the gate gave.
func (m *Manager) approvedByCall(name string, target *config.Target, call tools.Call) error {
	d := call.Decision
	m.mu.Lock()
	e, ok := m.entry(name)
	c := m.chosen[name]
	if c.Pending != nil && (target == nil || c.Pending.Target.Equal(*target)) {
		e = *c.Pending
	}
	waits := ok && !m.isApproved(e)
	m.mu.Unlock()
	if !waits || !d.Allow {
		return nil
	}
	m.mu.Lock()
	pin := m.pinOf(e)
	if list := call.Plan.Accesses; len(list) > 0 && list[0].Hash != pin {
		m.mu.Unlock()
		return fmt.Errorf("what the server %s starts has changed since it was approved: connect it again", name)
	}
	m.approved[name+" "+pin] = true
	m.adoptApprovals()
	m.mu.Unlock()
	if d.By == tools.ByUser && m.opt.Trust != nil {
		return m.opt.Trust.Trust(m.opt.Paths.ProjectRoot, name, pin)
	}
	return nil
}

func (m *Manager) connectResult(got Connected) connectResult {
	d := got.Status
	if got.Waiting || d.State != StateConnected {
		return connectResult{
			Name: d.Name, State: StateConnecting, Waited: float64(got.Waited.Round(100*time.Millisecond)) / float64(time.Second),
			Note: "still connecting; its tools are announced when they come",
		}
	}
	deferred := m.Totals().Mode == "deferred"
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

func (m *Manager) viewOf(name string) *view {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.actors[name]; a != nil {
		return a.view.Load()
	}
	return nil
}

// connectError is what the model reads of a connect that failed, with what to change.
func (m *Manager) connectError(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return tools.Errorf(tools.KindCancelled, "cancelled by user")
	}
	m.mu.Lock()
	secrets := m.secretsOf(name)
	m.mu.Unlock()
	s := fmt.Sprintf("MCP server %s did not connect: %s", name, config.Scrub(plainError(err), secrets))
	var tail string
	if d, err := m.Server(name); err == nil {
		tail = d.Stderr
	}
	if tail != "" && !strings.Contains(s, text.LastLines(tail, 1)) {
		s += "\nlast lines of its stderr:\n" + text.Ellipsis(tail, 1500)
	}
	return tools.Errorf(tools.KindMCP, "%s\n%s", s, adviceFor(err, name))
}

// adviceFor says what to change after a failed connect.
func adviceFor(err error, name string) string {
	text := err.Error()
	var signIn *auth.NeedsSignIn
	switch {
	case errors.As(err, &signIn):
		return "You can't sign in yourself. Tell the person, and go on without this server until they did."
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
