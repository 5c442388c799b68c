package slicex

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Map returns what f makes of each element of a list. It is never nil.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// OrEmpty returns a list that is encoded as [] when it is empty.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// WithPrefix returns the words that begin with a prefix.
func WithPrefix(words []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, prefix) })
}

// Differences compares two states of named things. The formats take a name: one line for each that is added or
// changed, in the order of the names, followed by one for each that is removed.
func Differences[V comparable](before, now map[string]V, added, changed, removed string) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, had := before[name]; !had {
			lines = append(lines, fmt.Sprintf(added, name))
		} else if was != now[name] {
			lines = append(lines, fmt.Sprintf(changed, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, has := now[name]; !has {
			lines = append(lines, fmt.Sprintf(removed, name))
		}
	}
	return lines
}
