// Package dial opens a client for a provider in the protocol that it speaks, and tries
// providers out: for `jcode doctor`, and for servers on this machine.
//
// It must not know how a protocol is spoken. Begin with open.go.
package dial
