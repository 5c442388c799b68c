package markdown

import (
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"jcode/internal/cells"
	"jcode/internal/text"
)

// inline returns the spans of a block's text.
func (r *renderer) inline(parent ast.Node, style cells.Style) []cells.Span {
	var out []cells.Span
	r.inlineInto(&out, parent, style, "")
	return out
}

func (r *renderer) inlineInto(out *[]cells.Span, parent ast.Node, style cells.Style, link string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		r.inlineNode(out, n, style, link)
	}
}

func (r *renderer) inlineNode(out *[]cells.Span, n ast.Node, style cells.Style, link string) {
	st := &r.opts.Styles
	add := func(text string, style cells.Style, link string) {
		switch span := (cells.Span{Text: text, Style: style, Link: link}); {
		case text == "":
		case link == "" && r.opts.Words != nil:
			*out = append(*out, r.opts.Words(span)...)
		default:
			*out = append(*out, span)
		}
	}
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(r.src)
		if !n.IsRaw() {
			value = unescape(value)
		}
		add(noTabs(string(value)), style, link)
		switch {
		case n.HardLineBreak():
			add("\n", style, link)
		case n.SoftLineBreak():
			add(softBreak(value, n.NextSibling(), r.src), style, link)
		}
	case *ast.String:
		add(noTabs(string(n.Value)), style, link)
	case *ast.CodeSpan:
		add(codeSpanText(n, r.src), style.With(st.Code), link)
	case *ast.Emphasis:
		if n.Level >= 2 {
			r.inlineInto(out, n, style.With(st.Strong), link)
		} else {
			r.inlineInto(out, n, style.With(st.Emphasis), link)
		}
	case *east.Strikethrough:
		r.inlineInto(out, n, style.With(st.Strike), link)
	case *ast.Link:
		r.link(out, n, string(n.Destination), style)
	case *ast.Image:
		add("image: ", style.With(st.URL), "")
		r.link(out, n, string(n.Destination), style)
	case *ast.AutoLink:
		add(string(n.Label(r.src)), style.With(st.Link), r.target(string(n.URL(r.src))))
	case *ast.RawHTML:
		add(noTabs(strings.ReplaceAll(string(n.Segments.Value(r.src)), "\n", " ")), style.With(st.HTML), link)
	case *east.TaskCheckBox:
		// The item's marker shows it.
	default:
		r.inlineInto(out, n, style, link)
	}
}

// link shows a link's text and, if it differs, its target: what a click opens is never hidden.
func (r *renderer) link(out *[]cells.Span, n ast.Node, dest string, style cells.Style) {
	target := r.target(dest)
	start := len(*out)
	r.inlineInto(out, n, style.With(r.opts.Styles.Link), target)
	shown := ""
	for _, s := range (*out)[start:] {
		shown += s.Text
	}
	dest = cleanURL(dest)
	switch {
	case dest == "" || shown == dest || "mailto:"+shown == dest:
	case shown == "":
		*out = append(*out, cells.Span{Text: dest, Style: style.With(r.opts.Styles.Link), Link: target})
	default:
		*out = append(*out, cells.Span{Text: " (" + dest + ")", Style: style.With(r.opts.Styles.URL), Link: target})
	}
}

// target returns what a click may open: only web, mail and file addresses.
func (r *renderer) target(dest string) string {
	if !r.opts.Hyperlinks {
		return ""
	}
	u, err := url.Parse(dest)
	if err != nil {
		return "" // an address that cannot be parsed is shown as text only
	}
	switch u.Scheme {
	case "http", "https", "mailto", "file":
		return cleanURL(u.String())
	}
	return ""
}

// cleanURL removes what must not be in an address on the screen.
func cleanURL(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x21 || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return -1
		}
		return c
	}, s)
}

// unescape resolves backslashes and entities.
func unescape(v []byte) []byte {
	for _, c := range v {
		if c == '\\' || c == '&' {
			return []byte(clean(text.Strip(html.UnescapeString(string(util.UnescapePunctuations(v))))))
		}
	}
	return v
}

func noTabs(s string) string { return strings.ReplaceAll(s, "\t", " ") }

// softBreak returns what replaces a line end in a paragraph: a space, or nothing between characters of
// scripts that are written without spaces.
func softBreak(before []byte, next ast.Node, src []byte) string {
	after, ok := next.(*ast.Text)
	if !ok || len(before) == 0 {
		return " "
	}
	last, _ := utf8.DecodeLastRune(before)
	first, _ := utf8.DecodeRune(after.Segment.Value(src))
	if unspaced(last) && unspaced(first) {
		return ""
	}
	return " "
}

// unspaced reports whether a character belongs to Chinese or Japanese.
func unspaced(c rune) bool {
	return c >= 0x2e80 && c <= 0x30ff || c >= 0x3400 && c <= 0x9fff || c >= 0xf900 && c <= 0xfaff ||
		c >= 0xff01 && c <= 0xff60 || c >= 0x20000 && c <= 0x3ffff
}

func codeSpanText(n *ast.CodeSpan, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(src))
		case *ast.String:
			b.Write(c.Value)
		}
	}
	return noTabs(strings.ReplaceAll(b.String(), "\n", " "))
}
