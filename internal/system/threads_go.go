//go:build !cgo

package system

// ThreadSpace is the address space that the threads of this program reserve: without C, next to none.
const ThreadSpace = 32 << 20
