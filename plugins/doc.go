// Package plugins owns what comes in one piece from somebody else: a folder or a git
// repository with commands, skills, agents, hooks, MCP servers and language servers. It
// fetches a plugin, says row by row what it brings, keeps a copy pinned to a commit and to
// the hash of all its files, and notices when a byte of that copy has changed.
//
// It runs nothing of a plugin, and it must not know skills, hooks or servers: it says where
// they lie, and cli hands that to the rooms that own them. Read manifest.go first, then
// store.go.
package plugins
