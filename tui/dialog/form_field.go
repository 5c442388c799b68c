package dialog

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/look"
)

// formField is one field of a form, with what the person did to it.
type formField struct {
	spec    tools.FormField
	Label   string
	options []string // the options as shown; yes and no of a boolean
	input   field    // of text and numbers
	chosen  int      // option of a choice or boolean; -1 = none
	marked  []bool   // options of several choices
	at      int      // option under the cursor, of several choices
	Touched bool     // the person changed it
	problem string
}

func newFormField(spec tools.FormField) *formField {
	c := &formField{spec: spec, Label: look.OneLine(text.Clean(spec.Label())), input: NewField(), chosen: -1}
	for i := range spec.Options {
		c.options = append(c.options, look.OneLine(text.Clean(spec.OptionLabel(i))))
	}
	if spec.Kind == tools.FieldBoolean {
		c.options = []string{"yes", "no"}
	}
	c.marked = make([]bool, len(c.options))
	switch v := spec.Default.(type) {
	case bool:
		c.chosen = map[bool]int{true: 0, false: 1}[v]
	case string, float64, []string:
		if c.options == nil {
			c.input.Paste(text.Clean(spec.Text(v)))
		}
	}
	c.begin()
	return c
}

// begin sets the options that the default names.
func (c *formField) begin() {
	for i, o := range c.spec.Options {
		switch v := c.spec.Default.(type) {
		case string:
			if v == o {
				c.chosen = i
			}
		case []string:
			c.marked[i] = slices.Contains(v, o)
		}
	}
}

// value returns the field's value, nil if it has none.
func (c *formField) value() (any, error) {
	if c.options == nil {
		return c.spec.Parse(c.input.Editor.Text())
	}
	var v any
	switch c.spec.Kind {
	case tools.FieldBoolean:
		if c.chosen >= 0 {
			v = c.chosen == 0
		}
	case tools.FieldChoice:
		if c.chosen >= 0 {
			v = c.spec.Options[c.chosen]
		}
	case tools.FieldChoices:
		list := []string{}
		for i, on := range c.marked {
			if on {
				list = append(list, c.spec.Options[i])
			}
		}
		if len(list) > 0 || !c.optional() {
			v = list
		}
	case tools.FieldText, tools.FieldNumber, tools.FieldInteger: // have no options
	}
	return v, c.spec.Check(v)
}

// Check records what is wrong with the field and reports whether it is valid.
func (c *formField) Check() bool {
	c.problem = ""
	if _, err := c.value(); err != nil {
		c.problem = err.Error()
	}
	return c.problem == ""
}

// optional reports whether no choice is allowed. A field with a default always has a value.
func (c *formField) optional() bool { return !c.spec.Required && c.spec.Default == nil }

func (c *formField) paste(s string) {
	if c.options == nil {
		c.Touched, c.problem = true, ""
		c.input.Paste(s)
	}
}

func (c *formField) key(k tea.KeyPressMsg, act look.Action) {
	c.Touched, c.problem = true, ""
	n := len(c.options)
	switch {
	case c.options == nil:
		c.input.key(k, act)
	case c.spec.Kind == tools.FieldChoices:
		switch {
		case act == look.Left:
			c.at = (c.at + n - 1) % n
		case act == look.Right:
			c.at = (c.at + 1) % n
		case k.Text == " ":
			c.marked[c.at] = !c.marked[c.at]
		default:
			c.at = c.begins(k, c.at)
		}
	case act == look.Right, k.Text == " ":
		c.turn(1)
	case act == look.Left:
		c.turn(-1)
	case act == look.DeleteBack, act == look.Delete:
		if c.optional() {
			c.chosen = -1
		}
	default:
		c.chosen = c.begins(k, c.chosen)
	}
}

// turn moves to the next option. An optional field has no choice between its last and its first option.
func (c *formField) turn(by int) {
	n := len(c.options)
	if !c.optional() {
		if c.chosen < 0 && by < 0 {
			c.chosen = 0
		}
		c.chosen = (c.chosen + by + n) % n
		return
	}
	c.chosen = (c.chosen+1+by+n+1)%(n+1) - 1
}

// begins returns the next option that begins with the letter typed, or from.
func (c *formField) begins(k tea.KeyPressMsg, from int) int {
	want := letter(k)
	for i := range c.options {
		at := (max(from, -1) + 1 + i) % len(c.options)
		if first := []rune(c.options[at]); want != 0 && len(first) > 0 && unicode.ToLower(first[0]) == want {
			return at
		}
	}
	return from
}

