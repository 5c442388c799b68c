package command

import (
	"context"
	"os"
	"strings"
)

// Row is one line of a picker or panel.
type Row struct {
	// ID identifies the row to actions.
	ID string
	// Name comes first, Info beside it, State at the right ("ready", "3 tools").
	Name, Info, State string
	// Detail is shown below the list for the row under the cursor; several lines.
	Detail string
	// Head is a line that stays above the detail. With Tail the end of the detail is shown, and followed.
	Head string
	Tail bool
	// Current marks the row in force, Bad one that failed.
	Current, Bad bool
	// Mark is the state of what works on its own, shown before its name: "working", "waiting", "done", or how else it ended.
	Mark string
	// Search is additional text for searches.
	Search string
	// Keys are the labels of the actions whose keys are named while the row is chosen; nil means all.
	Keys []string
}

// Contains reports whether a search in lower case occurs in the row.
func (r *Row) Contains(query string) bool {
	return strings.Contains(strings.ToLower(r.Name+" "+r.Info+" "+r.State+" "+r.Search), query)
}

// Panel is a list that a command shows (/mcp, /skills, /tools …).
type Panel struct {
	// Name is the command, Help its description.
	Name, Help string
	Title      string
	// Empty is shown when there are no rows, and says what to do then.
	Empty string
	// Rows returns the lines; it is called outside the program's loop, and again after each action.
	Rows func(ctx context.Context) ([]Row, error)
	// Preview returns more of a row than its detail, in place of it. It is read when the cursor is on the row, and again
	// after the rows were. May be nil.
	Preview func(ctx context.Context, row Row) (string, error)
	// Live panels reread their rows when Options.Changed says so, and each second.
	Live bool
	// Actions are what can be done with a row. Enter runs the first.
	Actions []Action
	// Verbs are the words that the command understands ("/mcp reload"). Other is what words mean that begin with none of
	// them; without Run they search the list. Its Name is empty, its Hint shows their form.
	Verbs Verbs
	Other Verb
}

// Action is something that a panel does with a row.
type Action struct {
	// Key is pressed with ctrl ("ctrl+d"); Enter for the first action, whatever it says.
	Key, Label string
	// Confirm asks once more before it runs.
	Confirm bool
	// Close closes the panel afterwards.
	Close bool
	// Command, when set, replaces Run: a slash command for a row, which the terminal runs once the panel is
	// closed.
	Command func(row Row) string
	// Run performs the action and may return a notice on the result.
	Run func(ctx context.Context, row Row) (notice string, err error)
	// Write, when set, replaces Run: it gets what the person wrote, who began with the row's name.
	Write func(ctx context.Context, row Row, written string) (notice string, err error)
	// Lend, when set, is asked first: it returns what gets the terminal until it returns, or nil for Run.
	Lend func(row Row) func(ctx context.Context, in, out *os.File) error
	// Edit, when set, replaces Run: it returns the file to open in the person's editor.
	Edit func(row Row) (file string, err error)
	// Edited, when set, applies what the person left in that file.
	Edited func(ctx context.Context, row Row, file string) (notice string, err error)
}

// FileChange is a file as the agent's tools changed it, for /diff.
type FileChange struct {
	Path           string
	Diff           string
	Added, Removed int
}

// Undoable is what /undo would restore.
type Undoable struct {
	// Prompt is the sequence number of the prompt whose turn made the changes.
	Prompt int64
	// Name is what they are called if no prompt made them, such as "the merge of ann"; "" otherwise.
	Name  string
	Files []FileChange
}

// Trust is what a folder wants to run; the person decides before it does.
type Trust struct {
	// Folder is named in the question; Items are exactly what would run.
	Folder string
	Items  []Row
	// Decide receives the answer. A no is remembered until something changes.
	Decide func(ctx context.Context, trusted bool) error
	// Later, when set, receives that the person does not answer now.
	Later func(ctx context.Context) error
}
