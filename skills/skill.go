package skills

import (
	"fmt"
	"strings"

	"jcode/internal/frontmatter"
)

// Skill is one skill that was read without a fatal fault.
type Skill struct {
	// Name is what the model and people call it: lower-case letters, digits and hyphens.
	Name        string
	Description string
	// Dir is the skill's base folder and File its SKILL.md, absolute. For a builtin skill
	// they are paths inside the program until it is loaded.
	Dir  string
	File string
	// Source is where it was found.
	Source Source
	// License, Compatibility and Metadata are as the file states them.
	License       string
	Compatibility string
	Metadata      []frontmatter.Pair
	// Hint shows the arguments of `/name`.
	Hint string
	// Rules are what allowed-tools asks for, as permission rules.
	Rules []string
	// ManualOnly skills are for `/name` alone: the model is not told of them.
	ManualOnly bool
	// Hidden skills are for the model alone: there is no `/name`.
	Hidden bool
	// Hooks says that it names hooks, which are not run: whoever uses it should know.
	Hooks bool
	// Hash is the SHA-256 of SKILL.md in hex.
	Hash string
}

// Source is a folder in which skills are looked for.
type Source struct {
	// Label is how people know it: "builtin", "user", "~/.claude", "project .jcode".
	Label string `json:"label"`
	// Dir is the folder, absolute; empty for the builtin ones.
	Dir string `json:"dir,omitempty"`
	// Project says that the folder belongs to the project, not to the person.
	Project bool `json:"project,omitempty"`
	// Plugin names the plugin that brings the folder, "" for all others.
	Plugin string `json:"plugin,omitempty"`

	// lone sources may themselves be a skill's folder: those that config or a plugin names.
	lone bool
}

// Level grades a Diagnostic.
type Level string

// The levels: an error keeps a skill from being used.
const (
	Warning Level = "warning"
	Fault   Level = "error"
)

// Diagnostic says what is not right in a file, and what to do about it.
type Diagnostic struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"` // 1-based, 0 for the file as a whole
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Cure  string `json:"cure,omitempty"`
}

// String returns `file:line: level: text; cure`.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		fmt.Fprintf(&b, ":%d", d.Line)
	}
	fmt.Fprintf(&b, ": %s: %s", d.Level, d.Text)
	if d.Cure != "" {
		b.WriteString("; " + d.Cure)
	}
	return b.String()
}

// State says whether an Entry is in use, and if not, why.
type State string

// The states of a skill.
const (
	Active   State = "active"
	Disabled State = "disabled"
	Shadowed State = "shadowed"
	Broken   State = "broken"
)

// Entry is one SKILL.md that was found, whether it can be used or not.
type Entry struct {
	Skill
	State State
	// By is the file of the skill that shadows this one.
	By string
	// Waits says that it would take the name of the one in By once the person trusts it.
	Waits bool
	// Replaces is the file, not of the project, whose name a skill of the project has taken.
	Replaces    string
	Diagnostics []Diagnostic
}
