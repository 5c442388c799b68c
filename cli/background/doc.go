// Package backgroundcli is what a user sees of sessions in the background: `jcode attach`, --detachable and --detach,
// /detach. The way of one session: run.go and start.go start this program on a terminal that it holds itself, terminal.go is
// that terminal in the new process, attach.go shows it here (by package attach), and detach.go ends a chat that goes on there.
// With several of them, beside.go is what a chat knows of the others, and show.go shows one after the other.
package backgroundcli
