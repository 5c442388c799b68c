package console

import (
	"io"
	"os"
)

// Streams are what a command reads and writes, and its environment.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Getenv returns an environment variable.
	Getenv func(string) string
	// InIsTerminal and OutIsTerminal say whether In and Out are terminals.
	InIsTerminal, OutIsTerminal bool
}

// System returns the process's own streams. What goes to a terminal is cleaned.
func System() Streams {
	return Streams{
		In: os.Stdin, Out: Clean(os.Stdout), Err: Clean(os.Stderr), Getenv: os.Getenv,
		InIsTerminal: isTerminal(os.Stdin), OutIsTerminal: isTerminal(os.Stdout),
	}
}
