// Package board carries messages from all parts of jcode to the open conversation: lines for the person at once, lines
// for the model at its next step. It knows the conversation that is open and nothing of those who write on it.
package board
