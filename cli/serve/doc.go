// Package servecli is what a user sees of the page of open sessions: `jcode serve` with its devices (Cmd), and /remote
// (RemotePage). The way of one page: command.go says who could reach it and serves it, by package page; stored.go reads for it
// what is kept, begin.go begins sessions from it.
package servecli
