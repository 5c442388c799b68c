//go:build cgo

package system

// ThreadSpace is the address space that the threads of this program reserve: with C, each takes a stack and an arena.
const ThreadSpace = 640 << 20
