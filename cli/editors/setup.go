package editorscli

import (
	"context"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/acp"
	"jcode/cli/board"
	"jcode/cli/console"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
)

// Setup is what `jcode acp` is given.
type Setup struct {
	console.Streams // the protocol's
	Jcode
	Chosen bool // the command line chooses a session, or a prompt
}

// Jcode is what serving editors needs of jcode. Nothing that it opens may write to the streams of the protocol.
type Jcode struct {
	Version string
	// Model says what is missing before a model can be reached.
	Model func(ctx context.Context) error
	// Open wires jcode for a session of an editor. The caller closes it.
	Open func(ctx context.Context, o acp.Opening) (Opened, error)
	// Kept opens what is stored. The caller closes it.
	Kept func(ctx context.Context) (Kept, error)
}

// Opened is jcode in the folder of an editor's session.
type Opened struct {
	Sessions   Sessions
	Board      *board.Board
	Dispatcher *tools.Dispatcher
	// Start begins what is slow, once the conversation is on the board.
	Start    func()
	Commands func() []command.Command
	// Prompt makes a prompt of a text; of a command that is carried out, it returns what the command says.
	Prompt func(ctx context.Context, text string) (p event.Prompt, notice string, err error)
	// Models are those of the settings; Listed asks the endpoint for its own, too.
	Models func() []string
	Listed func(ctx context.Context) ([]command.Row, error)
	Roles  func(ctx context.Context) ([]command.Row, error)
	// Question is the one about what the folder contains, nil for none.
	Question func(ctx context.Context) *command.Trust
	OnClose  func(func()) // what ends before the rest
	Close    func()
}

// Sessions begins and continues conversations.
type Sessions struct {
	Store   *session.Store
	Data    string // jcode's folder of data
	Private bool   // new ones are kept in memory only
	Options func() (agent.Options, error)
	Begin   func(ctx context.Context, opt agent.Options) (*agent.Conversation, error)
	Resume  func(ctx context.Context, opt agent.Options, id string) (*agent.Conversation, error)
}

// Kept is what is stored.
type Kept struct {
	Store  *session.Store
	Data   string                                     // jcode's folder of data
	Forget func(ctx context.Context, id string) error // deletes a session, with what its results saved
	Close  func()
}
