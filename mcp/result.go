package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"jcode/internal/picture"
	"jcode/internal/rawjson"
	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/tools"
)

// bytesPerToken is the estimate behind prices and caps.
const bytesPerToken = 4

// converter turns a raw `tools/call` result into what the model reads.
type converter struct {
	// save keeps bytes in a file and returns its path; nil or an error leaves only a note.
	save func(mime string, data []byte) (string, error)
	// saveText is save for a text, which it does not copy; nil leaves only a note.
	saveText func(whole string) (string, error)
	// blind saves images to files like other bytes instead of passing them on as parts.
	blind bool
	// maxTokens caps the text; 0 means the default.
	maxTokens int
}

// converted is a result in jcode's terms.
type converted struct {
	text string
	// script is the text for scripts: other content appears as `[image]` and the like.
	script     string
	parts      []tools.Part
	structured json.RawMessage
	isError    bool
	// content is the raw content list.
	content json.RawMessage
}

// convert reads a raw result. It never fails: content that can't be read becomes a note.
func (c converter) convert(raw json.RawMessage) converted {
	var out converted
	fields := rawjson.Members(raw)
	if fields == nil {
		if rawjson.Null(raw) {
			return converted{text: noContent}
		}
		all := fmt.Sprintf("[the server's result is %s, not an object]\n%s", rawjson.Kind(raw), rawjson.Text(raw))
		return converted{text: c.cap(all), script: all}
	}
	out.isError = rawjson.Bool(fields["isError"])
	out.content = fields["content"]
	if s := fields["structuredContent"]; !rawjson.Null(s) {
		out.structured = s
	}
	var lines, script []string
	hasText := false
	for _, item := range contentItems(fields["content"]) {
		piece := c.item(item)
		hasText = hasText || piece.isText
		lines = append(lines, piece.text)
		script = append(script, piece.script)
		if piece.part != nil {
			out.parts = append(out.parts, *piece.part)
		}
	}
	if !hasText && out.structured != nil {
		lines = append(lines, string(out.structured))
	}
	out.script = strings.Join(script, "\n")
	out.text = c.cap(strings.Join(lines, "\n"))
	if out.text == "" {
		out.text = noContent
	}
	return out
}

const noContent = "(no content)"

// contentItems returns the items of a content list; a lone string or object is treated as a list of one.
func contentItems(raw json.RawMessage) []json.RawMessage {
	if rawjson.Null(raw) {
		return nil
	}
	if list, ok := rawjson.Items(raw); ok {
		return list
	}
	return []json.RawMessage{raw}
}

type contentPiece struct {
	text   string
	script string
	isText bool
	part   *tools.Part
}

func note(format string, args ...any) contentPiece {
	s := "[" + fmt.Sprintf(format, args...) + "]"
	return contentPiece{text: s, script: s}
}

func (c converter) item(raw json.RawMessage) contentPiece {
	if rawjson.Kind(raw) == "a string" {
		s := text.Valid(rawjson.String(raw))
		return contentPiece{text: s, script: s, isText: true}
	}
	f := rawjson.Members(raw)
	if f == nil {
		return note("unreadable content: %s", rawjson.Kind(raw))
	}
	switch kind := rawjson.String(f["type"]); kind {
	case "text":
		if rawjson.Kind(f["text"]) != "a string" {
			return note("unreadable text content: text is %s", rawjson.Kind(f["text"]))
		}
		s := text.Valid(rawjson.LongString(f["text"]))
		return contentPiece{text: s, script: s, isText: true}
	case "image", "audio":
		p := c.blob(kind, rawjson.String(f["mimeType"]), f["data"])
		p.script = "[" + kind + "]"
		return p
	case "resource_link":
		return linkPiece(f)
	case "resource":
		return c.resource(f["resource"])
	case "":
		return note("content without a type")
	default:
		return note("content of unknown type %q", text.Ellipsis(text.Valid(kind), 60))
	}
}

func linkPiece(f map[string]json.RawMessage) contentPiece {
	uri, name := text.Valid(rawjson.String(f["uri"])), text.Valid(rawjson.String(f["name"]))
	p := note("resource link: %s", strings.TrimSpace(uri+" "+name))
	p.script = "[resource_link: " + uri + "]"
	return p
}

func (c converter) resource(raw json.RawMessage) contentPiece {
	f := rawjson.Members(raw)
	if f == nil {
		return note("unreadable resource: %s", rawjson.Kind(raw))
	}
	uri := text.Valid(rawjson.String(f["uri"]))
	if rawjson.Kind(f["text"]) == "a string" {
		return contentPiece{text: text.Valid(rawjson.String(f["text"])), script: "[resource]", isText: true}
	}
	p := c.blob("resource "+uri, rawjson.String(f["mimeType"]), f["blob"])
	p.part = nil
	p.script = "[resource]"
	return p
}

// blob decodes base64. An image becomes a part, anything else a file with a note.
func (c converter) blob(kind, mime string, raw json.RawMessage) contentPiece {
	data, err := base64.StdEncoding.DecodeString(strings.Map(dropSpace, rawjson.String(raw)))
	if err != nil || len(data) == 0 {
		return note("%s %s: its data is not valid base64", kind, mime)
	}
	label := fmt.Sprintf("%s %s, %s", kind, mime, sizeText(len(data)))
	var p contentPiece
	if kind == "image" && !c.blind {
		is, err := picture.Check(data)
		if err == nil {
			p = note("%s", label)
			data, _ = picture.Fit(data, is)
			p.part = &tools.Part{MIME: is, Data: data}
			return p
		}
		label += ", not shown: " + err.Error()
	}
	if c.save == nil {
		return note("%s", label)
	}
	path, err := c.save(mime, data)
	if err != nil {
		return note("%s; not saved: %v", label, err)
	}
	return note("%s, saved as %s", label, path)
}

func dropSpace(r rune) rune {
	if r == '\n' || r == '\r' || r == ' ' {
		return -1
	}
	return r
}

func sizeText(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// cap keeps head and tail of a text that is over the limit and saves the whole to a file.
func (c converter) cap(whole string) string {
	limit := c.maxTokens
	if limit <= 0 {
		limit = config.DefaultMaxResultTokens
	}
	limit *= bytesPerToken
	if len(whole) <= limit {
		return whole
	}
	where := "the rest was not kept"
	if c.saveText != nil {
		if path, err := c.saveText(whole); err == nil {
			where = "the whole is in " + path
		}
	}
	out, _ := text.HeadTail(whole, limit, func(gap, _ int) string {
		return fmt.Sprintf("\n[… %s of %s left out; %s …]\n", sizeText(gap), sizeText(len(whole)), where)
	})
	return out
}
