// Package plain is the terminal without a screen: the conversation line by line, for screen readers, logs and terminals
// that cannot move their cursor.
package plain
