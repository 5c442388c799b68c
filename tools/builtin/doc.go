// Package builtin owns jcode's own tools: files, shell, web, and questions to a person. The
// description of each tool is a .md file beside its code.
//
// It must not know how a call is approved, who makes it, or how its result is shown.
package builtin
