package tools

import (
	"context"
	"encoding/json"
	"strings"

	"jcode/internal/jsonerr"
)

// Tool is anything that the model, a script or a client can call.
type Tool interface {
	// Spec describes the tool. It must be cheap, and return the same value until the tool is
	// replaced in the registry.
	Spec() Spec

	// Run carries out one call. The arguments match the schema, and the gate has allowed the
	// call. An error is a failure that the caller reads: its text says what to try next. Run must
	// return soon after ctx ends.
	Run(ctx context.Context, call Call) (Result, error)
}

// Planner is a Tool that can plan what a call would touch. Without a plan, a call is judged by the
// tool's Spec alone.
type Planner interface {
	// Plan inspects a validated call without changing anything. An error fails the call before
	// the gate is asked.
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
	// Hash identifies the version that a grant applies to: the source hash of a Lua tool, the
	// target hash of an MCP server. Empty for builtins.
	Hash string
	// Hidden tools can be called but are not offered to the model (MCP tools in
	// deferred mode, Lua tools of an untrusted folder).
	Hidden bool
	// Note says in a few words why a tool is hidden or degraded ("untrusted",
	// "load error: …"). Shown to people only.
	Note string
	// Beside says that calls of one answer may run in parallel although they may change
	// something: a server accepts several at once, or the calls end other calls.
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

// Origin is the kind of caller.
type Origin string

// The kinds of callers.
const (
	OriginModel  Origin = "model"
	OriginScript Origin = "script" // Lua
	OriginPerson Origin = "person" // a `!` line, a slash command, a CLI subcommand
	OriginClient Origin = "client" // an MCP client of `jcode mcp serve`
)

// Caller says on whose behalf a call is made, and with which rights. It is copied, never shared.
type Caller struct {
	// Session is the session's ID; empty outside a session.
	Session string
	// Root is the session of the main conversation that a sub-agent works for; empty for the main
	// conversation itself.
	Root string
	// Turn is the number of the session's current turn, from 1; checkpoints are stored by it.
	Turn int
	// Origin is the kind of caller.
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
	// Asker asks a person. Nil means that there is no person to ask.
	Asker Asker
	// Desk is the conversation that the call works for. Nil outside one.
	Desk Desk
	// Observe is called with the gate's decision. May be nil.
	Observe func(Call, Decision)
	// Confined has commands run in the sandbox where there is one, in every mode but yolo.
	Confined bool
	// Brought says how commands run of code that a project or a plugin brought: confined in every mode. Nil means
	// that the code is the person's own, or the call the model's.
	Brought *Brought
	// Depth counts nested dispatches: 0 for a call of the model.
	Depth int
}

// Brought is what commands of a project's or a plugin's code may do besides what the sandbox lets them, because a
// person allowed it.
type Brought struct {
	Network bool // use the network
	Outside bool // write outside the project: they are not confined
	// Allow are the words that a person types to allow a right: "/lua allow". The right follows.
	Allow string
}

// CurrentMode returns the mode in force, limited by the scope's ceiling.
func (c Caller) CurrentMode() Mode {
	m := ModeAsk
	if c.Mode != nil {
		m = c.Mode()
	}
	return m.Under(c.Scope.Ceiling())
}

// Desk is what the tools todo, ask, task and agent need of the conversation that they work for.
type Desk interface {
	// SetTodo replaces the plan that the person sees.
	SetTodo(ctx context.Context, items []TodoItem) error
	// AskPerson asks the person and waits for the reply. Without a person it returns an error at
	// once.
	AskPerson(ctx context.Context, label, text string, options []string) (string, error)
	// RunTask has a sub-agent work on a prompt in a separate session.
	RunTask(ctx context.Context, call Call, task Task) (Result, error)
	// PlanAgents plans what an order to sub-agents would change.
	PlanAgents(ctx context.Context, order AgentOrder) (Plan, error)
	// OrderAgents carries out an order to the sub-agents of the conversation.
	OrderAgents(ctx context.Context, call Call, order AgentOrder) (Result, error)
}

// AgentOrder is an order to the sub-agents of a conversation.
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
	// Name is the sub-agent's name; for "" one is made up.
	Name string `json:"name"`
	// Model is the sub-agent's model; "" is that of its role, or the caller's.
	Model string `json:"model"`
	// Background returns from the call at once while the sub-agent works.
	Background bool `json:"background"`
	// Isolation is "worktree" for a sub-agent with its own copy of the files, otherwise "" or "none".
	Isolation string `json:"isolation"`
	// Uncommitted includes uncommitted changes in that copy.
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
	// Followed says that another call of the same answer that changes something runs after this
	// one, so that work that is done once for all of them is left to the last.
	Followed bool
	// Progress shows a line, or the latest output, while the call runs. It is never nil inside
	// Run, and may be called from any goroutine until Run returns.
	Progress func(Progress)
	// Hidden reports whether a rule keeps a file, by its resolved path, from being read: a tool leaves it out of what
	// it finds, quotes nothing of it, and is judged on the files that a call names. It is set inside Plan and Run, and
	// safe for concurrent use; Hides asks it.
	Hidden func(path string) bool
	// Plan is what the gate judged; set inside Run. If it has Accesses, the tool must touch nothing
	// else: a link may lead elsewhere by then.
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

// Hides reports whether a rule keeps a file from being read, see Hidden.
func (c Call) Hides(path string) bool { return c.Hidden != nil && c.Hidden(path) }

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
	// Parts are images and documents for models that accept them, in order after the text.
	Parts []Part
	// Failed marks a result that reports a failure.
	Failed bool
	// Kind classifies a failure.
	Kind ErrorKind
	// Display is what the UI shows in addition to the text. It is stored with the call.
	Display Display
}

// Part is a non-text piece of a result.
type Part struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
	// Text is the text of a document, for models that do not accept documents.
	Text string `json:"text,omitempty"`
}

// Display is what a person sees of a finished call. The zero value shows the text.
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
	// Log is the file with the whole output.
	Log string `json:"log,omitempty"`
	// Files are further files that the result tells the model to read.
	Files []string `json:"files,omitempty"`
	// Child is the session ID of a sub-agent.
	Child string `json:"child,omitempty"`
	// Ran are the arguments that the call ran with, if they are not those of the model; ChangedBy says who changed
	// them.
	Ran       json.RawMessage `json:"ran,omitempty"`
	ChangedBy string          `json:"changed_by,omitempty"`
}

// RanWith returns the arguments that a call ran with, given those of the model.
func (d Display) RanWith(sent json.RawMessage) json.RawMessage {
	if len(d.Ran) > 0 && json.Valid(d.Ran) {
		return d.Ran
	}
	return sent
}

// find adds a text to Found; "" adds nothing.
func (d *Display) find(said string) {
	if said = strings.TrimSuffix(said, "\n"); said != "" && d.Found != "" {
		said = strings.TrimSuffix(d.Found, "\n") + "\n" + said
	}
	if said != "" {
		d.Found = said
	}
}
