// Package documentscli is documents as a user sees them: how those of roles and sessions come into a conversation (Documents,
// the first to read), and `jcode docs` (Cmd in command.go). How they are read, cut and found is package tools/retrieval.
package documentscli
