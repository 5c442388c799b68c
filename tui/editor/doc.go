// Package editor holds the text that a person writes: lines of grapheme clusters with folded pastes as chips,
// a cursor, undo, and vi keys on top.
//
// A key is handled like this: the owner of the keys turns it into a Command and calls Editor.Do or, with vi
// keys, passes its name to Vi.Key, which returns what is left to do for it. What is shown comes from
// Editor.Window, row by row; it costs as much as it shows, however long the text is.
//
// It must not know what the text is for, nor who draws it. Begin with editor.go; the vi keys are in vi.go
// (what a key means), vi_motion.go and vi_object.go (where it moves), vi_change.go and vi_visual.go (what it
// changes).
package editor
