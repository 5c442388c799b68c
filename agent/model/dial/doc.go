// Package dial opens a client for a provider in the protocol that the provider speaks, and tests providers:
// for `jcode doctor`, and for servers on this machine.
//
// It must not know how a protocol is spoken. Begin with open.go.
package dial
