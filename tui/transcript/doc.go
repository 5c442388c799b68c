// Package transcript is what happened in a conversation, drawn: prompts, answers, thinking, calls with their diffs,
// notices, the line at the end of a turn. A View is the list of them and the window on it; each item draws itself for a
// look.Look, once, until the look changes.
package transcript