// draw returns the lines of the field; x is the position of the cursor in them, nil if none is shown. With
// focus it says what is expected.
func (c *formField) draw(l *look.Look, width, labels int, focus bool) (lines []string, x *Pos) {
	mark, style := "   ", cells.Style("")
	if focus {
		mark, style = " › ", l.Theme.Selected
	}
	need := " "
	if c.spec.Required {
		need = "*"
	}
	label := cells.Fit(c.Label, labels-2)
	left := []cells.Span{
		{Text: mark, Style: style},
		{Text: label, Style: style},
		{Text: need, Style: l.Theme.Warn},
		{Text: cells.Blank(labels - 1 - cells.Width(label))},
	}
	indent := cells.Width(mark) + labels
	room := max(width-indent, 1)
	switch {
	case c.options == nil:
		line, col := c.input.draw(l, "", room)
		if c.spec.Secret {
			col = min(len([]rune(c.input.Editor.Text())), room-1)
			line = strings.Repeat("•", col)
		}
		if !focus && c.input.Editor.Text() == "" {
			line = cells.Paint(l.Theme.Faint, "—")
		}
		lines = append(lines, cells.Render(left)+line)
		if focus {
			x = &Pos{0, indent + col}
		}
	case c.spec.Kind == tools.FieldChoices:
		for i, spans := range c.several(l, room, focus) {
			before := cells.Render(left)
			if i > 0 {
				before = cells.Blank(indent)
			}
			lines = append(lines, before+cells.Render(spans))
		}
	default:
		lines = append(lines, cells.Render(look.Clip(append(left, c.one(l)...), width)))
	}
	return append(lines, c.notes(l, width, indent, focus)...), x
}

// one draws the chosen option of a choice.
func (c *formField) one(l *look.Look) []cells.Span {
	shown := "—"
	if c.chosen >= 0 {
		shown = c.options[c.chosen]
	}
	spans := []cells.Span{{Text: "‹ ", Style: l.Theme.Border}, {Text: shown, Style: l.Theme.Strong}, {Text: " ›", Style: l.Theme.Border}}
	if c.spec.Kind == tools.FieldChoice && c.chosen >= 0 {
		spans = append(spans, cells.Span{Text: "  " + strconv.Itoa(c.chosen+1) + " of " + strconv.Itoa(len(c.options)), Style: l.Theme.Faint})
	}
	return spans
}

// several draws all options with their marks, over as many lines as they need.
func (c *formField) several(l *look.Look, room int, focus bool) [][]cells.Span {
	var out [][]cells.Span
	var line []cells.Span
	used := 0
	for i, o := range c.options {
		box := "[ ] "
		if c.marked[i] {
			box = "[x] "
		}
		var style cells.Style
		if focus && i == c.at {
			style = l.Theme.Selected
		}
		part := cells.Span{Text: cells.Fit(box+o, room), Style: style}
		w := cells.Width(part.Text)
		if used > 0 && used+2+w > room {
			out, line, used = append(out, line), nil, 0
		}
		if used > 0 {
			line, used = append(line, cells.Span{Text: "  "}), used+2
		}
		line, used = append(line, part), used+w
	}
	return append(out, line)
}

// notes say what is wrong and, for the field with the cursor, what it is for.
func (c *formField) notes(l *look.Look, width, indent int, focus bool) []string {
	var out []string
	if width-indent < 20 {
		indent = 3
	}
	add := func(s string, style cells.Style) {
		for _, spans := range cells.Wrap([]cells.Span{{Text: s, Style: style}}, max(look.Prose(width-indent-1), 1)) {
			out = append(out, cells.Blank(indent)+cells.Render(spans))
		}
	}
	if c.problem != "" {
		add("✗ "+text.Clean(c.problem), l.Theme.Bad)
	}
	if !focus {
		return out
	}
	if d := look.OneLine(text.Clean(c.spec.Description)); d != "" {
		add(d, l.Theme.Faint)
	}
	hint := c.spec.Hint()
	switch {
	case c.optional():
		hint = strings.TrimPrefix(hint+"; may be left out", "; ")
	case c.options == nil && c.spec.Default != nil && c.input.Editor.Text() == "":
		hint = strings.TrimPrefix(hint+"; empty stands for "+look.OneLine(text.Clean(c.spec.Text(c.spec.Default))), "; ")
	}
	if c.problem == "" && hint != "" {
		add(hint, l.Theme.Faint)
	}
	return out
}
