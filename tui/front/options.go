package front

import (
	"context"
	"io"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/internal/launch"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
)

// Conversation is what the program drives. *agent.Conversation implements it.
type Conversation interface {
	// Prompt queues a message; during a turn it joins at the next step. It returns the queue ID.
	Prompt(p event.Prompt) string
	// Unqueue removes a waiting message, with "" all of them.
	Unqueue(id string) []event.Prompt
	// Interrupt ends the running turn and reports whether there was one.
	Interrupt() bool
	// Answer settles an approval question, Reply a question of the ask tool, Fill a form.
	Answer(id string, a tools.Answer) error
	Reply(id, text string) error
	Fill(id string, a tools.FormAnswer) error
	Settings
}

// Settings are what a person changes in a running conversation.
type Settings interface {
	State() event.State
	// Sees reports whether the current model accepts pictures.
	Sees() bool
	SetMode(m tools.Mode)
	SetModel(name string) error
	// SetRole may show the role's form; SetRoleValue changes one of the values, and with ""
	// restores its default.
	SetRole(ctx context.Context, name string) error
	SetRoleValue(ctx context.Context, key, value string) error
	Rename(title string) error
	Compact(ctx context.Context, keep string) error
}

// Events are what happens in a conversation. *event.Subscription implements it.
type Events interface {
	// Next waits for an event; false means that there are no more, or that ctx ended.
	Next(ctx context.Context) (event.Event, bool)
	// Drain returns pending events without waiting.
	Drain() []event.Event
	Close()
}

// Session is a conversation with what must be shown of it from the start.
type Session struct {
	Conversation Conversation
	Events       Events
	// History is shown above; nil for a new session. Shown is what was displayed in addition.
	History []session.Message
	Shown   []session.Shown
	// Todo is the plan so far, Draft what was left in the input.
	Todo  []tools.TodoItem
	Draft string
	// Usage is what it has used so far.
	Usage event.Usage
	// Agents are its sub-agents.
	Agents []roster.State
	// Role is the role to enter first, by EnterRole, which may show a form.
	Role      string
	EnterRole func(ctx context.Context) error
	// Notices are shown when the session opens ("the role has changed since").
	Notices []event.Notice
}

// Sessions switches between sessions. All methods may take a while; the program calls them outside its loop.
type Sessions interface {
	// List returns sessions of this folder, or of every folder with all, newest first. query filters by title
	// and text.
	List(ctx context.Context, query string, all bool) ([]session.Session, error)
	// New, Open and Fork return the session to continue with. Open takes an ID or a title, and returns
	// session.ErrNotFound if there is none. upTo is the last message to copy, 0 for all. The implementation
	// closes the previous one.
	New(ctx context.Context, carry bool) (Session, error)
	Open(ctx context.Context, id string) (Session, error)
	Fork(ctx context.Context, id string, upTo int64) (Session, error)
	Delete(ctx context.Context, id string) error
	// Rename gives a session other than the open one a title.
	Rename(ctx context.Context, id, title string) error
}

// History stores what a person sent and was writing.
type History interface {
	// Recent returns the prompts of this project, newest first.
	Recent(ctx context.Context) ([]string, error)
	Add(ctx context.Context, text string) error
	SetDraft(ctx context.Context, text string) error
}

// FirstRun helps a person who has no model yet to set one up.
type FirstRun struct {
	// Found returns what can be used at once (keys in the environment, local servers, the
	// tour); it is called outside the loop.
	Found func(ctx context.Context) ([]command.Row, error)
	// Providers are offered for entering a key.
	Providers []command.Row
	// Looked says where models were searched for, and what was found; several lines.
	Looked string
	// EnterKey stores a key for a provider.
	EnterKey func(ctx context.Context, provider, key string) error
	// FindServer completes the address of a server and asks whether there is one; the error says what to try.
	// May be nil.
	FindServer func(ctx context.Context, address string) (string, error)
	// EnterServer stores the address of a server and its key, which may be empty, and returns
	// the row of its first model. May be nil.
	EnterServer func(ctx context.Context, address, key string) (command.Row, error)

	First bool // nothing is running yet
	// Choose starts with what was chosen.
	Choose func(ctx context.Context, row command.Row) (Session, error)
}

// Project is what the start shows of the folder.
type Project struct {
	Branch       string // with a * if files differ from it; "" without a repository
	Instructions string // the file that tells the model about the project; "" without one
	Last         string // title of the last session here; "" for none, or if one was resumed
	LastAt       time.Time
}

// Live are the sessions of the person that run in the background.
type Live interface {
	// Next waits until they are others than it returned last, in the order in which they began; false means that ctx
	// ended.
	Next(ctx context.Context) ([]LiveSession, bool)
	// Show shows one of them in place of this session, which goes on. The error says what is in the way.
	Show(ctx context.Context, s LiveSession) error
}

