// Package pursuit goes on with a conversation while nobody types: it repeats a prompt (/loop), and sends the model on
// until a goal holds (/goal).
//
// It must not know how a conversation works, what it is drawn on or how a goal is judged. It answers no question that
// a conversation asks.
package pursuit
