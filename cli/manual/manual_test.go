package manual_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"jcode/cli/manual"
)

func pages(t *testing.T) manual.Manual {
	t.Helper()
	m, err := manual.Read(fstest.MapFS{
		"README.md": {Data: []byte("# The manual\n\n[Undo](undo.md)\n")},
		"undo.md":   {Data: []byte("# Take it back\n\n![picture](x.svg)\n<!-- generated -->\nSee [rules](rules.md#top), [the web](https://x.org) and [undo](undo.md).\n\n## What is kept\n\nContents.\n\n```sh\n## no heading\n```\n\n### Smaller\n\nBelow it.\n\n## After\n\nMore.\n")},
		"rules.md":  {Data: []byte("# Rules\n\n## What is kept\n\nGrants in the database.\n\n## Sandbox\n\nThe kernel confines commands.\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAPlaceIsFoundByItsName(t *testing.T) {
	t.Parallel()
	m := pages(t)
	for topic, want := range map[string]string{"undo": "# Take it back", "TAKE it-back": "# Take it back", "readme": "# The manual", "after": "## After", "smaller": "### Smaller"} {
		if got, ok := m.Named(topic); !ok || !strings.HasPrefix(got, want+"\n") {
			t.Errorf("%s: %q", topic, got)
		}
	}
	both, _ := m.Named("what is kept")
	for _, want := range []string{"Contents.", "## no heading", "Below it.", "page `undo`", "Grants in the database.", "page `rules`"} {
		if !strings.Contains(both, want) {
			t.Errorf("%q is missing:\n%s", want, both)
		}
	}
	for _, not := range []string{"More.", "The kernel"} {
		if strings.Contains(both, not) {
			t.Errorf("%q belongs to another section:\n%s", not, both)
		}
	}
	if got, ok := m.Named("no heading"); ok {
		t.Errorf("a line of an example was taken for a heading: %q", got)
	}
}

func TestAPageIsReadWithoutPicturesCommentsAndAddresses(t *testing.T) {
	t.Parallel()
	got, _ := pages(t).Named("undo")
	if want := "See rules, [the web](https://x.org) and undo.\n"; !strings.Contains(got, want) || strings.Contains(got, "x.svg") || strings.Contains(got, "generated") {
		t.Errorf("%s", got)
	}
}

func TestWordsFindASection(t *testing.T) {
	t.Parallel()
	found := pages(t).Search("what confines a command?", 3)
	if len(found) == 0 || found[0].Page != "rules" || !strings.HasSuffix(found[0].Heading, "Sandbox") || found[0].Excerpt != "The kernel confines commands." {
		t.Errorf("%+v", found)
	}
	if none := pages(t).Search("xyzzy", 3); len(none) != 0 {
		t.Errorf("%+v", none)
	}
}
