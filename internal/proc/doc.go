// Package proc owns child processes: it starts them as leaders of their own session and process
// group, waits for the process and never for its pipes, kills the whole tree, lists which
// processes of a tree are still running, and builds the environments of children.
//
// It must not know what a child is for, who asked for it, or what happens to its output.
package proc
