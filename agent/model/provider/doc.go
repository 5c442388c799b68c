// Package provider owns which endpoints there are and which one is meant: the presets, what configuration
// makes of them, keys, and the mapping from a model's name to its endpoint.
//
// It must not send anything. Begin with resolve.go.
package provider
