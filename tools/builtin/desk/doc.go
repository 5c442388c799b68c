// Package desk has the tools that work on the conversation which calls them: todo, ask, task and agent. Each reads its
// arguments and hands them to the tools.Desk of the caller, which package agent implements.
package desk
