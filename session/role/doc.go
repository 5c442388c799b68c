// Package role owns the role file format and the layers that roles come from: a project's
// files over rows of the database over the person's files over the builtins.
//
// Parse reads a file and never fails: what is wrong is in Role.Problems. Layers.Get returns
// the role of a name that takes precedence; Role.Render turns it into a prompt. Begin with
// parse.go.
//
// It must not know what a database, a model or a tool is. Rows is what it needs of a store.
package role
