// Package live finds the sessions that are open in other processes of the user, by the sockets of package remote: those
// that a command lists, watches, answers or shows. Start with live.go.
package live
