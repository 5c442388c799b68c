// Package confinementcli is where commands run: what the sandbox lets them do in this project, which files it protects,
// which variables they get, and the doctor's checks of all that. Confinement in confinement.go is the first to read; which
// folders git runs hooks from, and so are protected, is asked in githooks.go. The sandbox itself is package tools/sandbox.
package confinementcli
