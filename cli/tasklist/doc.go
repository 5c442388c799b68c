// Package tasklist owns how tasks are written and read by people: lines of a file of new tasks, times, lists, one task
// with all that is known of it.
//
// It must not know where tasks are kept or how they are worked on.
package tasklist
