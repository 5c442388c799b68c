// Package feed is a run of -p that a program feeds (--input-format stream-json): prompts, answers and interrupts come while it
// goes on. run.go does what the lines of package cli/stream say and prints what happens; lending.go are the MCP servers that
// the program itself serves on the same line, which is how the libraries of sdk lend their functions.
package feed
