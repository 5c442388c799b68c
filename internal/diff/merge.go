package diff

import (
	"cmp"
	"slices"

	"github.com/aymanbagabas/go-udiff"
)

// Merge applies the changes from base to ours and from base to theirs to one text. It returns
// false if both changed the same lines, or inserted at the same place.
func Merge(base, ours, theirs string) (merged string, ok bool) {
	if len(base)+max(len(ours), len(theirs)) > maxCompare {
		return "", false
	}
	type change struct {
		udiff.Edit
		ours bool
	}
	var all []change
	for _, e := range udiff.Lines(base, ours) {
		all = append(all, change{e, true})
	}
	for _, e := range udiff.Lines(base, theirs) {
		all = append(all, change{e, false})
	}
	slices.SortStableFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	var edits []udiff.Edit
	for i, c := range all {
		if i > 0 && all[i-1].Edit == c.Edit {
			continue // both made it
		}
		for _, before := range all[:i] {
			inserts := before.Start == before.End || c.Start == c.End
			if before.ours != c.ours && before.Edit != c.Edit && (before.End > c.Start || inserts && before.End == c.Start) {
				return "", false
			}
		}
		edits = append(edits, c.Edit)
	}
	merged, err := udiff.Apply(base, edits)
	return merged, err == nil
}
