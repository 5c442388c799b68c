package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"jcode/internal/diff"
	"jcode/internal/toolcard"
)

// Gate decides whether a call may run. tools/permission implements it.
type Gate interface {
	// Check decides about one call. If the rules require it, it asks a person through the caller's
	// Asker, and waits for the answer or for the end of ctx.
	Check(ctx context.Context, req GateRequest) Decision

	// Offered reports whether a tool may be offered to the model in this mode, and if not, why
	// ("denied by rule mcp(github)", "plan mode").
	Offered(spec Spec, mode Mode) (ok bool, why string)
}

// Concealer is a Gate that knows which files no call may read. The dispatcher tells each tool with its call.
type Concealer interface {
	// Denied returns the rule that forbids an access to a path, "" if none. The path is absolute and resolved. It is
	// safe for concurrent use.
	Denied(kind AccessKind, path string) string
}

// GateRequest is what a gate judges.
type GateRequest struct {
	Spec Spec
	Call Call
	Plan Plan
	// Answered is the plan that a person was shown when they edited the call in answer to a
	// question. They need no second question about the same thing, only about what that plan did
	// not include. What a rule denies stays denied.
	Answered *Plan
}

// Plan describes what a call would do.
type Plan struct {
	// Accesses are judged one by one; all must be allowed.
	Accesses []Access
	// Summary is one line for the question: "Write to file: src/a.go".
	Summary string
	// Diff is the unified diff that the call would make, if it edits.
	Diff string
	// Always makes the gate ask even if a grant exists (a Lua tool with `approval: always`).
	Always bool
	// Insists makes the gate ask in every mode, also where a person allowed the tool in general: what is asked about
	// was not known then. The answer holds once.
	Insists bool
	// Notes are lines that a question must show, such as "runs outside the sandbox".
	Notes []string
	// Prepared is what the tool computed for its own Run; nothing else reads it.
	Prepared any
}

// AccessKind is the kind of thing that a call touches.
type AccessKind string

// The kinds of access.
const (
	AccessRead    AccessKind = "read"
	AccessWrite   AccessKind = "write" // create or change
	AccessDelete  AccessKind = "delete"
	AccessExec    AccessKind = "exec"
	AccessFetch   AccessKind = "fetch"
	AccessMCP     AccessKind = "mcp"
	AccessConnect AccessKind = "mcp_connect" // start a new MCP target
	AccessLua     AccessKind = "lua"
	AccessInput   AccessKind = "input" // text for a program that runs
)

// Access is one thing that a call would access. Only the fields of its kind are set.
type Access struct {
	Kind AccessKind
	// Path is absolute, with links resolved as far as it exists (read, write, delete).
	Path string
	// Command is the whole shell text (exec), the whole command line (mcp_connect), or the text (input).
	Command string
	// Bash says that bash reads the command; otherwise sh does.
	Bash bool
	// Argv is set instead of Command if no shell is used.
	Argv []string
	// Dir is the working folder of a command, absolute.
	Dir string
	// URL is what is fetched or connected to.
	URL string
	// Private marks a URL whose address is loopback, link-local or private.
	Private bool
	// Target is `server:tool` (mcp), the server's name (mcp_connect), the tool's name (lua) or who reads the text (input).
	Target string
	// Hash identifies what a grant applies to: the source of a Lua tool, the exact target of a server.
	Hash string
	// ReadOnly marks an MCP or Lua access that changes nothing, as far as that claim can be
	// trusted.
	ReadOnly bool
	// Pin marks a Lua access that needs one approval per Hash in every mode.
	Pin bool
	// Running is set where a program takes the command or the text that runs already (exec, input).
	Running *Running
}

// Running is a program that was started before: what it does now is confined as it was then.
type Running struct {
	// Confined says that it runs in the sandbox, or may only read.
	Confined bool
}

// DecidedBy is what a decision is based on.
type DecidedBy string

// What a decision can be based on.
const (
	ByMode   DecidedBy = "mode"
	ByRule   DecidedBy = "rule"
	ByGrant  DecidedBy = "grant"
	ByUser   DecidedBy = "user"
	ByPolicy DecidedBy = "policy"
)

