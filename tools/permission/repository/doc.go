// Package repository owns the question whether git may look at a folder's repository
// unasked: which repository git would take, and whether looking at it runs a program, goes
// to the network or leads out of the workspace. Its own reading of the files comes first and
// is cheap; git itself is asked afterwards, and has the last word. Either can only object.
//
// It must not know of shells, rules or modes.
package repository
