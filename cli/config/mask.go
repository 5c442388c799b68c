package config

import (
	"net/url"
	"strings"

	"jcode/internal/secret"
)

// masked replaces a secret.
const masked = secret.Mark

// secretPath reports whether the value at a dotted path may be a secret.
func secretPath(path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		if part == "headers" || secret.Parameter(part) {
			return true
		}
	}
	return false
}

// Mask returns a decoded JSON value with its secrets replaced: values below headers and of
// keys that sound like one, and user names, passwords and queries of addresses.
func Mask(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, inner := range v {
			out[k] = Mask(path+"."+k, inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = Mask(path, inner)
		}
		return out
	case string:
		if v != "" && secretPath(path) {
			return masked
		}
		return maskURL(v)
	case float64, int:
		if secretPath(path) {
			return masked
		}
	}
	return v
}

// maskURL hides everything in an address but where it leads.
func maskURL(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	if u.User == nil && u.RawQuery == "" {
		return s
	}
	if u.User != nil {
		u.User = url.User("MASK")
	}
	query := u.Query()
	for k := range query {
		query.Set(k, "MASK")
	}
	u.RawQuery = query.Encode()
	return strings.ReplaceAll(u.String(), "MASK", masked)
}
