package pdftext

import "strings"

// painter executes the content of a page and collects its text.
type painter struct {
	file  *file
	fonts map[any]*font
	out   layout
	state
	stack   []state
	spoken  []bool // for each open marked content whether it has replaced text
	hushed  int    // how many of them have
	forms   int    // depth of forms
	pending string // replaced text that has no place yet
}

// operatorCost is the cost of an operator or operand of a page, in bytes.
const operatorCost = 10

// state is what q saves and Q restores.
type state struct {
	ctm, line, text         matrix
	font                    *font
	size, char, word, scale float64
	leading, rise           float64
}

// matrix is [a b c d e f] of the format.
type matrix [6]float64

func unit() matrix { return matrix{1, 0, 0, 1, 0, 0} }

// times applies m, then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func (p *painter) page(pg page) {
	p.state = state{ctm: unit(), line: unit(), text: unit(), scale: 1}
	var content []byte
	for _, v := range p.file.list(pg.dict["Contents"], nil) {
		if s, ok := p.file.get(v).(*stream); ok {
			content = append(append(content, p.file.decode(s)...), '\n')
		}
	}
	p.run(content, pg.inherited["Resources"])
	for _, v := range p.file.array(pg.dict["Annots"]) {
		p.annotation(p.file.dict(v))
	}
}

// annotation shows the text of a field or a note.
func (p *painter) annotation(d dict) {
	kind, _ := p.file.get(d["Subtype"]).(name)
	if kind != "Widget" && kind != "FreeText" {
		return
	}
	look := p.file.get(p.file.dict(d["AP"])["N"])
	if states, ok := look.(dict); ok {
		if now, ok := p.file.get(d["AS"]).(name); ok {
			look = p.file.get(states[now])
		}
	}
	s, ok := look.(*stream)
	rect := p.file.array(d["Rect"])
	if !ok || len(rect) < 4 {
		return
	}
	p.state = state{ctm: unit(), line: unit(), text: unit(), scale: 1}
	p.ctm[4], p.ctm[5] = p.file.number(rect[0], 0), p.file.number(rect[1], 0)
	p.form(s, nil)
}

// form executes a form: content within content.
func (p *painter) form(s *stream, resources any) {
	if p.forms >= 12 || p.file.get(s.dict["Subtype"]) == name("Image") {
		return
	}
	saved, stack := p.state, p.stack
	p.stack = nil
	p.forms++
	if m, ok := p.matrix(p.file.array(s.dict["Matrix"])); ok {
		p.ctm = m.times(p.ctm)
	}
	if r, has := s.dict["Resources"]; has {
		resources = r
	}
	p.run(p.file.decode(s), resources)
	p.forms--
	p.state, p.stack = saved, stack
}

func (p *painter) matrix(args []any) (m matrix, ok bool) {
	if len(args) < 6 {
		return m, false
	}
	for i := range m {
		m[i] = p.file.number(args[i], 0)
	}
	return m, true
}

func (p *painter) run(content []byte, resources any) {
	l := &lexer{b: content}
	r := p.file.dict(resources)
	var args []any
	for p.file.work.spend(operatorCost) {
		v, ok := l.next(0)
		if !ok {
			return
		}
		op, is := v.(operator)
		if !is {
			if args = append(args, v); len(args) > 1000 {
				args = args[:0]
			}
			continue
		}
		if op == "ID" {
			l.skipImage()
		} else {
			p.do(op, args, r)
		}
		args = args[:0]
	}
}

// skipImage skips the bytes of an inline picture.
func (l *lexer) skipImage() {
	for ; l.i+2 < len(l.b); l.i++ {
		if blank(l.b[l.i]) && l.b[l.i+1] == 'E' && l.b[l.i+2] == 'I' && (l.i+3 == len(l.b) || blank(l.b[l.i+3])) {
			break
		}
	}
	l.i = min(l.i+3, len(l.b))
}

// arg returns a number of the arguments, counted from their end: 1 is the last.
func (p *painter) arg(args []any, last int) float64 {
	if last > len(args) {
		return 0
	}
	return p.file.number(args[len(args)-last], 0)
}

func (p *painter) do(op operator, args []any, r dict) {
	if p.doText(op, args, r) {
		return
	}
	switch op {
	case "q":
		if len(p.stack) < 1000 {
			p.stack = append(p.stack, p.state)
		}
	case "Q":
		if n := len(p.stack); n > 0 {
			p.state, p.stack = p.stack[n-1], p.stack[:n-1]
		}
	case "cm":
		if m, ok := p.matrix(args); ok {
			p.ctm = m.times(p.ctm)
		}
	case "Do":
		if len(args) > 0 {
			key, _ := args[0].(name)
			if s, ok := p.file.get(p.file.dict(r["XObject"])[key]).(*stream); ok {
				p.form(s, any(r))
			}
		}
	case "BMC", "BDC":
		p.mark(args, r)
	case "EMC":
		if n := len(p.spoken); n > 0 {
			if p.spoken[n-1] {
				p.hushed--
				p.pending = ""
			}
			p.spoken = p.spoken[:n-1]
		}
	}
}

