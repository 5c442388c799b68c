package hooks_test

import (
	"encoding/json"
	"os"
	"testing"

	"jcode/hooks"
	"jcode/internal/testkit/collections"
)

// TestPublicHooksAreRead reads the hooks of each settings file of the collections.
func TestPublicHooksAreRead(t *testing.T) {
	t.Parallel()
	files, count := collections.Files(t, "hooks", ".json", 30), 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var settings struct{ Hooks json.RawMessage }
		if err := json.Unmarshal(data, &settings); err != nil || settings.Hooks == nil {
			t.Logf("%s holds no hooks: %v", path, err)
			continue
		}
		list, problems := hooks.Parse(settings.Hooks, "settings.json")
		if len(problems) > 0 || len(list) == 0 {
			t.Errorf("%s: %d hooks, %q", path, len(list), problems)
		}
		count += len(list)
	}
	t.Logf("%d hooks of %d files", count, len(files))
}
