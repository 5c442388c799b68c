// Package tasks owns the tasks that wait for a worker: what each is, its state as people see it, its attempts, the
// questions it waits with, and the schedules that make new ones. All of it is rows of one SQLite file, and these rows
// are the truth: a Carrier only brings a task to a worker.
//
// It must not know how a task is worked on, or what carries it.
package tasks
