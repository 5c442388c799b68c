// Package observe owns the watching of real programs: which they start, which files they
// open and how, and where they connect to. It asks the kernel (ptrace), so that nothing that
// a program does escapes it, whatever its arguments say. It must not know what is watched
// for.
package observe
