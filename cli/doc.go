// Package cli owns the command line: flags, wiring of the rooms, headless output and
// the subcommands. It is the only room that knows all others; what a room needs of
// another it hands over as a small interface.
package cli
