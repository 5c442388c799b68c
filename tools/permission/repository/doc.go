// Package repository decides whether git may read a folder's repository unasked: which repository git would
// use, and whether reading it runs a program, uses the network or leads out of the workspace. Its own reading
// of the files comes first and is cheap; git itself is asked afterwards and has the last word. Either can
// only object.
//
// It must not know of shells, rules or modes.
package repository
