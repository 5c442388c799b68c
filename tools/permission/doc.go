// Package permission owns the one approval gate: modes, rules, grants, path rules, the analysis of shell
// commands, and the trust in a project's files. Everything that wants to act (model, script, skill, server)
// is judged here by the same tables.
//
// It must not know how a question is shown, where grants are stored, or how a tool does its work: an Asker, a
// GrantStore and the tools' own plans supply that.
package permission
