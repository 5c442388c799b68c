package tools

import (
	"context"
	"encoding/json"
	"strings"

	"jcode/internal/jsonerr"
)

// Tool is anything that the model, a script or a client can call.
type Tool interface {
	// Spec describes the tool. It must be cheap and give equal values until the
	// tool is replaced in the registry.
	Spec() Spec

	// Run carries out one call. The arguments have passed the schema and the call
	// has passed the gate. An error is a failure that the caller reads: its text
	// says what to try next. Run must return soon after ctx ends.
	Run(ctx context.Context, call Call) (Result, error)
}

// Planner is a Tool that can say beforehand what a call would touch. A tool
// without it is judged by its Spec alone.
type Planner interface {
	// Plan inspects a validated call without changing anything. An error fails the
	// call before anyone is asked.
	Plan(ctx context.Context, call Call) (Plan, error)
}

// Group orders tools in listings and requests.
type Group int

// The groups, in the order in which a request lists them.
const (
	GroupCore    Group = iota // the eight core intents
	GroupBuiltin              // jcode's other builtin tools
	GroupLua                  // Lua tools, plugin and startup intents
	GroupMCP                  // tools of MCP servers, by server
)

// Spec describes a tool to the registry, the model and people.
type Spec struct {
	// Name is the canonical name: plain for builtins and Lua, `mcp:server:tool` for MCP.
	Name string
	// Wire is the name a provider sees, `^[A-Za-z0-9_-]{1,64}$`. Left empty by the
	// tool, the registry derives it from Name (equal to Name for plain names).
	Wire string
	// Description is the prose for the model.
	Description string
	// Parameters is a JSON Schema whose root is `"type":"object"` with `properties`,
	// in the order in which the properties were declared.
	Parameters json.RawMessage
	// Check, when set, is the schema that arguments are checked against instead of
	// Parameters: an MCP server's own, before it was repaired for providers.
	Check json.RawMessage
	// Aliases maps argument names that are also understood to their canonical ones.
	Aliases map[string]string
	// Freeform names the one string parameter of a tool that some models were trained to call
	// with plain text instead of arguments; "" for all others.
	Freeform string
	// Grammar is the form of that text, in Lark's notation; "" leaves it open.
	Grammar string
	// Trained tools are offered only to models that were trained on a tool of this name.
	Trained bool
	// ReadOnly tools change nothing: they may run in parallel and in plan mode.
	ReadOnly bool
	// Needs are the capabilities without which a call is refused.
	Needs Capabilities
	// Group places the tool in listings.
	Group Group
	// Server is the MCP server's key for GroupMCP, else empty.
	Server string
	// Hash pins what a grant was given for: the source hash of a Lua tool, the target
	// hash of an MCP server. A grant is void when it changes. Empty for builtins.
	Hash string
	// Hidden tools can be called but are not offered to the model (MCP tools in
	// deferred mode, Lua tools of an untrusted folder).
	Hidden bool
	// Note says in a few words why a tool is hidden or degraded ("untrusted",
	// "load error: …"). Shown to people only.
	Note string
	// Beside says that calls of one answer need not wait for each other although they may
	// change something: they go to a server that takes several at once, or they end such calls.
	Beside bool
	// Serial names a resource besides the paths of the Plan on which calls of this
	// tool wait for each other ("" = none).
	Serial string
	// Trusted marks a tool whose ReadOnly claim counts for the gate. Builtins are;
	// MCP tools only where the person marked the server trusted.
	Trusted bool
	// MaxOutput caps the text of a result in bytes; 0 means the dispatcher's default.
	MaxOutput int
}

// Origin says who makes a call.
type Origin string

// The callers there are.
const (
	OriginModel  Origin = "model"
	OriginScript Origin = "script" // Lua
	OriginPerson Origin = "person" // a `!` line, a slash command, a CLI subcommand
	OriginClient Origin = "client" // an MCP client of `jcode mcp serve`
)

// Caller is the standing of whoever makes a call. It is copied, never shared.
type Caller struct {
	// Session is the session's ID; empty outside a session.
	Session string
	// Root is the session of the main conversation that a sub-agent works for; empty for the main
	// conversation itself.
	Root string
	// Turn is the session's running turn, 1-based; checkpoints are kept by it.
	Turn int
	// Origin says who calls.
	Origin Origin
	// Label names the caller in questions: a sub-agent's role, a plugin. Empty for the
	// main agent.
	Label string
	// Owner is the registry owner of the calling script, empty for the model.
	Owner string
	// Mode returns the approval mode in force at the moment of the call. Nil means ModeAsk.
	Mode func() Mode
	// Scope limits what may be called. Nil means everything.
	Scope *Scope
	// Asker puts questions to a person. Nil means that nobody can be asked.
	Asker Asker
	// Desk is the conversation that the call works for. Nil outside one.
	Desk Desk
	// Observe is told what the gate decided. May be nil.
	Observe func(Call, Decision)
	// Confined has commands run in the sandbox where there is one, in every mode but yolo.
	Confined bool
	// Depth counts nested dispatches: 0 for a call of the model.
	Depth int
}

// CurrentMode is the mode in force, capped by the scope's ceiling.
func (c Caller) CurrentMode() Mode {
	m := ModeAsk
	if c.Mode != nil {
		m = c.Mode()
	}
	return m.Under(c.Scope.Ceiling())
}

