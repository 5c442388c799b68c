// Package markdown turns Markdown into terminal lines: parsing with goldmark, wrapping by cells, tables that
// fit or fold, code with colours, and streaming, where finished blocks are rendered once and only the open
// one repeatedly.
//
// It must not know who wrote the text or where the lines go. Text is data: escape sequences in it never reach
// a line.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"jcode/internal/cells"
	"jcode/internal/text"
)

// Styles holds the styles of the parts of a text. The zero value shows everything plain.
type Styles struct {
	Text, Strong, Emphasis, Strike, Code, Link, URL cells.Style
	// Heading holds the styles of levels 1 to 6.
	Heading [6]cells.Style
	// Marker is for bullets, numbers and task boxes; Quote for the text of quotes; Border for bars, rules and
	// the lines of tables; HTML for raw HTML.
	Marker, Quote, Border, HTML, TableHead cells.Style
	// Syntax colours code blocks.
	Syntax Syntax
}

// Options say how to render.
type Options struct {
	// Width is the width in cells; less than 1 means 1.
	Width int
	// Prose is the width of paragraphs, headings and lists: long lines are hard to read. Code and tables use the
	// whole width. 0 means Width.
	Prose  int
	Styles Styles
	// Hyperlinks makes links clickable with OSC 8.
	Hyperlinks bool
	// Words makes links of words of prose and of inline code. May be nil.
	Words func(cells.Span) []cells.Span
}

// Render returns the lines of a whole text.
func Render(src string, opts Options) []string {
	b := []byte(clean(text.Strip(src)))
	doc, _ := parse(newParser(), b)
	r := newRenderer(b, opts)
	r.blocks(doc)
	return r.lines
}

// clean removes carriage returns: lines end in LF here.
func clean(s string) string { return strings.ReplaceAll(s, "\r", "") }

// newParser returns a parser of GitHub's dialect. A parser keeps no state between texts, but creating one
// costs more than parsing a line, so each Stream holds its own.
func newParser() parser.Parser {
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
	p.AddOptions(
		parser.WithInlineParsers(
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	return p
}

// parse returns the tree of a text and whether the text defines link targets, which affect the rest of it.
func parse(p parser.Parser, src []byte) (doc ast.Node, refs bool) {
	ctx := parser.NewContext()
	doc = p.Parse(gmtext.NewReader(src), parser.WithContext(ctx))
	return doc, len(ctx.References()) > 0
}
