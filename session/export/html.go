package export

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"jcode/session"
)

//go:embed page.css
var pageStyle string

// pagePolicy forbids the page to load or run anything: what it needs is in it.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

func htmlPage(d Document) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="jcode">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<main>
`, pagePolicy, html.EscapeString(title(d)), pageStyle)
	htmlDocument(b, d, 1)
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.String()
}

func htmlDocument(b *strings.Builder, d Document, level int) {
	fmt.Fprintf(b, "<header>\n<h%[1]d>%[2]s</h%[1]d>\n<dl>\n", min(level, 6), html.EscapeString(title(d)))
	for _, f := range facts(d) {
		fmt.Fprintf(b, "<div><dt>%s</dt><dd>%s</dd></div>\n", f[0], html.EscapeString(f[1]))
	}
	b.WriteString("</dl>\n</header>\n")
	for _, it := range story(d) {
		htmlItem(b, it)
	}
	for _, t := range d.Tasks {
		fmt.Fprintf(b, "<details class=\"task\"><summary>Sub-agent: %s</summary>\n", html.EscapeString(title(t)))
		htmlDocument(b, t, level+1)
		b.WriteString("</details>\n")
	}
}

func htmlItem(b *strings.Builder, it item) {
	class := it.kind
	if it.archived {
		class += " archived"
	}
	fmt.Fprintf(b, "<article class=\"%s\">\n<p class=\"who\">%s", class, html.EscapeString(it.who))
	if !it.at.IsZero() {
		fmt.Fprintf(b, " <time datetime=\"%s\">%s</time>", it.at.UTC().Format("2006-01-02T15:04:05Z"), it.at.Format("15:04"))
	}
	b.WriteString("</p>\n")
	if it.reasoning != "" {
		fmt.Fprintf(b, "<details class=\"reasoning\"><summary>Reasoning</summary>\n<div>%s</div></details>\n", html.EscapeString(it.reasoning))
	}
	switch {
	case it.text == "":
	case it.kind == session.RoleAssistant || it.kind == session.RoleSummary:
		b.WriteString("<div class=\"text\">\n" + Prose(it.text) + "</div>\n")
	default:
		fmt.Fprintf(b, "<div class=\"text plain\">%s</div>\n", html.EscapeString(it.text))
	}
	htmlImages(b, it.images)
	for _, c := range it.calls {
		htmlCall(b, c)
	}
	b.WriteString("</article>\n")
}

func htmlCall(b *strings.Builder, c call) {
	fmt.Fprintf(b, "<details class=\"call %s\"><summary><b>%s</b>", html.EscapeString(string(c.status)), html.EscapeString(c.name))
	if c.about != "" {
		fmt.Fprintf(b, " <code>%s</code>", html.EscapeString(c.about))
	}
	fmt.Fprintf(b, " <i>%s", html.EscapeString(string(c.status)))
	if c.took != "" {
		b.WriteString(", " + c.took)
	}
	b.WriteString("</i></summary>\n")
	if c.arguments != "" && c.arguments != "{}" {
		codeBlock(b, "json", c.arguments)
	}
	if c.diff != "" {
		codeBlock(b, "diff", c.diff)
	}
	if c.result != "" {
		codeBlock(b, "", c.result)
	}
	htmlImages(b, c.images)
	b.WriteString("</details>\n")
}

// htmlImages embeds pictures of the kinds that browsers show without running anything.
func htmlImages(b *strings.Builder, parts []session.Part) {
	for _, p := range parts {
		if shown := Picture(p.MIME, p.Data); shown != "" {
			b.WriteString(shown)
			continue
		}
		fmt.Fprintf(b, "<p>%s</p>\n", html.EscapeString(imageNote(p)))
	}
}

// Style is the style sheet of a page with what this package draws.
func Style() string { return pageStyle }

// Code returns source as a block of HTML, coloured where its language is known; diff is one.
func Code(lang, source string) string {
	var b strings.Builder
	codeBlock(&b, lang, source)
	return b.String()
}

// Picture returns the HTML of a picture, "" for a kind that browsers may run something of.
func Picture(mime string, data []byte) string {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime) || len(data) == 0 {
		return ""
	}
	return fmt.Sprintf("<img alt=\"\" src=\"data:%s;base64,%s\">\n", mime, base64.StdEncoding.EncodeToString(data))
}

func codeBlock(b io.StringWriter, lang, source string) {
	var s strings.Builder
	s.WriteString("<pre><code")
	if lang != "" {
		s.WriteString(" class=\"language-" + html.EscapeString(lang) + "\"")
	}
	s.WriteString(">")
	colour(&s, lang, source)
	s.WriteString("</code></pre>\n")
	_, _ = b.WriteString(s.String()) // the writers here keep their first error
}
