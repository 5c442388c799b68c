// Package shell parses command lines: which simple commands a line holds, with their words, which of them
// only read, according to a table of programs, and which files each names. What is not known for certain is
// doubted, and a doubt only ever makes the gate ask.
//
// A text goes through parse.go (two parsers must agree), compound.go and simple.go (from the syntax tree to
// commands), word.go and redirect.go; then readonly.go with its tables judges each command; flags.go and
// argpath.go find what its words may open. disk.go asks the file system, each question once.
// pattern.go works in the other direction: it holds the command patterns of rules. Read line.go first.
//
// The package must not know of rules, modes or questions. Except for reading files, and for what a Scene's
// functions do, it has no effects.
package shell
