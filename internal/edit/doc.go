// Package edit owns changing a text by old and new strings: where an old string stands,
// what a replacement looks like in the file's own line endings and indentation, and what
// the model is told when it can't be done.
//
// An exact match decides. Looser matching may only locate a place, which must be unique,
// and what old and new string have in common stays the file's own bytes. It must not know
// files, tools or sessions.
package edit
