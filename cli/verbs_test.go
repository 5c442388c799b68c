package cli

import (
	"slices"
	"strings"
	"testing"

	"jcode/internal/slicex"
	"jcode/tools/command"
)

// Each word that a list of the chat understands is completed, said to do something, and named by the error for a word
// that it does not know. What must follow it is asked for.
func TestTheVerbsOfListsAreInOneTable(t *testing.T) {
	a := appInNewFolder(t)
	verbs := 0
	for _, p := range chatPanels(a) {
		said := slicex.Map(p.Choices(t.Context(), ""), func(c command.Choice) string { return c.Value })
		_, unknown := p.Do(t.Context(), "no-such-verb")
		for i := range p.Verbs {
			v := &p.Verbs[i]
			verbs++
			if !slices.Contains(said, v.Name) || v.Help == "" || strings.HasSuffix(v.Help, ".") || (v.Run == nil) == (v.Edit == nil) {
				t.Errorf("/%s %s is not completed (%v), or its help is none: %q", p.Name, v.Name, said, v.Help)
			}
			if unknown == nil || !strings.Contains(unknown.Error(), v.Form()) {
				t.Errorf("/%s no-such-verb does not name %s: %v", p.Name, v.Form(), unknown)
			}
			if v.Hint == "" || strings.HasPrefix(v.Hint, "[") {
				continue
			}
			if _, err := p.Do(t.Context(), v.Name); err == nil || !strings.Contains(err.Error(), v.Ask+": /"+p.Name+" "+v.Form()) || v.Ask == "" {
				t.Errorf("/%s %s asks for nothing: %v", p.Name, v.Name, err)
			}
		}
		if len(p.Verbs) > 0 && p.Other.Name != "" {
			t.Errorf("/%s: other words than the verbs have a name", p.Name)
		}
	}
	for _, c := range chatCommands(a) {
		said := slicex.Map(c.Verbs.Choices(t.Context(), "", nil), func(c command.Choice) string { return c.Value })
		for i := range c.Verbs {
			verbs++
			if v := &c.Verbs[i]; !slices.Contains(said, v.Name) || v.Help == "" {
				t.Errorf("/%s %s is not completed (%v), or has no help", c.Name, v.Name, said)
			}
		}
	}
	if verbs < 60 {
		t.Errorf("%d verbs", verbs)
	}
}
