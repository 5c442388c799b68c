package look

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func themeFile(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file is a theme: its colours over those of its base, with comments as in the settings. What is wrong is said with
// file and key, and what can hardly be read is named.
func TestFilesAreThemes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	themeFile(t, dir, "nord.json", `{
  // cold
  "base": "dark",
  "colors": {"accent": "#88c0d0", "comment": 146,},
}`)
	themeFile(t, dir, "bad.json", `{"colors": {"acent": "#88c0d0", "accent": "blue", "faint": "#303030", "number": 300}}`)
	themeFile(t, dir, "dark.json", `{}`)
	themeFile(t, dir, "broken.json", `{"colors": `)
	themeFile(t, dir, "base.json", `{"base": "solarized"}`)
	themes := NewThemes(dir)
	said := strings.Join(themes.Read(), "\n")
	for _, want := range []string{
		"bad.json: colors.acent: is not known; did you mean accent?", `bad.json: colors.accent: must be "#rrggbb" or a number from 0 to 255, not "blue"`,
		"bad.json: colors.number: must be", "bad.json: colors.faint: #303030 on a dark background has a contrast of 1.3",
		"dark.json: dark is the name of a builtin theme", "broken.json: it cannot be read", "base.json: base: must be one of",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "nord") {
		t.Errorf("a good theme is blamed:\n%s", said)
	}
	if names := themes.Names(); !slices.Contains(names, "nord") || !slices.Contains(names, "bad") || slices.Contains(names, "broken") {
		t.Errorf("themes: %v", names)
	}
	if got, dark := themes.New("nord", true), NewTheme("dark", true); got.Accent == dark.Accent || got.Good != dark.Good {
		t.Errorf("accent %q, good %q", got.Accent, got.Good)
	}
}
