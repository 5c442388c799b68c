// Package session owns what jcode keeps: sessions with their messages and tool calls, the
// checkpoints for undo, and the smaller tables beside them (roles, grants, trust, drafts,
// prompts, documents, Lua state). It also owns the migrations of its schema.
//
// # What it hands out
//
// Open returns a Store, which creates, finds, forks, lists and deletes sessions. Everything
// else is a small value of the Store, one for each kind of row: History for messages and
// calls, Checkpoints for files, and Todos, Grants, Trusts, Roles, Drafts, Prompts, Edits,
// Agents, Documents, LuaState and Memory. A room that needs drafts takes a Drafts, not the
// Store.
//
// # The way of one message to disk
//
//  1. History.Append encodes the parts and the usage as JSON, and asks the Store which
//     database has the session: the file, or the one in memory for a private session.
//  2. Store.write opens a transaction on the one writing connection (session/db).
//  3. The row gets the next seq of its session; its rowid is the session's key shifted left by
//     24 bits, plus the seq. The message's calls are inserted as pending.
//  4. In the same transaction the totals of the session and of its parents are updated, the
//     first prompt becomes the title of a session that has none, and the text is indexed
//     for search.
//  5. The transaction commits, and Append returns the seq. From then on a killed process loses
//     nothing of the message. A power cut may lose the last moments, because commits
//     don't wait for the disk (synchronous=NORMAL).
//
// # Reading
//
// Messages are read as they are, not as they should be: a row that can't be decoded comes back
// as a Message whose Broken says why, so that a damaged row never hides the rest of a history.
//
// It must not know what a model or a tool is: it keeps rows and returns them. Files, in
// reading order: store.go, sessions.go, message.go, history.go, calls.go, checkpoint.go,
// undo.go, private.go.
package session