// mark opens marked content, which may say what its glyphs read as.
func (p *painter) mark(args []any, r dict) {
	said, has := "", false
	if len(args) > 1 {
		props := args[1]
		if key, ok := props.(name); ok {
			props = p.file.dict(r["Properties"])[key]
		}
		said, has = p.file.get(p.file.dict(props)["ActualText"]).(string)
	}
	if len(p.spoken) > 1000 {
		return
	}
	p.spoken = append(p.spoken, has)
	if has {
		p.hushed++
		p.pending = textString(said)
	}
}

// textString decodes a string of the document: UTF-16 or UTF-8 with a mark, else Latin.
func textString(s string) string {
	if rest, ok := strings.CutPrefix(s, "\xfe\xff"); ok {
		return utf16Text(rest)
	}
	if rest, ok := strings.CutPrefix(s, "\xef\xbb\xbf"); ok {
		return rest
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// doText executes a text operator; it returns false for other operators.
func (p *painter) doText(op operator, args []any, r dict) bool {
	switch op {
	case "BT":
		p.line, p.text = unit(), unit()
	case "Tf":
		if len(args) > 1 {
			key, _ := args[len(args)-2].(name)
			p.font, p.size = p.fontOf(p.file.dict(r["Font"])[key]), p.arg(args, 1)
		}
	case "Tc":
		p.char = p.arg(args, 1)
	case "Tw":
		p.word = p.arg(args, 1)
	case "Tz":
		p.scale = p.arg(args, 1) / 100
	case "TL":
		p.leading = p.arg(args, 1)
	case "Ts":
		p.rise = p.arg(args, 1)
	case "Td":
		p.move(p.arg(args, 2), p.arg(args, 1))
	case "TD":
		p.leading = -p.arg(args, 1)
		p.move(p.arg(args, 2), p.arg(args, 1))
	case "Tm":
		if m, ok := p.matrix(args); ok {
			p.line, p.text = m, m
		}
	case "T*":
		p.move(0, -p.leading)
	case "Tj", "'", "\"":
		if op == "\"" {
			p.word, p.char = p.arg(args, 3), p.arg(args, 2)
		}
		if op != "Tj" {
			p.move(0, -p.leading)
		}
		if len(args) > 0 {
			p.show(args[len(args)-1])
		}
	case "TJ":
		if len(args) > 0 {
			for _, v := range p.file.array(args[0]) {
				p.show(v)
			}
		}
	default:
		return false
	}
	return true
}

func (p *painter) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.times(p.line)
	p.text = p.line
}

func (p *painter) fontOf(v any) *font {
	var key any
	if r, ok := v.(ref); ok {
		key = r
	}
	if f, ok := p.fonts[key]; ok && key != nil {
		return f
	}
	f := p.file.readFont(v)
	if key != nil {
		p.fonts[key] = f
	}
	return f
}

// show shows a string, or moves by a number.
func (p *painter) show(v any) {
	if n, ok := v.(float64); ok {
		p.text = matrix{1, 0, 0, 1, -n / 1000 * p.size * p.scale, 0}.times(p.text)
		return
	}
	s, ok := v.(string)
	if !ok || p.font == nil {
		return
	}
	var glyphs []string
	ends := []float64{0} // of the glyphs, with the space behind each
	p.font.each(s, func(text string, width float64, blank bool) {
		x := ends[len(ends)-1] + width*p.size + p.char
		if blank {
			x += p.word
			if before := ends[len(ends)-1]; width > noGap && x-before < noGap*p.size {
				text = "" // it only moves the next character a little
			}
		}
		glyphs, ends = append(glyphs, text), append(ends, x)
	})
	from, start := p.place(), p.text
	at := func(x float64) matrix {
		p.text = matrix{1, 0, 0, 1, x * p.scale, 0}.times(start)
		return p.place()
	}
	to := at(ends[len(ends)-1])
	p.file.work.spend(len(s))
	switch {
	case p.hushed > 0:
		p.out.add(run{text: p.pending, from: from, to: to})
		p.pending = ""
	case len(glyphs) == 2 && p.char > wordGap*p.size:
		// Some programs write the gap between two words as space between two characters. Between more it spaces out a word.
		p.out.add(run{text: glyphs[0], from: from, to: at(ends[1] - p.char)})
		second := at(ends[1])
		p.out.add(run{text: glyphs[1], from: second, to: at(ends[2])})
	default:
		p.out.add(run{text: strings.Join(glyphs, ""), from: from, to: to})
	}
}

// place returns the position of the next glyph: the matrix of a text space of one unit.
func (p *painter) place() matrix {
	return matrix{p.size * p.scale, 0, 0, p.size, 0, p.rise}.times(p.text).times(p.ctm)
}
