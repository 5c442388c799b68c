package config

import (
	"net/url"
	"slices"
	"strings"

	"jcode/internal/secret"
)

// hidden replaces a secret.
const hidden = secret.Mark

// Mask returns a target that may be shown: values of env and headers, user info and keys of URLs and values
// after key-like flags are hidden. Anything that only names a variable stays.
func Mask(t Target) Target {
	t.Env = maskMap(t.Env)
	t.Headers = maskMap(t.Headers)
	t.Args = maskArgs(t.Args)
	t.URL = maskURL(t.URL)
	return t
}

// onlyVariables reports whether a text contains nothing but variables and a scheme word such as Bearer: it
// names secrets and contains none.
func onlyVariables(s string) bool {
	rest := strings.TrimSpace(variable().ReplaceAllStringFunc(s, func(m string) string {
		if strings.Contains(m, ":-") {
			return m // a default is a value
		}
		return ""
	}))
	switch strings.ToLower(rest) {
	case "":
		return s != ""
	case "bearer", "basic", "token":
		return rest != strings.TrimSpace(s)
	}
	return false
}

func maskValue(s string) string {
	if s == "" || onlyVariables(s) {
		return s
	}
	return hidden
}

func maskMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = maskValue(v)
	}
	return out
}

// isKeyFlag reports whether a word is a flag whose value is a secret.
func isKeyFlag(word string) bool {
	return strings.HasPrefix(word, "-") && isWord(word) && secret.Parameter(word)
}

// isWord reports whether a text can be the name of a flag or a variable.
func isWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// maskArgs hides values of key-like flags, of NAME=value words whose name is one, and
// secrets of URLs.
func maskArgs(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case i > 0 && isKeyFlag(args[i-1]) && !strings.HasPrefix(a, "-"):
			out[i] = maskValue(a)
		case joined && (isKeyFlag(name) || isWord(name) && secret.Name(name)):
			out[i] = name + "=" + maskValue(value)
		case strings.Contains(a, "://"):
			out[i] = maskURL(a)
		}
	}
	return out
}

// secretArgs returns the values that maskArgs hides.
func secretArgs(args []string) []string {
	var out []string
	for i, masked := range maskArgs(args) {
		if masked == args[i] {
			continue
		}
		switch {
		case masked == hidden:
			out = append(out, args[i])
		case strings.Contains(args[i], "://"):
			out = append(out, secretsOfURL(args[i])...)
		default:
			_, value, _ := strings.Cut(args[i], "=")
			out = append(out, value)
		}
	}
	return out
}

// maskURL hides user info and key-like query values.
func maskURL(s string) string {
	for _, secret := range secretsOfURL(s) {
		if secret != "" && !onlyVariables(secret) {
			s = strings.ReplaceAll(s, secret, hidden)
		}
	}
	return s
}

// secretsOfURL lists user info and key-like query values as they are written in s.
func secretsOfURL(s string) []string {
	var out []string
	_, rest, ok := strings.Cut(s, "://")
	if !ok {
		return nil
	}
	authority := rest
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		out = append(out, authority[:i])
	}
	_, query, _ := strings.Cut(rest, "?")
	query, _, _ = strings.Cut(query, "#")
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if value != "" && secret.Parameter(name) {
			out = append(out, value)
			if plain, err := url.QueryUnescape(value); err == nil && plain != value {
				out = append(out, plain)
			}
		}
	}
	return out
}

// Scrub removes known secrets from a text. Very short values are kept: they are ordinary words.
func Scrub(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			s = strings.ReplaceAll(s, secret, hidden)
		}
	}
	return s
}

// minSecret is the shortest configured value that is treated as a secret.
const minSecret = 6

// ScrubLonger sorts secrets so that one that contains another is removed first.
func ScrubLonger(secrets []string) []string {
	out := slices.Clone(secrets)
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}
