// Package edit owns changing a text by old and new strings: where an old string is, what its
// replacement looks like in the file's own line endings and indentation, and what the model is
// told if the change is not possible.
//
// An exact match has priority. Looser matching may only locate a place, which must be unique, and
// what the old and the new string have in common stays as it is in the file. It must not know
// files, tools or sessions.
package edit
