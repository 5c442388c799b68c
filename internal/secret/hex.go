package secret

import (
	"slices"
	"strings"
)

// Variable reports whether a variable is considered a secret: by its name or value as Name and Value say, or since
// its whole value is a long hexadecimal number and its name doesn't say that this is a hash, a version or an
// identifier.
func Variable(name, value string) bool {
	return Name(name) || Value(value) || hexKey(value) && !namesHash(name)
}

// hexKey reports whether a value has the form of a key in hexadecimal digits.
func hexKey(value string) bool {
	value = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(value), "0x"))
	if len(value) < 32 || strings.Trim(value, "0123456789abcdef") != "" {
		return false
	}
	seen := map[rune]bool{}
	for _, r := range value {
		seen[r] = true
	}
	return len(seen) >= 8 && strings.ContainsAny(value, "abcdef") && strings.ContainsAny(value, "0123456789")
}

// namesHash reports whether a name says that a value is a hash of something, or identifies it.
func namesHash(name string) bool {
	return slices.ContainsFunc(split(name), func(word string) bool {
		return slices.Contains([]string{
			"COMMIT", "HASH", "DIGEST", "CHECKSUM", "SUM", "REV", "REVISION", "VERSION", "VCS", "REF", "HEAD", "BASE", "TREE", "BLOB", "ID", "IDS", "UUID", "GUID", "CID", "TRACE", "SPAN",
			"TRACEPARENT", "FINGERPRINT", "THUMBPRINT", "ETAG", "CACHE", "BUILD", "NUMBER", "GIT", "BEFORE", "AFTER", "MACHINE", "IMAGE", "LOCK", "STAMP", "MD",
		}, word) || strings.HasPrefix(word, "SHA") || strings.HasPrefix(word, "MD5") || strings.HasSuffix(word, "HASH") || strings.HasSuffix(word, "SUM") || strings.HasSuffix(word, "ID")
	})
}
