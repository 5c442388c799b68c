// Package clipboard reaches the clipboard of the machine by the programs that the system has, and that of the terminal by a
// sequence. Begin with clipboard.go: which programs are asked, in which order.
//
// It must not know who copies or pastes, and draws nothing.
package clipboard
