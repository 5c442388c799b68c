// Package builtin owns jcode's own tools: files, shell, web, and what the agent asks of a
// person. Each tool is code plus a description in prose beside it.
//
// It must not know how a call is approved, who makes it, or how its result is shown.
package builtin
