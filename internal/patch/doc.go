// Package patch reads patches in the V4A form ("*** Begin Patch") and applies them to text.
//
// A hunk names its place by the lines around it, not by numbers. A place counts only where the
// lines are there, but for spaces at their ends and the kind of quotes; text that is merely
// similar is never replaced, and an ambiguous place is an error. The package touches no files.
// Begin with parse.go.
package patch
