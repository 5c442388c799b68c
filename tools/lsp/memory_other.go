//go:build !linux

package lsp

// memory returns 0: it is read on Linux only.
func memory(int) int64 { return 0 }
