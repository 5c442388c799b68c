//go:build linux || darwin

package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tui/front"
)

// A theme of a file shows while the cursor is on it in /theme, and Esc brings the one before back.
func TestAThemeOfAFileIsPreviewed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nord.json"), []byte(`{"colors": {"accent": "#88c0d0"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := still(t, 80, 24, func(o *front.Options) { o.Themes = dir })
	before := p.look.Theme.Name
	settleCmd(p, p.slashes.run("/theme"))
	press := func(name string) { settleCmd(p, p.route(namedKey(name))) }
	for range 10 {
		if p.look.Theme.Name == "nord" {
			break
		}
		press("down")
	}
	if p.look.Theme.Name != "nord" || p.look.Theme.Accent == "" {
		t.Fatalf("the theme shown is %s:\n%s", p.look.Theme.Name, p.frameText())
	}
	press("esc")
	if p.look.Theme.Name != before {
		t.Errorf("after esc the theme is %s, not %s", p.look.Theme.Name, before)
	}
	settleCmd(p, p.slashes.run("/theme"))
	for _, letter := range "nord" { // the search brings the cursor to it
		press(string(letter))
	}
	if p.look.Theme.Name != "nord" {
		t.Errorf("searched for, the theme shown is %s", p.look.Theme.Name)
	}
}

// The settings may name a theme of a file; one that is not there is said at the start.
func TestTheSettingsNameAThemeOfAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nord.json"), []byte(`{"base": "light"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := still(t, 80, 24, func(o *front.Options) { o.Themes, o.Theme = dir, "nord" })
	if p.look.Theme.Name != "nord" {
		t.Errorf("the theme is %s", p.look.Theme.Name)
	}
	r := run(t, 80, 24, func(o *front.Options) { o.Themes, o.Theme = dir, "gruvbox" }).ready()
	r.see("there is no theme gruvbox")
}

// What is wrong with a theme's file stands beside its row, also if it makes no theme, and not in the transcript.
func TestProblemsOfAThemeStandBesideItsRow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"nord": `{"colors": {"accent": "zzz"}}`, "torn": `{"colors": `, "dark": `{}`} {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := still(t, 80, 30, func(o *front.Options) { o.Themes = dir })
	settleCmd(p, p.slashes.run("/theme"))
	press := func(name string) { settleCmd(p, p.route(namedKey(name))) }
	if text := p.frameText(); !strings.Contains(text, `colors.accent: must be`) {
		t.Errorf("what is wrong is not in the row:\n%s", text)
	}
	seen := ""
	for range 10 {
		seen += p.frameText()
		press("down")
	}
	for _, want := range []string{"1 problem", `colors.accent: must be "#rrggbb"`, "torn", "can't be used", "it cannot be read", "dark is the name of a builtin theme"} {
		if !strings.Contains(seen, want) {
			t.Errorf("no %q in\n%s", want, p.frameText())
		}
	}
	press("esc")
	if text := p.frameText(); strings.Contains(text, "nord.json") {
		t.Errorf("it stays in the transcript:\n%s", text)
	}
}
