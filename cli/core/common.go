package core

import (
	"errors"
	"slices"
	"time"

	"jcode/tools"
)

// PrintWait is how long a headless run waits for configured MCP servers.
const PrintWait = 5 * time.Second

// ErrNoMessages says that a command needs a session with messages.
var ErrNoMessages = errors.New("this session has no messages yet")

// ErrPrivate says why something is not stored.
var ErrPrivate = errors.New("nothing of a private conversation is kept on the disk")

// MoreRight returns the kind of right that a word names.
func MoreRight(word string) (kind tools.TrustKind, ok bool) {
	kind = tools.TrustKind(word)
	return kind, kind == tools.TrustNetwork || kind == tools.TrustOutside
}

// OfKind returns the items of some kinds.
func OfKind(items []tools.TrustItem, kinds ...tools.TrustKind) []tools.TrustItem {
	return slices.DeleteFunc(slices.Clone(items), func(i tools.TrustItem) bool { return !slices.Contains(kinds, i.Kind) })
}
