// Package replay plays a script as a model, and records the answers of models as a script.
//
// It must not know endpoints. Begin with replay.go.
package replay
