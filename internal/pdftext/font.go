package pdftext

import (
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// font turns the strings of a page into text and widths.
type font struct {
	composite bool
	toUnicode *cmap
	codes     *cmap             // the sizes of a composite font's codes; nil means two bytes
	multi     encoding.Encoding // of a composite font in an encoding of East Asia
	ucs2      bool              // codes are UTF-16 themselves
	names     [256]string       // the text of a simple font's codes
	widths    map[uint32]float64
	width     float64 // of a code that widths does not have
	scale     float64 // of widths, to the unit of the text
}

// readFont reads a font; nil stands for one that is missing.
func (f *file) readFont(v any) *font {
	d := f.dict(v)
	out := &font{widths: map[uint32]float64{}, width: 500, scale: 0.001}
	if s, ok := f.get(d["ToUnicode"]).(*stream); ok {
		out.toUnicode = f.readCMap(s)
	}
	if f.get(d["Subtype"]) == name("Type0") {
		f.readComposite(out, d)
		return out
	}
	base, _ := f.get(d["BaseFont"]).(name)
	if strings.Contains(string(base), "Courier") {
		out.width = 600
	}
	info := f.dict(d["FontDescriptor"])
	out.width = f.number(info["MissingWidth"], out.width)
	first := f.number(d["FirstChar"], 0)
	for i, w := range f.array(d["Widths"]) {
		if code := int(first) + i; code >= 0 && code < 256 {
			out.widths[uint32(code)] = f.number(w, 0)
		}
	}
	if f.get(d["Subtype"]) == name("Type3") {
		if m := f.array(d["FontMatrix"]); len(m) == 6 {
			out.scale = f.number(m[0], out.scale)
		}
	}
	f.readEncoding(out, d, info)
	if d["Widths"] == nil {
		for code, text := range out.names {
			if w, ok := standardWidth(string(base), text); ok {
				out.widths[uint32(code)] = w
			}
		}
	}
	return out
}

func (f *file) readEncoding(out *font, d, info dict) {
	base, _ := f.get(d["Encoding"]).(name)
	enc := f.dict(d["Encoding"])
	if b, ok := f.get(enc["BaseEncoding"]).(name); ok {
		base = b
	}
	out.fill(base, f.get(d["Subtype"]) == name("TrueType"))
	if s, ok := f.get(info["FontFile"]).(*stream); ok && base == "" {
		f.builtIn(out, f.decode(s))
	}
	code := 0
	for _, v := range f.array(enc["Differences"]) {
		switch v := f.get(v).(type) {
		case float64:
			code = int(v)
		case name:
			if code >= 0 && code < 256 {
				out.names[code] = glyph(v)
			}
			code++
		}
	}
}

// standardHigh are the glyphs of StandardEncoding from code 161 on; a dot means none.
const standardHigh = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ.–†‡·.¶•‚„”»…‰.¿.`´ˆ˜¯˘˙¨.˚¸.˝˛ˇ—................Æ.ª....ŁØŒº.....æ...ı..łøœß"

// fill sets the texts of all codes from a base encoding.
func (out *font) fill(base name, trueType bool) {
	table := charmap.Windows1252
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for c := range 256 {
		if r := table.DecodeByte(byte(c)); c >= ' ' && r != 0xfffd {
			out.names[c] = string(r)
		}
	}
	if base != "" && base != "StandardEncoding" || trueType {
		return
	}
	out.names['\''], out.names['`'] = "’", "‘"
	for c := 127; c < 256; c++ {
		out.names[c] = ""
	}
	c := 161
	for _, r := range standardHigh {
		switch r {
		case '.':
		case 'ﬁ':
			out.names[c] = "fi"
		case 'ﬂ':
			out.names[c] = "fl"
		default:
			out.names[c] = string(r)
		}
		c++
	}
}

// builtIn reads the encoding in a Type 1 font program: lines such as "dup 65 /A put".
func (f *file) builtIn(out *font, program []byte) {
	head, _, _ := strings.Cut(string(program), "eexec")
	i := strings.Index(head, "/Encoding")
	if i < 0 {
		return
	}
	l := &lexer{b: []byte(head[i:])}
	for f.work.spend(1) {
		v, ok := l.next(0)
		if !ok || v == operator("def") || v == operator("readonly") {
			return
		}
		if v != operator("dup") {
			continue
		}
		code, _ := l.next(0)
		glyphName, _ := l.next(0)
		c, ok := index(code, 256)
		if n, is := glyphName.(name); ok && is {
			out.names[c] = glyph(n)
		}
	}
}

func (f *file) readComposite(out *font, d dict) {
	out.composite, out.width = true, 1000
	switch enc := f.get(d["Encoding"]).(type) {
	case name:
		out.named(string(enc))
	case *stream:
		out.codes = f.readCMap(enc)
	}
	list := f.array(d["DescendantFonts"])
	if len(list) == 0 {
		return
	}
	child := f.dict(list[0])
	out.width = f.number(child["DW"], 1000)
	w := f.array(child["W"])
	for i := 0; i+1 < len(w) && f.work.spend(1); {
		from := int(f.number(w[i], 0))
		if each := f.array(w[i+1]); each != nil {
			for k, v := range each {
				out.setWidth(from+k, f.number(v, 0))
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			break
		}
		for c, end := from, int(f.number(w[i+1], 0)); c <= min(end, 1<<16); c++ {
			out.setWidth(c, f.number(w[i+2], 0))
		}
		i += 3
	}
}

func (out *font) setWidth(code int, w float64) {
	if code >= 0 && code <= 1<<16 {
		out.widths[uint32(code)] = w
	}
}

// named sets a predefined encoding of a composite font.
func (out *font) named(enc string) {
	if strings.Contains(enc, "UCS2") || strings.Contains(enc, "UTF16") {
		out.ucs2 = true
		return
	}
	for _, e := range [][2]string{{"GBK2K", "gb18030"}, {"GB", "gbk"}, {"RKSJ", "shift_jis"}, {"B5", "big5"}, {"KSC", "euc-kr"}, {"EUC-", "euc-jp"}} {
		if strings.Contains(enc, e[0]) {
			out.multi, _ = charset.Lookup(e[1])
			return
		}
	}
}

// each walks over the codes of a string.
func (out *font) each(s string, yield func(text string, width float64, blank bool)) {
	for len(s) > 0 {
		n := min(out.size(s), len(s))
		code := codeOf(s[:n])
		w, ok := out.widths[code]
		if !ok {
			w = out.width
		}
		yield(out.text(s[:n], code), w*out.scale, n == 1 && code == ' ')
		s = s[n:]
	}
}

func (out *font) size(s string) int {
	switch {
	case !out.composite:
		return 1
	case out.codes != nil:
		if n := out.codes.size(s); n > 0 {
			return n
		}
	case out.multi != nil && s[0] < 0x80:
		return 1
	}
	return 2
}

func (out *font) text(raw string, code uint32) string {
	if out.toUnicode != nil {
		if s, ok := out.toUnicode.text(code); ok {
			return s
		}
	}
	switch {
	case !out.composite:
		return out.names[code&0xff]
	case out.ucs2:
		return utf16Text(raw)
	case out.multi != nil:
		if s, err := out.multi.NewDecoder().String(raw); err == nil {
			return s
		}
	}
	return "\ufffd"
}
