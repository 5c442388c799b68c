// Package toolcard says what each of jcode's own tools is: one card per tool, which every room
// reads instead of knowing tools by name. Whoever adds a tool adds its card here, and rules, plan
// mode, hooks of Claude Code, editors and the transcript treat it as what it is.
package toolcard

import (
	"cmp"
	"slices"
	"strings"
)

// Kind is what a tool does, in the terms of the Agent Client Protocol.
type Kind string

// The kinds.
const (
	Read    Kind = "read"
	Edit    Kind = "edit"
	Delete  Kind = "delete"
	Move    Kind = "move"
	Search  Kind = "search"
	Execute Kind = "execute"
	Fetch   Kind = "fetch"
	Think   Kind = "think"
	Other   Kind = "other"
)

// Card says what a tool is.
type Card struct {
	// Name is the tool's canonical name.
	Name string
	Kind Kind
	// Access is the kind of access that a rule with the tool's name means, as the gate calls it; "" if such a
	// rule means only the tool itself.
	Access string
	// Under names the rules that cover the tool: whoever denies one of them wholly denies this tool, too.
	Under []string
	// Editable is the argument that can be edited in a question before the call runs; "" if none can.
	Editable string
	// Parts says that hunks of the tool's diff may be taken one by one: it writes only those.
	Parts bool
	// Grants says in words what a lasting yes to the whole tool allows; "" shows the rule.
	Grants string
	// Looks marks tools whose calls share one row of the transcript: they only read or search files.
	Looks bool
	// Steers marks tools that change nothing themselves and start or steer what may.
	Steers bool
	// Theirs are the tool's names in Claude Code, as it spells them.
	Theirs []string
	// Arguments maps names of arguments to Claude Code's, where they differ.
	Arguments map[string]string
	// Trained are further names under which models and definitions of other agents know the tool, in lower case.
	Trained []string
	// Instead are the tools that a model is not offered beside this one: it does what they do.
	Instead []string
	// After are the tools after whose first call a conversation is offered this one: before, it is of no use and costs
	// tokens. Empty means from the start.
	After []string
	// Said are beginnings of what a result says that makes the tool useful; it is offered from then on.
	Said []string
	// Serves marks a tool about MCP servers, which is offered as soon as there is one.
	Serves bool
}

// Of returns the card of one of jcode's own tools, or of a kind of access that rules name like a tool; any
// other name has a card of the kind Other.
func Of(name string) Card {
	all := cards()
	if i, found := slices.BinarySearchFunc(all, name, func(c Card, name string) int { return cmp.Compare(c.Name, name) }); found {
		return all[i]
	}
	return Card{Name: name, Kind: Other}
}

// Known reports whether a tool has a card.
func Known(name string) bool { return Of(name).Kind != Other || slices.Contains(Names(), name) }

// OfKind lists the names of the tools of a kind, sorted.
func OfKind(kind Kind) (out []string) {
	for _, c := range cards() {
		if c.Kind == kind {
			out = append(out, c.Name)
		}
	}
	return out
}

// Names lists all names that have a card, sorted.
func Names() (out []string) {
	for _, c := range cards() {
		out = append(out, c.Name)
	}
	return out
}

// Ours returns jcode's name for a tool of another agent, ignoring case. A tool of an MCP server,
// mcp__SERVER__TOOL, is mcp:SERVER:TOOL, and all of a server's tools are mcp:SERVER:*.
func Ours(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		// Only the first separator is certain: a tool's own name may contain another.
		server, tool, _ := strings.Cut(rest, "__")
		if tool == "" {
			tool = "*"
		}
		return "mcp:" + server + ":" + tool, server != ""
	}
	lower := strings.ToLower(name)
	for _, c := range cards() {
		if c.known(lower) {
			return c.Name, true
		}
	}
	return "", false
}

// known reports whether other agents mean this tool by a name in lower case.
func (c Card) known(lower string) bool {
	for _, name := range c.Theirs {
		if strings.ToLower(name) == lower {
			return true
		}
	}
	for _, name := range c.Trained {
		if name == lower {
			return true
		}
	}
	return false
}

// Said returns the tools that results make useful, with what those say.
func Said() map[string][]string {
	out := map[string][]string{}
	for _, c := range cards() {
		if len(c.Said) > 0 {
			out[c.Name] = c.Said
		}
	}
	return out
}
