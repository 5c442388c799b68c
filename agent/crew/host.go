package crew

import (
	"context"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/session"
	"jcode/tools"
)

// Person is asked what an agent may do and what it wants to know.
type Person interface {
	tools.Asker
	// AskPerson puts a question of the ask tool and waits for the reply.
	AskPerson(ctx context.Context, label, question string, options []string) (string, error)
	// AskForm puts a form and waits until it is filled in, declined or cancelled.
	AskForm(ctx context.Context, form tools.Form) (tools.FormAnswer, error)
}

// Host is the conversation that the agents work for.
type Host interface {
	Person
	// ID is its session; "" before its first message.
	ID() string
	// Label is its name as an agent.
	Label() string
	// Emit publishes an event to its subscribers.
	Emit(ev event.Event)
	// Write stores something that must not be lost with the turn, and reports a failure to the subscribers.
	Write(what string, f func(ctx context.Context) error) bool
	// Open starts a conversation for a task, in a site of its own if it is isolated. On an error nothing is left.
	Open(ctx context.Context, task tools.Task, asks Person) (Opened, error)
	// Reopen continues the stored session of an agent in its site, which may be nil.
	Reopen(ctx context.Context, s roster.State, site Site, asks Person) (Child, error)
}

// Opened is a conversation that was started for a task.
type Opened struct {
	Child   Child
	Site    Site   // nil without isolation
	Session string // its ID, which the child names from its first message on
	Label   string
}

// Child is the conversation of an agent.
type Child interface {
	ID() string
	State() event.State
	Subscribe() *event.Subscription
	Prompt(p event.Prompt) string
	Interrupt() bool
	Close()
	// Agents are the agents that it started itself.
	Agents() *Crew
}

// Site is a copy of the files in which one agent works, with tools that see nothing else.
type Site interface {
	// Dir is the site's folder.
	Dir() string
	// Row returns what must be stored to reopen the site.
	Row() (dir, branch, base string)
	// Diff returns what was changed there and can be merged, as a unified diff, "" for nothing; left names what
	// can't be merged.
	Diff(ctx context.Context) (diff string, left []string, err error)
	// Plan returns what a merge would change. Merge carries it out as one change of the call: all of it or
	// nothing. left names what it did not take along.
	Plan(ctx context.Context) (tools.Plan, error)
	Merge(ctx context.Context, call tools.Call) (said string, left []string, err error)
	// Close closes the tools; the copy stays. Remove deletes it with everything in it.
	Close()
	Remove(ctx context.Context) error
}

// RemoveSite closes a site, which may be nil, and deletes it.
func RemoveSite(ctx context.Context, site Site) error {
	if site == nil {
		return nil
	}
	site.Close()
	return site.Remove(context.WithoutCancel(ctx))
}

// Options say what a conversation's agents have to work with.
type Options struct {
	Store *session.Store
	// Cwd is the conversation's working folder, Project its project.
	Cwd, Project string
	// Most is how many agents may work at once; 0 means roster.Most.
	Most int
	// Isolate makes a copy of the files for the named agent, including uncommitted changes if carry is set. Nil:
	// isolation is not available.
	Isolate func(ctx context.Context, name string, carry bool) (Site, error)
	// Reopen opens a copy that an earlier run made. May be nil.
	Reopen func(ctx context.Context, row session.Agent) (Site, error)
	// Forget removes what is left of a copy that Reopen can't open. May be nil.
	Forget func(ctx context.Context, row session.Agent) error
}
