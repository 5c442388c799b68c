// Package agent owns one conversation: the turn loop, its history, the system prompt, compaction, the loop
// guard and the switch of scopes. One goroutine per Conversation does all the work; others send it messages
// and subscribe to Events.
//
// It must not know how events are shown, where tools come from, or how SQLite stores rows.
package agent
