// Package builtin owns jcode's own tools: files, shell, web, and questions to a person. Each tool
// is code with a description in prose beside it.
//
// It must not know how a call is approved, who makes it, or how its result is shown.
package builtin
