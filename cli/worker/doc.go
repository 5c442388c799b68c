// Package workercli works on queued tasks: `jcode worker` (Cmd), and the process that it starts for each attempt at one
// (Attempt). The way of one task: worker.go takes it from the queue and starts the process, attempt.go finds its folder and
// has a model work in a worktree of it (tree.go), ask.go puts its questions to whoever looks, settle.go keeps what came out.
// Which workers are there is in life.go; what of a repository may run is asked in trust.go. What a user sees of tasks is
// package taskscli.
package workercli
