package web

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"golang.org/x/net/html/charset"

	"jcode/internal/htmltext"
	"jcode/internal/picture"
	"jcode/internal/text"
	"jcode/tools"
)

// result returns the tool's result for a response.
func (p page) result(format string) (tools.Result, error) {
	kind := p.mediaType()
	if p.code >= 400 {
		said, _ := p.text(kind, "text")
		said, _ = text.CutMark(strings.TrimSpace(said), maxFetchError, "…")
		msg := fmt.Sprintf("the server answered %s", p.status)
		if said != "" {
			msg += ":\n" + said
		}
		return tools.Result{}, tools.Errorf(tools.KindIO, "%s", msg)
	}
	if strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" && !p.cut {
		line := fmt.Sprintf("%s, %d bytes", kind, len(p.body))
		kind, err := picture.Check(p.body)
		if err != nil {
			return tools.Result{}, tools.Errorf(tools.KindIO, "the answer (%s) can't be shown: %w", line, err)
		}
		data, smaller := picture.Fit(p.body, kind)
		if smaller {
			line += fmt.Sprintf(", made smaller to %d pixels", picture.MaxSide)
		}
		return tools.Result{Text: line, Parts: []tools.Part{{MIME: kind, Data: data}}, Display: tools.Display{Summary: line}}, nil
	}
	if !readable(kind) {
		return tools.Result{}, tools.Errorf(tools.KindIO, "the answer is %s, not text (%d bytes): fetch a page about it, or download it with exec", kind, len(p.body))
	}
	out, err := p.text(kind, format)
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.KindIO, "read page: %w", err)
	}
	whole := len(out)
	out, cut := text.CutMark(out, maxFetchText, "")
	if cut || p.cut {
		out += fmt.Sprintf("\n[… cut: %d of %s bytes are shown …]", len(out), atLeast(whole, p.cut))
	}
	if strings.TrimSpace(out) == "" {
		out = "(the page contains no text)"
	}
	data := map[string]any{"url": p.url.String(), "status": p.code, "content_type": kind, "content": out, "truncated": cut || p.cut}
	return tools.Result{
		Text: fmt.Sprintf("%s (%s)\n\n%s", p.url, kind, out), Data: data,
		Display: tools.Display{Summary: fmt.Sprintf("%s, %d bytes", kind, whole)},
	}, nil
}

func atLeast(n int, more bool) string {
	if more {
		return fmt.Sprintf("more than %d", n)
	}
	return fmt.Sprint(n)
}

// mediaType returns the type of the body, by its content if the server doesn't say.
func (p page) mediaType() string {
	kind, _, err := mime.ParseMediaType(p.kind)
	if err != nil || kind == "" || kind == "application/octet-stream" {
		kind, _, err = mime.ParseMediaType(http.DetectContentType(p.body))
		if err != nil {
			return "application/octet-stream"
		}
	}
	return kind
}

// readable reports whether a type is some form of text.
func readable(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml", "application/x-yaml",
		"application/toml", "application/x-sh", "application/sql", "application/graphql", "application/x-ndjson", "application/jsonl", "application/rtf", "image/svg+xml", "message/rfc822":
		return true
	}
	return false
}

// text returns the body as clean text in a format.
func (p page) text(kind, format string) (string, error) {
	r, err := charset.NewReader(bytes.NewReader(p.body), p.kind)
	if err != nil {
		r = bytes.NewReader(p.body) // unknown encoding: invalid bytes are marked below
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	plain := string(body)
	if kind == "text/html" || kind == "application/xhtml+xml" {
		switch format {
		case "html":
		case "text":
			plain = htmltext.Plain(body)
		default:
			if plain, err = htmltext.Markdown(body, p.url.String()); err != nil {
				return "", err
			}
		}
	}
	return text.Clean(strings.TrimPrefix(plain, "\uFEFF")), nil
}
