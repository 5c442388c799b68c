// Package sessionscli is what a user sees of sessions: `jcode sessions` (Cmd in command.go, the first to read). Those that are
// stored are listed, shown and changed by command.go, show.go and undo.go; those of other agents come by importer.go; those
// that are open in other processes are in open.go, watch.go and answer.go, which find them by package live. What a chat shows
// of its sessions is in contents.go and preview.go.
package sessionscli
