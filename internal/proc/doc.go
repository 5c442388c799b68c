// Package proc owns child processes: it starts them as leaders of an own session and
// process group, waits for the process and never for its pipes, ends the whole tree,
// says who of a tree still runs, and builds the environments that children get.
//
// It must not know what a child is for, who asked for it, or what happens to its output.
package proc
