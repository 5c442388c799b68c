// Package tools owns everything callable: the Tool interface, the versioned Registry with its
// immutable Snapshots, the Scope that limits what a role may use, and the Dispatcher through
// which every call passes, whoever makes it.
//
// It must not know any particular tool, how a person is asked (that is a Gate's
// and an Asker's business), or how a model is spoken to.
package tools
