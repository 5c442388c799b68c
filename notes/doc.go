// Package notes owns what is known from one session to the next: notes, as Markdown files that a person can read,
// edit and delete.
//
// A Store has two books, the project's and the user's. A book is a folder: a file for each topic, with a list of
// notes that each say since when and where from they are, and MEMORY.md, which names every note in a line and is
// written anew after each change. What a person wrote by hand stays as it is, byte for byte, and counts as notes too.
// An inbox holds drafts, which are no notes before a person accepts them.
//
// It must not know conversations, models or the gate. Begin with store.go; note.go is the form of a file.
package notes
