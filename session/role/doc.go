// Package role owns the role file format and the layers that roles come from: a project's
// files over rows of the database over the person's files over the builtins.
//
// Parse reads a file and never fails: what is wrong is in Role.Problems. Layers.Get finds the
// role of a name that counts; Role.Render makes the prompt of it. parse.go is the file to begin
// with.
//
// It must not know what a database, a model or a tool is. Rows says what it asks of a store.
package role
