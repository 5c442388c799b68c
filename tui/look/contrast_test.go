package look

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// coarsely returns the colour that a terminal with 256 colours shows instead.
func coarsely(c string) string {
	r, g, b, _ := colorprofile.ANSI256.Convert(lipgloss.Color(c)).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// Every colour of text is readable on every background that it is drawn on: that of the terminal, the chosen
// row of a list, and the rows and words of a diff, which contain highlighted code.
func TestEveryColourIsReadableWhereItIsUsed(t *testing.T) {
	t.Parallel()
	grounds := map[string][]string{"dark": {"#000000", "#1e1e1e"}, "light": {"#ffffff", "#fafafa"}, "high-contrast": {"#000000"}}
	texts := map[string]string{"dark": "#d0d0d0", "light": "#303030", "high-contrast": "#ffffff"}
	for name, p := range palettes {
		if grounds[name] == nil {
			continue // its colours are those that a person has set
		}
		code := map[string]string{
			"text": texts[name], "keyword": p.keyword, "type": p.typ, "function": p.function, "string": p.str, "number": p.number,
			"comment": p.comment, "constant": p.constant, "attribute": p.attribute, "good": p.good, "bad": p.bad, "info": p.info, "faint": p.faint,
		}
		rest := map[string]string{"accent": p.accent, "person": p.person, "warn": p.warn, "match": p.matchFG}
		var faults []string
		check := func(where, back string, fronts map[string]string) {
			for what, front := range fronts {
				if c := contrast(front, back); c < 4.5 {
					faults = append(faults, fmt.Sprintf("%s on %s %s: %.2f", what, where, back, c))
				}
			}
		}
		for _, ground := range grounds[name] {
			check("the terminal's", ground, code)
			check("the terminal's", ground, rest)
		}
		for _, back := range []string{p.selectedBG, coarsely(p.coarse().selectedBG)} {
			check("a chosen row", back, code)
			check("a chosen row", back, rest)
		}
		few := p.coarse()
		for where, back := range map[string]string{"an added row in 256 colours": few.addBG, "a removed row in 256 colours": few.removeBG} {
			if back != "" { // words have no background of their own there
				check(where, coarsely(back), code)
			}
		}
		if name != "high-contrast" && contrast(p.faint, grounds[name][1]) < 3 {
			faults = append(faults, "what is faint can hardly be seen")
		}
		if c := contrast(p.border, grounds[name][len(grounds[name])-1]); c < 1.5 {
			faults = append(faults, fmt.Sprintf("a rule can hardly be seen: %.2f", c))
		}
		for where, back := range map[string]string{"an added row": p.addBG, "a removed row": p.removeBG, "an added word": p.addWordBG, "a removed word": p.removeWordBG} {
			check(where, back, code)
		}
		if faults != nil {
			t.Errorf("%s:\n%s", name, strings.Join(faults, "\n"))
		}
	}
}

// With 256 colours too, added rows are visibly green and removed ones red: by their background, or else by their text.
func TestChangedRowsAreGreenAndRedIn256Colours(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dark", "light", "high-contrast"} {
		p := palettes[name].coarse()
		added, removed := p.addBG, p.removeBG
		if added == "" || removed == "" {
			added, removed = p.good, p.bad
		}
		const hue = 0x18
		if r, g, b := channels(coarsely(added)); g < r+hue || g < b+hue {
			t.Errorf("%s: added rows are %s", name, coarsely(added))
		}
		if r, g, b := channels(coarsely(removed)); r < g+hue || r < b+hue {
			t.Errorf("%s: removed rows are %s", name, coarsely(removed))
		}
	}
}

func channels(c string) (r, g, b int) {
	if _, err := fmt.Sscanf(c, "#%02x%02x%02x", &r, &g, &b); err != nil {
		panic(err)
	}
	return r, g, b
}