// LiveSession is one of them.
type LiveSession struct {
	Process       int
	Folder, Title string
	Asks, Busy    bool
	Here          bool // it is this one
}

// Options configure the program. Everything but one of Session, Start and First is optional: a nil feature is
// left out.
type Options struct {
	// Session is the initial conversation. Without it, Start creates one after the first frame, or First sets
	// one up.
	Session *Session
	Start   func(ctx context.Context) (Session, error)
	First   *FirstRun
	// Login is what /login shows; its Choose is used if there is no conversation.
	Login *FirstRun
	// Prompt is sent as soon as there is a conversation; it may be a slash command.
	Prompt string
	// Editor is the command of the external editor; "" means $VISUAL, $EDITOR, or vi.
	Editor string
	// Programs finds the external editor and the programs that reach the clipboard.
	Programs launch.Programs

	Sessions Sessions
	History  History
	Commands command.Set
	Panels   []command.Panel
	// Models and Roles fill the pickers.
	Models func(ctx context.Context) ([]command.Row, error)
	Roles  func(ctx context.Context) ([]command.Row, error)
	// Files lists the files of the folder for @, relative, ignored ones left out.
	Files func(ctx context.Context) ([]string, error)
	// Mentions lists what else @ completes: ID is written after the @, shown as Name with Info. May be nil.
	Mentions func(ctx context.Context) ([]command.Row, error)
	// Shell runs a `!` line as the person; output goes to out as it arrives. It returns command.InBackground for a command
	// that goes on there.
	Shell func(ctx context.Context, line string, out func(string)) error
	// ToBackground makes background jobs of the commands that run, and returns how many there were. May be nil.
	ToBackground func() int
	// Changes returns what the session changed, for /diff.
	Changes func(ctx context.Context) ([]command.FileChange, error)
	// Preview shows what a session was last about and, with a query, the line that was found. May be nil.
	Preview func(ctx context.Context, id, query string) (string, error)
	// Keep stores what is shown in addition to the messages of a session. May be nil.
	Keep func(ctx context.Context, sessionID string, list []session.Shown) error
	// Undoable says what /undo would restore; ErrNothing of the session if there is nothing.
	Undoable func(ctx context.Context) (command.Undoable, error)
	// Context measures what the next request will contain, for /context.
	Context func(ctx context.Context) (agent.ContextUse, error)
	// Image reads a picture for @image.png; nil if pictures are not supported.
	Image func(path string) (mime string, data []byte, err error)
	// Pictures is the folder for pictures from the clipboard; "" means one for temporary files.
	Pictures string
	// Save stores a setting that was changed here ("theme").
	Save func(key, value string) error
	// Trust finds what the folder's files would run, after the first frame; nil asks nothing.
	Trust func(ctx context.Context) *command.Trust
	// TrustAgain is the question about everything that is not trusted, whatever was answered before; nil if there
	// is nothing. May be nil.
	TrustAgain func(ctx context.Context) (*command.Trust, error)

	// Theme is the name of a theme, builtin or of a file in the folder Themes; "" is auto.
	Theme, Themes string
	// Keys rebinds actions, Status names the parts of the status line in order.
	Keys   map[string][]string
	Status []string
	// Notifications says how to alert a person whose window has no focus: "bell" only rings, "off" does nothing,
	// anything else notifies and rings.
	Notifications string
	// Leave is what stays in the terminal: "none", otherwise the end of the conversation as text.
	Leave string
	// Vi turns on vi keys in the input: Esc switches to normal mode.
	Vi bool
	// Branch returns the branch of the folder's repository, with a * if files differ from it; "" without one. May be nil.
	Branch func(ctx context.Context) string
	// Project says what the start shows of the folder, after the first frame. May be nil.
	Project func(ctx context.Context) Project
	// StatusCommand runs the person's command for the status line with the state as JSON, and returns what it wrote. May
	// be nil.
	StatusCommand func(ctx context.Context, state []byte) (string, error)
	// Health summarises the state of servers ("mcp 2/3"). It is called for each frame and must be cheap.
	Health func() string
	// Changed waits until something that Health or a live panel shows has changed; false means that ctx ended.
	// May be nil.
	Changed func(ctx context.Context) bool
	// Visible says whether somebody looks at the terminal, where that changes; true again asks to draw all anew. May be nil.
	Visible <-chan bool
	// Live are the sessions in the background. May be nil. Said is what the person is to read who begins to look. May be nil.
	Live Live
	Said <-chan string

	Version string
	// Cwd is shown with Home as ~.
	Cwd, Home string

	// Input, Output and Env default to the process's own.
	Input  io.Reader
	Output io.Writer
	Env    []string
	// Observe is called with each message before the program handles it; only tests set it.
	Observe func(msg any)
}
