// Package front is what a front end of the terminal is given (a conversation, sessions, panels, commands) and the words
// that all front ends say alike. Each of them, the one that draws and the one that writes lines, is a room of its own.
package front
