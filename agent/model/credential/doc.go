// Package credential owns what shows a provider who asks where that changes while jcode runs: a key that a command
// writes, and signatures of requests with the credentials of AWS.
//
// It must not know what is asked. Begin with source.go.
package credential
