package shellcli

import (
	"testing"
	"time"

	"jcode/internal/testkit/footers"
	"jcode/tools/builtin"
)

// The footer of a panel names only keys that do something for the row under the cursor.
func TestFootersNameOnlyKeysThatDoSomething(t *testing.T) {
	t.Parallel()
	footers.Check(t, map[string]footers.Row{
		"a job that runs":  {Keys: jobRow(builtin.Job{Started: time.Now()}, "").Keys, Has: []string{"look at it", "end it"}},
		"a job that ended": {Keys: jobRow(builtin.Job{Started: time.Now(), Ended: time.Now()}, "").Keys, Has: []string{"look at it"}, Not: []string{"end it"}},
	})
}
