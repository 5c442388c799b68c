package look

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonerr"
	"jcode/internal/paths"
	"jcode/internal/text"
)

// Themes are the builtin themes and those of a folder, by name.
type Themes struct {
	dir  string
	own  map[string]palette
	said map[string][]string // what is wrong with a file, by its name
	// Coarse says that the terminal has 256 colours. It has no dim green and red then: a word that differs is underlined.
	Coarse bool
}

// NewThemes returns the themes of a folder besides the builtin ones. It reads nothing: see Read.
func NewThemes(dir string) Themes { return Themes{dir: dir} }

// maxTheme bounds a theme's file.
const maxTheme = 64 << 10

// Read reads the folder's files again. What is wrong with one is said with its file and key; its other colours hold.
func (t *Themes) Read() (problems []string) {
	t.own, t.said = map[string]palette{}, map[string][]string{}
	files, err := filepath.Glob(filepath.Join(t.dir, "*.json"))
	if t.dir == "" || err != nil {
		return nil
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		shown := filepath.Join("themes", filepath.Base(file))
		p, said, ok := readThemeFile(file, name)
		if ok {
			t.own[name] = p
		}
		for _, s := range said {
			t.said[name] = append(t.said[name], shown+": "+s)
		}
		problems = append(problems, t.said[name]...)
	}
	return problems
}

// Problems returns what is wrong with the file of each theme, also of those that can't be used.
func (t Themes) Problems() map[string][]string { return t.said }

func readThemeFile(file, name string) (p palette, problems []string, ok bool) {
	if _, taken := palettes[name]; taken || name == "auto" {
		return p, []string{name + " is the name of a builtin theme: rename the file"}, false
	}
	data, err := paths.ReadFile(file, maxTheme)
	if err != nil {
		return p, []string{err.Error()}, false
	}
	return readTheme(data)
}

// Names lists the themes that /theme offers.
func (t Themes) Names() []string { return append(ThemeNames(), slices.Sorted(maps.Keys(t.own))...) }

// Own reports whether a theme is one of the folder's.
func (t Themes) Own(name string) bool { _, own := t.own[name]; return own }

// New returns a theme by name; "auto", "" and unknown names follow the background.
func (t Themes) New(name string, darkBackground bool) *Theme {
	p, own := t.own[name]
	if !own {
		name, p = builtin(name, darkBackground)
	}
	if t.Coarse {
		p = p.coarse()
	}
	out := p.theme()
	out.Name = name
	return out
}

// colours lists the colours of a palette by the names that they have in a file.
func (p *palette) colours() map[string]*string {
	return map[string]*string{
		"faint": &p.faint, "accent": &p.accent, "person": &p.person, "border": &p.border, "good": &p.good, "warn": &p.warn, "bad": &p.bad, "info": &p.info,
		"selected_background": &p.selectedBG, "match": &p.matchFG,
		"added_background": &p.addBG, "removed_background": &p.removeBG, "added_word_background": &p.addWordBG, "removed_word_background": &p.removeWordBG,
		"keyword": &p.keyword, "type": &p.typ, "function": &p.function, "string": &p.str, "number": &p.number, "comment": &p.comment, "constant": &p.constant, "attribute": &p.attribute,
	}
}

// readTheme reads a theme's file: `{"base": "dark", "colors": {"accent": "#88c0d0", "comment": 146}}`.
func readTheme(data []byte) (p palette, problems []string, ok bool) {
	plain, err := hujson.Standardize(data)
	if err != nil {
		return p, []string{"it cannot be read: " + err.Error()}, false
	}
	var file struct {
		Base   string                     `json:"base"`
		Colors map[string]json.RawMessage `json:"colors"`
	}
	if err := json.Unmarshal(plain, &file); err != nil {
		return p, []string{`it must be an object with "base" and "colors": ` + jsonerr.Plain(err).Error()}, false
	}
	if file.Base == "" {
		file.Base = "dark"
	}
	base, known := palettes[file.Base]
	if !known {
		return p, []string{fmt.Sprintf("base: must be one of %s, not %q", strings.Join(ThemeNames()[1:], ", "), file.Base)}, false
	}
	p = base
	all := p.colours()
	for _, key := range slices.Sorted(maps.Keys(file.Colors)) {
		into := all[key]
		if into == nil {
			hint := "there are " + strings.Join(slices.Sorted(maps.Keys(all)), ", ")
			if near := text.Nearest(key, slices.Collect(maps.Keys(all))); near != "" {
				hint = "did you mean " + near + "?"
			}
			problems = append(problems, "colors."+key+": is not known; "+hint)
			continue
		}
		colour, good := colourOf(file.Colors[key])
		if !good {
			problems = append(problems, fmt.Sprintf(`colors.%s: must be "#rrggbb" or a number from 0 to 255, not %s`, key, text.Cut(string(file.Colors[key]), 40)))
			continue
		}
		*into = colour
		switch key {
		case "selected_background":
			p.coarseBG = ""
		case "added_background":
			p.coarseAdd = colour
		case "removed_background":
			p.coarseRemove = colour
		}
	}
	return p, append(problems, p.unreadable(file.Base)...), true
}

// colourOf reads a colour: "#rrggbb", or an index of the terminal's palette.
func colourOf(raw json.RawMessage) (colour string, ok bool) {
	var n int
	if json.Unmarshal(raw, &n) == nil {
		return strconv.Itoa(n), n >= 0 && n <= 255
	}
	var s string
	if json.Unmarshal(raw, &s) != nil || len(s) != 7 || s[0] != '#' {
		return "", false
	}
	_, err := strconv.ParseUint(s[1:], 16, 32)
	return s, err == nil
}

// readable is the least contrast of text.
const readable = 4.5

// unreadable names what can hardly be read: a colour of text on the background of a terminal, or of a row.
func (p palette) unreadable(base string) (out []string) {
	ground := map[string]string{"dark": "#1e1e1e", "light": "#fafafa", "high-contrast": "#000000"}[base]
	if ground == "" {
		return nil // the colours are those that a person has set in the terminal
	}
	check := func(back, where string, names ...string) {
		all := p.colours()
		for _, name := range names {
			if front := *all[name]; front != "" && back != "" && contrast(front, back) < readable {
				out = append(out, fmt.Sprintf("colors.%s: %s on %s has a contrast of %.1f: choose a colour further from it, at least %.1f", name, front, where, contrast(front, back), readable))
			}
		}
	}
	code := []string{"faint", "good", "bad", "info", "keyword", "type", "function", "string", "number", "comment", "constant", "attribute"}
	check(ground, "a "+map[bool]string{true: "light", false: "dark"}[base == "light"]+" background", append([]string{"accent", "person", "warn", "match"}, code...)...)
	check(p.selectedBG, "selected_background", append([]string{"accent", "warn", "match"}, code...)...)
	check(p.addBG, "added_background", code...)
	check(p.removeBG, "removed_background", code...)
	return out
}
