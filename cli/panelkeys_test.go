package cli

import (
	"slices"
	"testing"
	"time"

	"jcode/tools/builtin"
	"jcode/tools/command"
)

// The footer of a panel names only keys that do something for the row under the cursor.
func TestFootersNameOnlyKeysThatDoSomething(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		row      command.Row
		has, not []string
	}{
		"a job that runs":  {jobRow(builtin.Job{Started: time.Now()}, ""), []string{"look at it", "end it"}, nil},
		"a job that ended": {jobRow(builtin.Job{Started: time.Now(), Ended: time.Now()}, ""), []string{"look at it"}, []string{"end it"}},
	} {
		for _, key := range tc.has {
			if !slices.Contains(tc.row.Keys, key) {
				t.Errorf("%s: no key for %q: %q", name, key, tc.row.Keys)
			}
		}
		for _, key := range tc.not {
			if tc.row.Keys == nil || slices.Contains(tc.row.Keys, key) {
				t.Errorf("%s: a key for %q: %q", name, key, tc.row.Keys)
			}
		}
	}
}
