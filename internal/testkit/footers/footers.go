// Package footers checks the keys that the footer of a panel names for a row.
package footers

import (
	"slices"
	"testing"
)

// Row are the keys of a row, and which of them there must and must not be.
type Row struct{ Keys, Has, Not []string }

// Check checks rows by what they show. A row without a list of keys has every key of its panel, so it hides none.
func Check(t *testing.T, rows map[string]Row) {
	t.Helper()
	for name, row := range rows {
		for _, key := range row.Has {
			if !slices.Contains(row.Keys, key) {
				t.Errorf("%s: no key for %q: %q", name, key, row.Keys)
			}
		}
		for _, key := range row.Not {
			if row.Keys == nil || slices.Contains(row.Keys, key) {
				t.Errorf("%s: a key for %q: %q", name, key, row.Keys)
			}
		}
	}
}
