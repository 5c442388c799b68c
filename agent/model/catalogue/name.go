package catalogue

import (
	"slices"
	"strings"
)

// Name returns what an ID calls its model, without what surrounds that: the path before a slash, the cloud's region
// and the maker, a date or a revision at the end. us.anthropic.claude-opus-4-6-v1:0, anthropic/claude-opus-4.6 and
// claude-opus-4-6@20260205 are claude-opus-4-6.
func Name(id string) string {
	id = strings.ToLower(id)
	id = id[strings.LastIndexByte(id, '/')+1:]
	id, _, _ = strings.Cut(id, ":")
	id, _, _ = strings.Cut(id, "@")
	id = strings.TrimSuffix(id, "[1m]")
	for {
		first, rest, ok := strings.Cut(id, ".")
		if !ok || !slices.Contains(regions(), first) && !slices.Contains(makers(), first) {
			break
		}
		id = rest
	}
	id = strings.TrimSuffix(id, "-latest")
	switch {
	case strings.HasPrefix(id, "claude-"):
		id = strings.ReplaceAll(strings.TrimSuffix(id, "-thinking"), ".", "-")
		if at := strings.LastIndex(id, "-v"); at > 0 && isNumber(id[at+2:]) {
			id = id[:at]
		}
	case strings.HasPrefix(id, "gemini-"):
		if at := strings.Index(id, "-preview"); at > 0 && !strings.ContainsFunc(id[at+len("-preview"):], isLetter) {
			id = id[:at]
		}
		id = strings.TrimSuffix(id, "-001")
	}
	return withoutDate(id)
}

// regions returns the regions that Bedrock puts before an ID.
func regions() []string {
	return []string{"us", "eu", "apac", "jp", "au", "ca", "us-gov", "global"}
}

// makers returns the makers that clouds put before an ID.
func makers() []string {
	return []string{"anthropic", "openai", "google", "deepseek", "mistral", "meta", "amazon", "xai", "qwen", "moonshot", "moonshotai", "minimax", "zai", "nvidia", "cohere", "writer", "ai21"}
}

// withoutDate cuts a date from the end: -2025-08-07, -20250807.
func withoutDate(id string) string {
	parts := strings.Split(id, "-")
	n := len(parts)
	switch {
	case n > 3 && len(parts[n-3]) == 4 && len(parts[n-2]) == 2 && len(parts[n-1]) == 2 && isNumber(parts[n-3]+parts[n-2]+parts[n-1]):
		parts = parts[:n-3]
	case n > 1 && len(parts[n-1]) == 8 && isNumber(parts[n-1]):
		parts = parts[:n-1]
	}
	return strings.Join(parts, "-")
}

func isNumber(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' }

// regional reports whether an ID names a model of Bedrock outside its global routing, which costs a tenth more since
// Claude 4.5.
func regional(id, name string) bool {
	id = strings.ToLower(id)
	if !strings.Contains(id, "anthropic.claude-") || strings.HasPrefix(id, "global.") {
		return false
	}
	return !slices.Contains([]string{"claude-opus-4", "claude-opus-4-1", "claude-sonnet-4"}, name) && !strings.HasPrefix(name, "claude-3")
}
