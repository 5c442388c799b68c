package acp

import (
	"context"
	"encoding/json"
	"errors"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
)

// ErrAuthRequired says that no model can be reached before the person sets a key. Host errors wrap it and say
// what to set.
var ErrAuthRequired = errors.New("no model is set up")

// Host opens the conversations that the protocol shows. cli/editors implements it.
type Host interface {
	// Version is jcode's own.
	Version() string
	// Ready says what is missing before a conversation can begin, wrapping ErrAuthRequired.
	Ready(ctx context.Context) error
	// Open wires a workspace up and begins or resumes a session in it.
	Open(ctx context.Context, o Opening) (*Workspace, error)
	// List returns the sessions of a folder's project, or of all projects for "", newest first.
	List(ctx context.Context, cwd string) ([]session.Session, error)
	// Fork copies a stored session for a folder and returns the ID of the copy. created says that the copy still has to be
	// begun: the session has no prompt.
	Fork(ctx context.Context, id, cwd string) (copied string, created bool, err error)
	// Delete deletes a stored session that no process has open.
	Delete(ctx context.Context, id string) error
}

// Opening says which session a client wants, and where.
type Opening struct {
	// ID is the session's ID; New says that the session must be created. A session that was created but never
	// prompted is not stored, and can be opened again all the same.
	ID  string
	New bool
	// Cwd and Dirs are absolute.
	Cwd  string
	Dirs []string
	// Servers are the client's MCP servers by the names that it gives them, as entries of an MCP configuration
	// file.
	Servers map[string]json.RawMessage
	// Files reaches the editor's buffers; nil if the client has no such capability.
	Files Files
}

// Files are the text files as the client's editor has them, including unsaved changes.
type Files interface {
	// Can says which of the two the client offers.
	Can() (read, write bool)
	// Read returns the text of a file; Write replaces it. Paths are absolute.
	Read(ctx context.Context, path string) (string, error)
	Write(ctx context.Context, path, text string) error
}

// Workspace is one folder with an open conversation in it.
type Workspace struct {
	Conversation *agent.Conversation
	// Rows are the stored messages of a session that continues.
	Rows []session.Message
	// Start starts what is slow: watching files, connecting servers. It returns at once.
	Start func()
	// Commands are the slash commands that may be sent as a prompt.
	Commands func() []command.Command
	// Prompt turns a person's text into what is sent to the model: a slash command is run. notice is the
	// command's output; if the prompt's text is empty, the model need not answer.
	Prompt func(ctx context.Context, text string) (p event.Prompt, notice string, err error)
	// Models and Roles are the available choices, as far as they are known without asking an endpoint.
	Models, Roles func(ctx context.Context) []Choice
	// ListModels asks the endpoint for its models, which takes time; nil if it can't be asked.
	ListModels func(ctx context.Context) []Choice
	// Most is how much the client may have allowed unasked; "" is any mode.
	Most tools.Mode
	// Brief leaves out answers that outlast the session.
	Brief bool
	// Trust is the question about what the folder brings, nil when nothing is pending.
	Trust func(ctx context.Context) *Trust
	// Close ends the conversation and everything that was started for it.
	Close func()
}

// Choice is one value of an option.
type Choice struct{ Value, Name, Description string }

// Trust asks whether a project's files may run.
type Trust struct {
	Folder string
	// Items say what would run, one per line.
	Items []string
	// Accept stores the yes, Later keeps everything off for this run.
	Accept, Later func(ctx context.Context) error
}
