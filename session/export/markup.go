package export

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Prose returns a model's Markdown as HTML. HTML in it is shown as text, pictures become links, and a link that leads
// neither to the web nor to a mailbox loses its target. Nothing in it has a style or script of its own.
func Prose(source string) string {
	cells := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
	md := goldmark.New(
		goldmark.WithExtensions(cells, extension.Strikethrough, extension.TaskList),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(safeNodes{}, 100))),
	)
	var b bytes.Buffer
	if err := md.Convert([]byte(source), &b); err != nil {
		return "<p class=\"plain\">" + html.EscapeString(source) + "</p>\n"
	}
	return b.String()
}

// safeNodes draws the nodes that must not be drawn as goldmark does.
type safeNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (safeNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, drawCode)
	r.Register(ast.KindCodeBlock, drawCode)
	r.Register(ast.KindHTMLBlock, drawHTMLBlock)
	r.Register(ast.KindRawHTML, drawRawHTML)
	r.Register(ast.KindImage, drawImage)
	r.Register(ast.KindLink, drawLink)
	r.Register(ast.KindAutoLink, drawAutoLink)
}

// target returns the attribute of a link, "" for one that leads neither to the web nor to a mailbox.
func target(to string) string {
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if len(to) > len(scheme) && strings.EqualFold(to[:len(scheme)], scheme) {
			return " href=\"" + html.EscapeString(to) + "\" rel=\"noopener noreferrer\""
		}
	}
	return ""
}

func drawLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch l, ok := n.(*ast.Link); {
	case ok && entering:
		_, _ = w.WriteString("<a" + target(string(l.Destination)) + ">") // kept by the writer
	case ok:
		_, _ = w.WriteString("</a>") // as above
	}
	return ast.WalkContinue, nil
}

func drawAutoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if l, ok := n.(*ast.AutoLink); ok && entering {
		to := string(l.URL(source))
		if l.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
			to = "mailto:" + to
		}
		_, _ = w.WriteString("<a" + target(to) + ">" + html.EscapeString(string(l.Label(source))) + "</a>") // kept by the writer
	}
	return ast.WalkSkipChildren, nil
}

func drawCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	lang := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		lang = string(f.Language(source))
	}
	codeBlock(w, lang, strings.TrimRight(lines(source, n), "\n"))
	return ast.WalkSkipChildren, nil
}

func drawHTMLBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		text := lines(source, n)
		if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
			text += string(h.ClosureLine.Value(source))
		}
		_, _ = w.WriteString("<p class=\"plain\">" + html.EscapeString(strings.TrimRight(text, "\n")) + "</p>\n") // kept by the writer
	}
	return ast.WalkSkipChildren, nil
}

func drawRawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if raw, ok := n.(*ast.RawHTML); ok && entering {
		for i := range raw.Segments.Len() {
			at := raw.Segments.At(i)
			_, _ = w.WriteString(html.EscapeString(string(at.Value(source)))) // kept by the writer
		}
	}
	return ast.WalkSkipChildren, nil
}

// drawImage writes a link in place of a picture, because the page loads nothing.
func drawImage(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	image, ok := n.(*ast.Image)
	if !ok {
		return ast.WalkContinue, nil
	}
	if !entering {
		_, _ = w.WriteString("</a>") // kept by the writer
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<a" + target(string(image.Destination)) + ">image: ") // kept by the writer
	return ast.WalkContinue, nil
}

func lines(source []byte, n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		b.Write(at.Value(source))
	}
	return b.String()
}
