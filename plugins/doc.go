// Package plugins owns the plugins of other authors: a folder or a git repository with
// commands, skills, agents, hooks, MCP servers, language servers and Lua. It fetches a plugin,
// lists row by row what it brings, keeps a copy pinned to a commit and to the hash of all its
// files, and notices if a byte of that copy has changed.
//
// It runs nothing of a plugin, and it must not know skills, hooks or servers: it says where they
// are, and cli passes that to the rooms that own them. Read manifest.go first, then store.go.
package plugins
