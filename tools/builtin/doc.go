// Package builtin owns jcode's own tools for files and commands; those that read the web and those that work on the
// conversation are in its folders web and desk. The description of each tool is a .md file beside its code.
//
// It must not know how a call is approved, who makes it, or how its result is shown.
package builtin
