// Package undo knows what commands, hooks and tools whose writes are not known beforehand change in the workspace, so
// that an undo reverts it, and says what an undo did. What jcode's own tools change is recorded by themselves; both are
// kept by package session.
package undo
