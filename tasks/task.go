package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// State is the state of a task as people see it.
type State string

// The states of a task.
const (
	Queued  State = "queued"
	Working State = "working"
	Asks    State = "asks"
	Done    State = "done"
	Failed  State = "failed"
)

// States returns all states in the order in which they are listed.
func States() []State { return []State{Asks, Working, Queued, Failed, Done} }

// New is what a person says of a task.
type New struct {
	Prompt string `json:"prompt"`
	// Folder is the root of the repository, "" where Repo is its address of git; Base is the commit that the work begins
	// with. For a schedule of an address it is the branch whose last commit counts then, "" for the host's first one.
	Folder string `json:"folder,omitempty"`
	Repo   string `json:"repo,omitempty"`
	Base   string `json:"-"`
	Role   string `json:"role,omitempty"`
	Model  string `json:"model,omitempty"`
	Mode   string `json:"mode,omitempty"`
	// MaxSteps, MaxCost and MaxTime limit the task; 0 is no limit of its own.
	MaxSteps int           `json:"max_steps,omitempty"`
	MaxCost  float64       `json:"max_cost,omitempty"`
	MaxTime  time.Duration `json:"-"`
	// NoAsk refuses what would need a person.
	NoAsk bool `json:"no_ask,omitempty"`
	// Priority is 1, the first, to 4; 0 means 2.
	Priority  int       `json:"priority,omitempty"`
	NotBefore time.Time `json:"-"`
	// After are tasks that must be done before.
	After []int64 `json:"after,omitempty"`
	// Key is one that no other task has which is not over; "" for none.
	Key string `json:"key,omitempty"`
	// Push is the remote of the repository that what comes out is pushed to; "" for none.
	Push string `json:"-"`

	schedule int64  // that it comes from
	place    string // the data folder that has its folder, "" for any
}

// Limits of what a task may say.
const (
	maxPrompt   = 1 << 20
	maxKey      = 200
	lowPriority = 4
)

// check returns what is wrong with a task.
func (n New) check() error {
	switch {
	case strings.TrimSpace(n.Prompt) == "":
		return errors.New("a task needs a prompt")
	case len(n.Prompt) > maxPrompt:
		return fmt.Errorf("the prompt of a task has at most %d MB: put the rest into a file of the repository", maxPrompt>>20)
	case len(n.Key) > maxKey:
		return fmt.Errorf("the key of a task has at most %d characters", maxKey)
	case n.Priority < 0 || n.Priority > lowPriority:
		return fmt.Errorf("the priority of a task is 1, which comes first, to %d, not %d", lowPriority, n.Priority)
	case n.MaxSteps < 0 || n.MaxCost < 0 || n.MaxTime < 0:
		return errors.New("a limit is a number above 0")
	case n.Repo != "" && n.Folder != "":
		return errors.New("a task has a folder or an address, not both")
	case n.Repo == "" && !filepath.IsAbs(n.Folder):
		return fmt.Errorf("the folder of a task is a whole path, not %q", n.Folder)
	}
	return nil
}

// Task is a task with what became of it.
type Task struct {
	New
	ID      int64
	State   State
	Note    string // why it waits or failed
	Created time.Time
	Changed time.Time
	// NextAt is when the next attempt may begin, the zero time for at once.
	NextAt time.Time
	// Job is what carries it now, 0 for nothing.
	Job int64
	// Attempt is the number of the last attempt, from 1; Fails how many failed, Lost how many were lost with their
	// worker.
	Attempt, Fails, Lost int
	Worker               string // that has it, "" for none
	// Session is that of the last attempt; Continue says that the next one continues it.
	Session     string
	Continue    bool
	Dir, Branch string // of its worktree, "" before there is one
	Commit      string // that came out
	Summary     string
	Steps       int
	Cost        float64 // of all attempts
	Cancel      bool    // a person wants it to end
	Taken       time.Time
}

// Over reports whether nothing more becomes of the task by itself.
func (t Task) Over() bool { return t.State == Done || t.State == Failed }

// Attempt is one try at a task.
type Attempt struct {
	Number       int
	Session      string
	Worker       string
	Began, Ended time.Time
	Outcome      string // "" while it works
	Steps        int
	Cost         float64
}

// Question is what a task asks a person.
type Question struct {
	ID      int64
	Task    int64
	Attempt int
	// Kind is call for a call that must be allowed, and reply for a question in words.
	Kind      string
	Tool      string
	Title     string
	Command   string
	Diff      string
	Details   []string
	Options   []string
	Arguments string
	Asked     time.Time
	// Answer is "" as long as there is none: Yes, No, or Said with the word.
	Answer, Word string
	Used         bool
}

// The kinds of questions, and their answers.
const (
	AsksCall  = "call"
	AsksReply = "reply"

	Yes  = "yes"
	No   = "no"
	Said = "said"

	Withdrawn = "withdrawn" // nobody needs an answer any more
)

// Same reports whether two questions ask for exactly the same.
func (q Question) Same(other Question) bool {
	return q.Kind == other.Kind && q.Tool == other.Tool && q.Title == other.Title && q.Command == other.Command && q.Diff == other.Diff &&
		q.Arguments == other.Arguments && slices.Equal(q.Details, other.Details)
}

// Rows returns all that a person must see of a question.
func (q Question) Rows() []string {
	rows := []string{cmp.Or(q.Title, q.Tool)}
	for _, part := range []string{q.Command, q.Diff} {
		if part != "" {
			rows = append(rows, strings.Split(strings.TrimRight(part, "\n"), "\n")...)
		}
	}
	rows = append(rows, q.Details...)
	for i, o := range q.Options {
		if q.Kind == AsksReply {
			rows = append(rows, fmt.Sprintf("%d. %s", i+1, o))
		}
	}
	return rows
}
