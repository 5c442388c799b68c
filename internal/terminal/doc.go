// Package terminal is the terminal of a command: its screen as text, keys by their names, which program reads what is
// typed, and whether it waits for a password. It must not know of tools, of the gate, or of whoever types.
package terminal
