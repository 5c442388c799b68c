// Package editor is the text that a person writes: lines of grapheme clusters with folded
// pastes as chips, a cursor, undo, and vi keys on top of it.
//
// A key goes this way: whoever owns the keys turns it into a Command and calls Editor.Do,
// or, with vi keys, hands its name to Vi.Key, which says what is left to do for it. What is
// shown comes from Editor.Window, row by row; it costs what it shows, whatever the length.
//
// It must not know what the text is for, nor who draws it. Begin with editor.go; the vi
// keys are in vi.go (what a key means), vi_motion.go and vi_object.go (where it goes),
// vi_change.go and vi_visual.go (what it changes).
package editor
