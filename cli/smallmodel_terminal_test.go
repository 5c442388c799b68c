//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// The setting small_model names who is asked for titles and drafts of notes; jcode usage names it apart.
func TestSmallModelOfTheSettingsIsAskedForTitlesAndDrafts(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Tests run with make check."), modeltest.Text(`[{"text": "Tests run with make check.", "topic": "tests"}]`))
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(`{"small_model": "little"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.say("how do tests run?")
	c.wait("Tests run with make check.")
	c.titled("A title")
	c.say("/memory learn")
	c.wait("1 draft:")
	for _, r := range c.srv.Requests() {
		want := "little"
		if len(r.Tools) > 0 {
			want = "test-model"
		}
		if r.Model != want {
			t.Errorf("%s was asked: %.200s", r.Model, r.Raw)
		}
	}
	c.quit()
	out, err := c.command("jcode", "usage", "--by", "model").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "little") || !strings.Contains(string(out), "test-model") {
		t.Errorf("%v %s", err, out)
	}
}
