// Package command owns what a person can run by name: `/name arguments`. Skills,
// command files, MCP prompts and Lua register Sources; the terminal lists and runs
// them. It must not know how a command is shown or who wrote it.
package command

import (
	"context"
	"sort"
)

// Command is one slash command that comes from outside the terminal's own set.
type Command struct {
	// Name is without the slash: `^[a-z0-9][a-z0-9_-]*$` or `mcp__server__prompt`.
	Name string
	// Description is one line.
	Description string
	// Hint shows the arguments: "<file> [count]".
	Hint string
	// Origin says where it comes from: "skill (project)", "file .jcode/commands/x.md".
	Origin string
	// Run carries it out with the text after the name, inserted as it is.
	Run func(ctx context.Context, args string) (Outcome, error)
	// Complete proposes values for the argument that is being typed; may be nil.
	Complete func(ctx context.Context, args string) []string
}

// Outcome is what a command leaves behind.
type Outcome struct {
	// Prompt, when set, is sent to the agent as the person's message.
	Prompt string
	// Shown is how that message appears in the transcript ("/review src"); empty = Prompt.
	Shown string
	// Draft, when set, is put into the input and not sent.
	Draft string
	// Notice is shown to the person and not sent.
	Notice string
	// Skill is the skill whose instructions Prompt holds, in the words of the room that made
	// it; it is kept with the message.
	Skill string
	// Model overrides the model for this one message.
	Model string
	// Allow are rules that hold while this message is worked on; they were approved and pinned.
	Allow []string
}

// Source gives commands. List must be cheap: it is called as the person types.
type Source interface {
	List() []Command
}

// Set merges sources. The first source that has a name wins.
type Set struct{ Sources []Source }

// List gives all commands, each name once, sorted by name.
func (s Set) List() []Command {
	seen := map[string]bool{}
	var out []Command
	for _, src := range s.Sources {
		for _, c := range src.List() {
			if !seen[c.Name] {
				seen[c.Name] = true
				out = append(out, c)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Find gives the command of exactly that name.
func (s Set) Find(name string) (Command, bool) {
	for _, src := range s.Sources {
		for _, c := range src.List() {
			if c.Name == name {
				return c, true
			}
		}
	}
	return Command{}, false
}
