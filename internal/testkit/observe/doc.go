// Package observe watches real programs: which programs they start, which files they open and how, and where
// they connect to. It asks the kernel (ptrace), so that nothing a program does escapes it, whatever its
// arguments say. It must not know what is watched for.
package observe