// Desk is what the todo, ask and task tools need of the conversation that they work for.
type Desk interface {
	// SetTodo replaces the plan that the person sees.
	SetTodo(ctx context.Context, items []TodoItem) error
	// AskPerson puts a question to the person and waits for the reply. Without a person it
	// is an error at once.
	AskPerson(ctx context.Context, label, text string, options []string) (string, error)
	// RunTask lets a sub-agent work on a prompt in a session of its own.
	RunTask(ctx context.Context, call Call, task Task) (Result, error)
	// PlanAgents says what an order to sub-agents would change.
	PlanAgents(ctx context.Context, order AgentOrder) (Plan, error)
	// OrderAgents carries out an order to the sub-agents of the conversation.
	OrderAgents(ctx context.Context, call Call, order AgentOrder) (Result, error)
}

// AgentOrder is what a caller wants of the sub-agents that work beside the conversation.
type AgentOrder struct {
	// Action is list, output, message, wait, stop, merge, discard or claim.
	Action string `json:"action"`
	// Name is the sub-agent's; "" means all of them for wait.
	Name string `json:"name"`
	// Text is the message.
	Text string `json:"text"`
	// Any ends a wait with the first that ends.
	Any bool `json:"any"`
	// Paths are the files and folders of a claim.
	Paths []string `json:"paths"`
}

// The values of Task.Isolation besides "".
const (
	IsolationNone     = "none"
	IsolationWorktree = "worktree"
)

// TodoItem is one line of the plan.
type TodoItem struct {
	Text   string `json:"text"`
	Status string `json:"status"` // pending, in_progress, done
}

// Task is work for a sub-agent.
type Task struct {
	Prompt string `json:"prompt"`
	// Role is the sub-agent's role; "" is the default one.
	Role string `json:"role"`
	// Variables are the values of the role's variables, by name.
	Variables map[string]string `json:"variables"`
	// MaxSteps caps its turn; 0 is the default of 50.
	MaxSteps int `json:"max_steps"`
	// Name is what the sub-agent is called; "" makes one up.
	Name string `json:"name"`
	// Model is the sub-agent's model; "" is that of its role, or the caller's.
	Model string `json:"model"`
	// Background lets the call answer at once while the sub-agent works on.
	Background bool `json:"background"`
	// Isolation is "worktree" for a sub-agent with a copy of the files of its own, "" or "none" without.
	Isolation string `json:"isolation"`
	// Uncommitted takes the changes that are not committed along into that copy.
	Uncommitted bool `json:"uncommitted"`
}

// Call is one call on its way to a tool.
type Call struct {
	// ID is unique within the session and at most 40 characters.
	ID string
	// Name is canonical.
	Name string
	// Arguments is a JSON object; inside Plan and Run it has canonical argument names
	// and fits the schema.
	Arguments json.RawMessage
	// Caller is who makes the call.
	Caller Caller
	// Followed says that another call of the same answer that changes things runs after this
	// one: what is done once for all of them is left to the last.
	Followed bool
	// Progress shows a line, or the latest output, while the call runs. Never nil
	// inside Run; it may be called from any goroutine until Run returns.
	Progress func(Progress)
	// Plan is what the gate judged; set inside Run. A tool must not touch what a Plan with
	// Accesses does not name: a link may lead elsewhere by then.
	Plan Plan
	// Decision is what the gate decided; set inside Run.
	Decision Decision
}

// Decode unmarshals the arguments into v.
func (c Call) Decode(v any) error {
	if err := json.Unmarshal(c.Arguments, v); err != nil {
		return Errorf(KindInvalidArgs, "invalid arguments for %s: %w", c.Name, jsonerr.Plain(err))
	}
	return nil
}

// Progress is what a running call shows.
type Progress struct {
	// Text is one line of state ("3 of 10 files"), or empty.
	Text string
	// Output is new output since the last Progress, already free of control sequences.
	Output string
}

// Result is what a call returns: text for the model and data for scripts from one run.
type Result struct {
	// Text is what the model reads.
	Text string
	// Data is the structured form for scripts: a JSON-encodable object, or nil.
	Data any
	// Parts are images and documents for models that take them, in order after the text.
	Parts []Part
	// Failed marks a result that reports a failure.
	Failed bool
	// Kind classifies a failure.
	Kind ErrorKind
	// Display is what the UI shows beside the text. It is stored with the call.
	Display Display
}

// Part is a non-text piece of a result.
type Part struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
	// Text is what a document says, for models that do not take it.
	Text string `json:"text,omitempty"`
}

// Display holds what a person sees of a finished call. The zero value shows the text.
type Display struct {
	// Summary is one line ("12 matches in 3 files", "+3 -1").
	Summary string `json:"summary,omitempty"`
	// Diff is a unified diff.
	Diff string `json:"diff,omitempty"`
	// Found is what was found after the change, such as the errors that it made.
	Found string `json:"found,omitempty"`
	// Path is the file concerned, as the person would write it.
	Path string `json:"path,omitempty"`
	// Added and Removed count the diff's lines.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
	// ExitCode is the exit code of a command.
	ExitCode *int `json:"exit_code,omitempty"`
	// Log is the file that holds the whole output.
	Log string `json:"log,omitempty"`
	// Files are further files that the result names for the model to read.
	Files []string `json:"files,omitempty"`
	// Child is the session ID of a sub-agent.
	Child string `json:"child,omitempty"`
}

// find adds a text to what was found; "" adds nothing.
func (d *Display) find(said string) {
	if said = strings.TrimSuffix(said, "\n"); said != "" && d.Found != "" {
		said = strings.TrimSuffix(d.Found, "\n") + "\n" + said
	}
	if said != "" {
		d.Found = said
	}
}
