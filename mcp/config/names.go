package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	maxWireName  = 64
	maxServerKey = 32
	// cutServerKey leaves room for `_` and six hex digits.
	cutServerKey = 25
)

// CanonicalName returns the name of a server's tool for people, rules, grants and scripts.
func CanonicalName(server, tool string) string { return "mcp:" + server + ":" + tool }

// WireName returns the name that a provider sees. It is a pure function of the server's key and the tool's
// raw name, matches `^[A-Za-z0-9_-]{1,64}$`, and differs for different pairs: wherever the plain form could
// be ambiguous it ends in a hash of both.
func WireName(server, tool string) string {
	clean := cleanName(tool)
	name := "mcp__" + server + "__" + clean
	plain := clean == tool && len(name) <= maxWireName &&
		!strings.HasSuffix(server, "_") && !strings.HasPrefix(tool, "_")
	if plain {
		return name
	}
	suffix := "_" + shortHash(server+"\x00"+tool, 8)
	return name[:min(len(name), maxWireName-len(suffix))] + suffix
}

// PromptName returns the name of the slash command for a server's prompt.
func PromptName(server, prompt string) string { return WireName(server, prompt) }

// CheckKey returns an error that states the rule when key cannot name a server.
func CheckKey(key string) error {
	if validServerKey(key) {
		return nil
	}
	return fmt.Errorf("invalid server name %q: use 1 to %d of A-Z a-z 0-9 _ - and no double underscore", key, maxServerKey)
}

func validServerKey(key string) bool {
	return key != "" && len(key) <= maxServerKey && cleanName(key) == key && !strings.Contains(key, "__")
}

// KeyFor returns a key for a name that another program's file uses. A name that is a valid key
// stays as it is; any other gets a hash, so that two names never collide.
func KeyFor(name string) string {
	if validServerKey(name) {
		return name
	}
	key := cleanName(name)
	for strings.Contains(key, "__") {
		key = strings.ReplaceAll(key, "__", "_")
	}
	key = strings.TrimRight(key[:min(len(key), cutServerKey)], "_")
	return key + "_" + shortHash(name, 6)
}

// cleanName replaces each character outside of `[A-Za-z0-9_-]` with an underscore.
func cleanName(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteByte(byte(r))
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

func shortHash(s string, hexDigits int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:hexDigits]
}

// UnknownServer returns the error for a name that is not among the known ones.
func UnknownServer(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown MCP server %q: none is configured; mcp_connect adds one", name)
	}
	return fmt.Errorf("unknown MCP server %q; known servers: %s", name, strings.Join(known, ", "))
}
