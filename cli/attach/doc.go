// Package attach shows a session that runs in the background in this terminal: keys and the size go there, and what it
// draws comes back, byte for byte. Start with window.go.
package attach