// Decision is a gate's answer.
type Decision struct {
	Allow bool
	By    DecidedBy
	// Rule is the rule or grant that applied, as a person writes it.
	Rule string
	// Reason is the text for the model if the call is refused.
	Reason string
	// Kind is the kind of failure if the call is refused; empty means KindDenied.
	Kind ErrorKind
	// Arguments are those that a person wants instead of the call's: the call is planned and judged
	// again with them, see Approve.
	Arguments json.RawMessage
	// Hunks are the numbers of the hunks of the plan's diff that may be written; nil means all.
	Hunks []int
	// Sandbox makes exec run confined.
	Sandbox bool
	// Vouched is set for a command that runs unasked because analysis shows that it only reads:
	// exec confines it to that.
	Vouched *Vouched
	// Silent decisions are not reported: nothing was asked and nothing could have been.
	Silent bool
}

// Vouched limits what a command may do that runs unasked because it only reads.
type Vouched struct {
	// Only lists the files of the workspace that it may read, if rules forbid reading some; nil
	// means all.
	Only []string
	// Hidden lists files that it must not read.
	Hidden []string
	// Beyond lists folders outside the workspace that it may read too: a repository's.
	Beyond []string
	// Git says that it runs git, whose environment then tells it to run no other program.
	Git bool
}

// Asker asks a person for approval.
type Asker interface {
	// Ask waits for the answer. It returns an error if ctx ends first, or if there is no person.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is what a person is asked before a call runs.
type Question struct {
	// CallID is the ID of the call that waits.
	CallID string
	// Tool is the tool's canonical name.
	Tool string
	// Label names a sub-agent or plugin, empty for the main agent.
	Label string
	// Title is one line: "Run a command", "Write to file: a.go".
	Title string
	// Command is the whole command line, or the whole URL.
	Command string
	// Diff is the unified diff of an edit.
	Diff string
	// Details are additional lines that must be shown: folder, resolved program, names of
	// environment variables, "outside the project".
	Details []string
	// Options are the possible answers, in order.
	Options []AnswerOption
	// Editable is the argument that a person may edit before the call runs ("" = none).
	Editable string
	// Arguments are the call's, for editing.
	Arguments json.RawMessage
}

// Heading returns the title as a person reads it, after the name of the caller.
func (q Question) Heading() string {
	title := cmp.Or(q.Title, q.Tool)
	if tool, ok := strings.CutPrefix(title, "Execute intent: "); ok { // the words of the Lua interface
		title = "Run the tool " + tool
	}
	if q.Label != "" {
		title = q.Label + ": " + title
	}
	return title
}

// Hunks returns the hunks of the change if they can be taken one by one: nil unless there are several.
func (q Question) Hunks() []diff.Part {
	if !toolcard.Of(q.Tool).Parts {
		return nil
	}
	if parts := diff.Parts(q.Diff); len(parts) > 1 {
		return parts
	}
	return nil
}

// AnswerOption is one possible answer.
type AnswerOption struct {
	Scope AnswerScope
	// Label is what the key does: "always for `go test *` in this project".
	Label string
	// Rules are the rules that would be stored, as a person writes them, and Words says what they cover: "any edit".
	Rules []string
	Words string
	// Whole says that the answer AnswerSession to a sub-agent applies to the main conversation and
	// all its sub-agents.
	Whole bool
}

// AnswerScope says how long an answer applies.
type AnswerScope string

// The answers.
const (
	AnswerNo      AnswerScope = "no"
	AnswerOnce    AnswerScope = "once"
	AnswerSession AnswerScope = "session"
	AnswerProject AnswerScope = "project"
)

// Answer is a person's answer.
type Answer struct {
	Scope AnswerScope
	// Option is an index into Question.Options; -1 if only Scope counts.
	Option int
	// Word goes to the model with a refusal.
	Word string
	// Arguments are the edited ones, nil if unchanged.
	Arguments json.RawMessage
	// Hunks are the numbers, from 0, of the hunks of Question.Diff that may be written; nil means all.
	Hunks []int
}
