// Package cli owns the command line: flags, wiring, headless output and the subcommands. It is the only
// package that knows all others; what one package needs from another it passes in as a small interface.
package cli
