// Package taskscli is what a user sees of queued tasks: the commands of `jcode tasks` (Cmd), the list of /tasks and the
// command /later (Actions), the tasks on the page of `jcode serve` (Served). The way of one task: add.go reads what is to be
// done, form.go completes it by the folder or the address that it names, place.go finds the queue. What came out of it is
// taken in take.go. Who works on it is package workercli; what a task is and becomes is package tasks.
package taskscli
