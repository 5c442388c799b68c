// Package export owns a session as a document for people and programs: Markdown, JSON, or
// one self-contained HTML page.
//
// It must not know where the document goes, and it runs nothing of what it shows: the
// words of models and tools are data.
package export

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/atomicfile"
	"jcode/session"
)

// maxNesting bounds how deep sub-agents' sessions are followed.
const maxNesting = 4

// Document is a session with everything that an export shows of it.
type Document struct {
	Session  session.Session
	Messages []session.Message
	// Tasks are the sessions of sub-agents that worked for this one, oldest first.
	Tasks []Document
}

// Load reads a session with its sub-agents' sessions.
func Load(ctx context.Context, from *session.Store, id string) (Document, error) {
	v, err := from.Get(ctx, id)
	if err != nil {
		return Document{}, err
	}
	return load(ctx, from, v, maxNesting)
}

func load(ctx context.Context, from *session.Store, v session.Session, depth int) (Document, error) {
	d := Document{Session: v}
	var err error
	if d.Messages, err = from.History().All(ctx, v.ID); err != nil {
		return Document{}, err
	}
	if depth == 0 {
		return d, nil
	}
	tasks, err := from.List(ctx, session.Filter{All: true, Kind: session.KindTask, ParentID: v.ID, Archived: true})
	if err != nil {
		return Document{}, err
	}
	for _, t := range slices.Backward(tasks) {
		child, err := load(ctx, from, t, depth-1)
		if err != nil {
			return Document{}, err
		}
		d.Tasks = append(d.Tasks, child)
	}
	return d, nil
}

// Format is a form of export.
type Format string

// The forms.
const (
	Markdown Format = "md"
	JSON     Format = "json"
	HTML     Format = "html"
)

// FormatOf returns the form for a file name's extension; no extension means Markdown.
func FormatOf(path string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case "", ".md", ".markdown":
		return Markdown, nil
	case ".json":
		return JSON, nil
	case ".html", ".htm":
		return HTML, nil
	default:
		return "", fmt.Errorf("export to %s: unknown extension %s: use .md, .json or .html", path, ext)
	}
}

// Render returns a document in a form.
func Render(f Format, d Document) (string, error) {
	switch f {
	case Markdown:
		return markdownPage(d), nil
	case JSON:
		return jsonPage(d)
	case HTML:
		return htmlPage(d), nil
	}
	return "", fmt.Errorf("export: unknown form %q: use md, json or html", f)
}

// markWithin is the number of bytes at the start of a file that tell whether it is an export.
const markWithin = 2 << 10

// exported reports whether a file begins as one of the forms does.
func exported(head string) bool {
	return strings.Contains(head, "\n- Session: ") || strings.Contains(head, `name="generator" content="jcode"`) ||
		strings.HasPrefix(head, "{\n  \"version\": ") && strings.Contains(head, `"session": {`)
}

// WriteFile writes a document in a form to a file, and creates its folder. A new file is
// readable only by its owner. An earlier export is replaced; for any other file WriteFile
// returns an error.
func WriteFile(path string, f Format, d Document) error {
	page, err := Render(f, d)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && len(old) > 0 && !exported(string(old[:min(len(old), markWithin)])) {
		return fmt.Errorf("%s already exists and is not an exported session: choose another name", path)
	}
	return atomicfile.Write(path, []byte(page), atomicfile.Options{Perm: 0o600})
}
