package endpoint

import (
	"slices"
	"strings"
)

// effortLevels returns the names of reasoning efforts, from none to the highest.
func effortLevels() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// effortsIn finds in a refusal, in lower case, which reasoning efforts a model knows; nil when it does not
// say.
func effortsIn(said string) []string {
	if !strings.Contains(said, "effort") {
		return nil
	}
	for _, before := range []string{"supported levels", "supported values", "one of", "must be", "should be"} {
		if _, list, ok := strings.Cut(said, before); ok {
			return levelsIn(list)
		}
	}
	return nil
}

// levelsIn finds the names of efforts in a list in prose.
func levelsIn(s string) (out []string) {
	if end := strings.IndexAny(s, "\n{}"); end >= 0 {
		s = s[:end]
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
	for _, level := range effortLevels() {
		if slices.Contains(words, level) {
			out = append(out, level)
		}
	}
	return out
}

// NearestEffort returns the known level nearest to the wanted one, the lower of two; the wanted one if none
// is known.
func NearestEffort(known []string, want string) string {
	levels := effortLevels()
	at := slices.Index(levels, want)
	if len(known) == 0 || at < 0 || slices.Contains(known, want) {
		return want
	}
	for d := 1; d < len(levels); d++ {
		for _, i := range []int{at - d, at + d} {
			if i >= 0 && i < len(levels) && slices.Contains(known, levels[i]) {
				return levels[i]
			}
		}
	}
	return want
}
