// Package patch parses patches in the V4A format ("*** Begin Patch") and applies them to text.
//
// The place of a hunk is given by the lines around it, not by numbers. The lines must be there,
// apart from spaces at their ends and the kind of quotes. Text that is merely similar is never
// replaced, and an ambiguous place is an error. The package touches no files. Begin with
// parse.go.
package patch
