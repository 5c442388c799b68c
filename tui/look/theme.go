package look

import (
	"maps"
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"jcode/internal/cells"
	"jcode/tui/markdown"
)

// Theme holds all styles. Styles without a colour stay readable with NO_COLOR.
type Theme struct {
	Name string

	Text, Faint, Strong, Accent cells.Style
	// Person is for what the person wrote, Border for rules and boxes.
	Person, Border        cells.Style
	Good, Warn, Bad, Info cells.Style
	// Selected is the chosen row of a list, Match a search hit in it, Mark a selection in the text.
	Selected, Match, Mark cells.Style
	// Added and Removed are the lines of a diff, AddedWord and RemovedWord what differs in them.
	Added, Removed, AddedWord, RemovedWord cells.Style
	// Untinted says that changed lines have no background: their text has one colour.
	Untinted bool
	// Mode holds a style for each approval mode that needs attention.
	ModePlan, ModeYolo cells.Style
	Markdown           markdown.Styles
}

// palette holds the colours of a theme; empty colours mean the terminal's own.
type palette struct {
	faint, accent, person, border, good, warn, bad, info              string
	selectedBG, matchFG                                               string
	coarseBG                                                          string // of a chosen row where there are 256 colours
	coarseAdd, coarseRemove                                           string // of changed rows there; "" = their text is coloured
	addBG, removeBG, addWordBG, removeWordBG                          string
	keyword, typ, function, str, number, comment, constant, attribute string
}

// palettes are the colours of the builtin themes: text in the fixed part of the 256-colour palette, which
// takes half the bytes of an RGB colour, backgrounds in shades that the palette lacks. The table is never
// written.
var palettes = map[string]palette{
	"dark": {
		faint: "248", accent: "111", person: "189", border: "240", good: "150", warn: "179", bad: "210", info: "117",
		selectedBG: "#2a3045", matchFG: "179", coarseBG: "236",
		addBG: "#12261e", removeBG: "#2d1517", addWordBG: "#1c4428", removeWordBG: "#54222a",
		keyword: "183", typ: "80", function: "111", str: "150", number: "215", comment: "146", constant: "215", attribute: "179",
	},
	"light": {
		faint: "240", accent: "25", person: "235", border: "249", good: "22", warn: "94", bad: "124", info: "24",
		selectedBG: "#dbe6fb", matchFG: "94", coarseBG: "195", coarseAdd: "194", coarseRemove: "224",
		addBG: "#e6f4ea", removeBG: "#fce8e6", addWordBG: "#c4ead0", removeWordBG: "#f9d2d0",
		keyword: "90", typ: "23", function: "25", str: "22", number: "58", comment: "240", constant: "58", attribute: "58",
	},
	"high-contrast": {
		faint: "252", accent: "51", person: "231", border: "231", good: "46", warn: "226", bad: "210", info: "51",
		selectedBG: "#0000a0", matchFG: "226",
		addBG: "#002400", removeBG: "#400000", addWordBG: "#004800", removeWordBG: "#780000",
		keyword: "219", typ: "51", function: "123", str: "46", number: "221", comment: "252", constant: "221", attribute: "226",
	},
	// ansi16 uses only the sixteen colours that a person has set in the terminal.
	"ansi16": {
		faint: "8", accent: "12", person: "", border: "8", good: "2", warn: "3", bad: "1", info: "6",
		selectedBG: "4", matchFG: "3",
		keyword: "5", typ: "6", function: "4", str: "2", number: "3", comment: "8", constant: "3", attribute: "3",
	},
}

// ThemeNames lists the themes that /theme offers.
func ThemeNames() []string { return append([]string{"auto"}, slices.Sorted(maps.Keys(palettes))...) }

// NewTheme returns a theme by name; "auto", "" and unknown names follow the background.
func NewTheme(name string, darkBackground bool) *Theme {
	name, p := builtin(name, darkBackground)
	t := p.theme()
	t.Name = name
	return t
}

// builtin finds the colours of NewTheme, and the name of the theme that has them.
func builtin(name string, darkBackground bool) (known string, p palette) {
	p, ok := palettes[name]
	if !ok {
		name = "dark"
		if !darkBackground {
			name = "light"
		}
		p = palettes[name]
	}
	return name, p
}

// coarse returns the colours for a terminal that has 256. There is no dim green and red among them, and the nearest to a
// dim blue is a strong one: on a dark background the text of changed rows is green or red, a word that differs is
// underlined, and a chosen row gets another colour.
func (p palette) coarse() palette {
	p.addWordBG, p.removeWordBG = "", ""
	p.addBG, p.removeBG = p.coarseAdd, p.coarseRemove
	if p.coarseBG != "" {
		p.selectedBG = p.coarseBG
	}
	return p
}

func (p palette) theme() *Theme {
	const bold, faint, italic, underline, reverse, strike = cells.Style("1"), cells.Style("2"), cells.Style("3"), cells.Style("4"), cells.Style("7"), cells.Style("9")
	dim := fg(p.faint)
	accent := fg(p.accent)
	t := &Theme{
		Faint: dim, Strong: bold, Accent: accent,
		Person: bold.With(fg(p.person)), Border: fg(p.border),
		Good: fg(p.good), Warn: fg(p.warn), Bad: fg(p.bad), Info: fg(p.info),
		// Bold and reverse work without colours.
		Selected: bold.With(bg(p.selectedBG)), Match: bold.With(underline).With(fg(p.matchFG)), Mark: reverse,
		Added: diffStyle(p.addBG, p.good), Removed: diffStyle(p.removeBG, p.bad),
		AddedWord: bold.With(underlineUnless(p.addWordBG)), RemovedWord: bold.With(underlineUnless(p.removeWordBG)),
		Untinted: p.addBG == "" || p.removeBG == "",
		ModePlan: bold.With(fg(p.info)), ModeYolo: bold.With(fg(p.bad)),
	}
	t.Markdown = markdown.Styles{
		Strong: bold, Emphasis: italic, Strike: strike, Code: fg(p.constant), Link: underline.With(accent), URL: dim,
		Heading: [6]cells.Style{bold.With(underline).With(accent), bold.With(accent), bold.With(accent), bold, bold, bold},
		Marker:  accent, Quote: dim.With(italic), Border: fg(p.border), HTML: dim, TableHead: bold,
		Syntax: markdown.Syntax{
			Keyword: fg(p.keyword), Type: fg(p.typ), Function: fg(p.function), String: fg(p.str), Number: fg(p.number),
			Comment: italic.With(fg(p.comment)), Constant: fg(p.constant), Attribute: fg(p.attribute),
			Inserted: fg(p.good), Deleted: fg(p.bad), Meta: fg(p.info),
		},
	}
	if p.faint == "8" { // some terminals show bright black as the background
		t.Faint = faint
	}
	return t
}

// diffStyle marks a line by its background, or by its text if there is no background.
func diffStyle(back, front string) cells.Style {
	if back == "" {
		return fg(front)
	}
	return bg(back)
}

func underlineUnless(back string) cells.Style {
	if back == "" {
		return "4"
	}
	return bg(back)
}

func fg(c string) cells.Style { return sgr(c, ansi.Style.ForegroundColor) }

func bg(c string) cells.Style { return sgr(c, ansi.Style.BackgroundColor) }

// sgr returns the parameters that set a colour ("#rrggbb" or an index of the palette).
func sgr(c string, set func(ansi.Style, ansi.Color) ansi.Style) cells.Style {
	if c == "" {
		return ""
	}
	s := set(nil, lipgloss.Color(c)).String()
	return cells.Style(s[2 : len(s)-1]) // without ESC [ and m
}
