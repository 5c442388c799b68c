// Package command owns what a person can run by name: `/name arguments`, and the lists
// ([Panel]) that such commands show. Skills, command files, MCP prompts and Lua register Sources;
// a front end lists and runs them. It must not know how a command or a list is drawn or who wrote it.
package command

import (
	"cmp"
	"context"
	"slices"
)

// Command is one slash command that comes from outside the terminal's own set.
type Command struct {
	// Name is without the slash: `^[a-z0-9][a-z0-9_-]*$`, `plugin:command` or `mcp__server__prompt`.
	Name string
	// Description is one line.
	Description string
	// Hint shows the arguments: "<file> [count]".
	Hint string
	// Origin says where it comes from: "skill (project)", "file .jcode/commands/x.md".
	Origin string
	// Guest reports whether the command belongs to the project and is not approved: any other
	// command of its name has priority. Nil means no. It is called only if two commands have the
	// same name.
	Guest func() bool
	// Run carries it out with the text after the name, inserted as it is.
	Run func(ctx context.Context, args string) (Outcome, error)
	// Work, when set, replaces Run for what may take a while: progress shows a line, and may be
	// called from any goroutine; esc ends ctx.
	Work func(ctx context.Context, args string, progress func(line string)) (Outcome, error)
	// Apart reports whether it can't be carried out while a `!` line runs: what that writes belongs to what the
	// command looks at, or would be ended by it. Nil means no.
	Apart func(args string) bool
	// Verbs are words that Run understands, for help and completion.
	Verbs Verbs
	// Complete proposes values for the argument that is being typed; may be nil.
	Complete func(ctx context.Context, args string) []string
}

func (c Command) guest() bool { return c.Guest != nil && c.Guest() }

// Outcome is the result of a command.
type Outcome struct {
	// Prompt, when set, is sent to the agent as the person's message.
	Prompt string
	// Shown is how that message appears in the transcript ("/review src"); empty = Prompt.
	Shown string
	// Draft, when set, is put into the input and not sent.
	Draft string
	// Notice is shown to the person and not sent.
	Notice string
	// Page, when set, is the title under which the notice is shown until the person goes on: it is the answer to
	// a question and not part of the conversation.
	Page string
	// Wide, when set, lays the text of the page out for a width in cells, where that is known.
	Wide func(width int) string
	// Skill names the skill whose instructions Prompt contains, in a form that its package defines;
	// it is stored with the message.
	Skill string
	// Model overrides the model for this one message.
	Model string
	// Allow are approved rules that apply while this message is worked on.
	Allow []string
}

// Source lists commands. List must be cheap: it is called while the person types.
type Source interface {
	List() []Command
}

// Set merges sources. The first source that has a name wins, but a guest never wins over
// another.
type Set struct{ Sources []Source }

// List returns all commands, each name once, sorted by name.
func (s Set) List() []Command {
	at := map[string]int{}
	var out []Command
	for _, src := range s.Sources {
		for _, c := range src.List() {
			switch i, seen := at[c.Name]; {
			case !seen:
				at[c.Name] = len(out)
				out = append(out, c)
			case out[i].guest() && !c.guest():
				out[i] = c
			}
		}
	}
	slices.SortFunc(out, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Find returns the command of exactly that name.
func (s Set) Find(name string) (found Command, ok bool) {
	for _, src := range s.Sources {
		for _, c := range src.List() {
			if c.Name == name && (!ok || found.guest() && !c.guest()) {
				found, ok = c, true
			}
		}
	}
	return found, ok
}
