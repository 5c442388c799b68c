// Package hooks runs commands of the person at events: before and after a tool call, at a
// prompt, at the end of a turn, at the beginning and end of a session. A hook gets JSON on its
// standard input and answers by its exit code or by JSON. Both formats are those of Claude Code,
// so hooks written for it work here.
//
// A hook may refuse a call, change it, require a question about it, or tell the model something.
// It never grants anything: what it changes is validated and judged as if the model had sent it.
// If a hook fails, hangs or prints invalid output, that is reported and the call continues. What
// must never happen needs a permission rule.
//
// The package must not know how a command is started or confined (Runner), nor what a
// conversation is: its owner calls Engine.Fire. Read engine.go first, then answer.go.
package hooks
