// Package htmltext turns HTML pages into text that a model reads: Markdown, or words alone.
//
// It fetches nothing and must not know where a page comes from.
package htmltext

import (
	"bytes"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	basic "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// Markdown converts a UTF-8 page to Markdown, with its title as a heading. base makes its
// addresses absolute; "" leaves them unchanged.
func Markdown(body []byte, base string) (string, error) {
	conv := converter.NewConverter(converter.WithPlugins(basic.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	out, err := conv.ConvertString(string(body), converter.WithDomain(base))
	if err != nil {
		return "", err
	}
	if title := titleOf(body); title != "" && !strings.Contains(out, "# "+title) {
		out = "# " + title + "\n\n" + out
	}
	return out, nil
}

// titleOf returns a page's title in one line.
func titleOf(body []byte) string {
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			name, _ := z.TagName()
			if string(name) == "title" && z.Next() == html.TextToken {
				return strings.Join(strings.Fields(string(z.Text())), " ")
			}
			if string(name) == "body" {
				return ""
			}
		}
	}
}

// Plain returns the words of a UTF-8 page, with a line for each block.
func Plain(body []byte) string {
	var b strings.Builder
	z := html.NewTokenizer(bytes.NewReader(body))
	skip := ""
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return collapse(b.String())
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			switch name {
			case "script", "style", "noscript", "template", "svg":
				if kind == html.StartTagToken && skip == "" {
					skip = name
				} else if kind == html.EndTagToken && skip == name {
					skip = ""
				}
			case "a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "u", "abbr", "label", "img":
			default:
				b.WriteByte('\n')
			}
		case html.TextToken:
			if skip == "" {
				b.Write(z.Text())
			}
		}
	}
}

// collapse removes empty lines and runs of spaces.
func collapse(s string) string {
	var out []string
	for line := range strings.Lines(html.UnescapeString(s)) {
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return strings.Join(out, "\n")
}
