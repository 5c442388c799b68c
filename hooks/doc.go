// Package hooks runs commands of the person's when something happens: before and after a tool
// call, at a prompt, at the end of a turn, at the beginning and end of a session. A hook gets
// JSON on its standard input and answers by its exit code or by JSON; both forms are those of
// Claude Code, so that hooks written for it work here.
//
// A hook may refuse a call, change it, have it asked about, or tell the model something. It
// never grants anything: what it changes is validated and judged as if the model had sent it.
// A hook that fails, hangs or prints invalid output is reported, and the call continues: what must never
// happen belongs into a rule.
//
// The package must not know how a command is started or confined (Runner), nor what a
// conversation is: whoever owns that calls Engine.Fire. Read engine.go first, then answer.go.
package hooks
