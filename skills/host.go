package skills

import (
	"context"

	"jcode/tools"
)

// Host is the conversation for which a person runs a command.
type Host interface {
	// Session is the conversation's session ID.
	Session() string
	// Asker puts questions to the person; nil when nobody can be asked.
	Asker() tools.Asker
	// Shell runs a command line under the approval gate and returns what it printed. A
	// refusal is an error; an exit code is not, and is part of the output.
	Shell(ctx context.Context, line ShellLine) (string, error)
	// ReadFile returns a file's text under the approval gate. Relative paths begin at the
	// working folder.
	ReadFile(ctx context.Context, path string) (string, error)
	// HasFile reports whether a path names a regular file.
	HasFile(path string) bool
}

// ShellLine is a command line of a command file.
type ShellLine struct {
	Text string
	// Allow are the permission rules that a person approved for this version of the file.
	Allow []string
	// Approved says that a person has approved exactly this line.
	Approved bool
}
