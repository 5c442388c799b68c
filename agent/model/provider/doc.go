// Package provider owns which endpoints there are and which one is meant: the presets, what
// configuration makes of them, keys, and the way from the name of a model to its endpoint.
//
// It must not send anything. Begin with resolve.go.
package provider
