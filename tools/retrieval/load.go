package retrieval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	htmlcharset "golang.org/x/net/html/charset"

	"jcode/internal/charset"
	"jcode/internal/htmltext"
	"jcode/internal/passage"
	"jcode/internal/paths"
	"jcode/internal/pdftext"
	"jcode/internal/text"
)

// errBinary is the problem of a document that is no text.
var errBinary = errors.New("it is binary, not text")

// maxText is the largest size of a text file, in bytes; PDFs have a limit of their own.
const maxText = 32 << 20

// documentKind reports whether a file below a folder counts as a document by its name.
func documentKind(name string) bool {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".html", ".htm", ".xhtml", ".pdf":
		return true
	default:
		return passage.Known(ext)
	}
}

// loaded is a document that was read.
type loaded struct {
	hash     string
	title    string
	charset  string // its encoding unless that is UTF-8
	passages []passage.Passage
}

// loadFile reads a file. The error describes the problem for the person.
func loadFile(ctx context.Context, name string, info os.FileInfo) (loaded, error) {
	if !info.Mode().IsRegular() {
		return loaded{}, errors.New("it is not a regular file")
	}
	limit := int64(maxText)
	if isPDF(name) {
		limit = pdftext.MaxSize
	}
	if info.Size() > limit {
		return loaded{}, fmt.Errorf("it has %d MB, at most %d are read", (info.Size()+1<<20-1)>>20, limit>>20)
	}
	f, err := paths.Open(name)
	if err != nil {
		return loaded{}, plainError(err)
	}
	defer func() { _ = f.Close() }() // it was read only
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		return loaded{}, errors.New("it changed while it was read")
	}
	body, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return loaded{}, plainError(err)
	}
	return load(ctx, name, "", body)
}

// plainError removes the file's name from an error.
func plainError(err error) error {
	if in, ok := errors.AsType[*os.PathError](err); ok {
		return in.Err
	}
	return err
}

func isPDF(name string) bool { return strings.EqualFold(filepath.Ext(name), ".pdf") }

// load splits a document's bytes into passages. kind is its media type, "" to go by the name.
func load(ctx context.Context, name, kind string, body []byte) (loaded, error) {
	sum := sha256.Sum256(body)
	out := loaded{hash: hex.EncodeToString(sum[:])}
	if isPDF(name) || kind == "application/pdf" || bytes.HasPrefix(body, []byte("%PDF-")) {
		pages, err := pagesOf(ctx, body)
		if err != nil {
			return out, err
		}
		if out.passages = passage.Pages(pages); len(out.passages) == 0 {
			return out, errors.New("the PDF contains no text, only pictures of it")
		}
		return out, nil
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".xhtml":
		kind = "text/html"
	}
	isHTML := kind == "text/html" || kind == "application/xhtml+xml"
	plain, as := charset.Decode(body)
	switch {
	case as == charset.Binary:
		return out, errBinary
	case isHTML && as != charset.UTF8:
		// What the page says of itself is better than a guess. Without a word of it, the answer is windows-1252.
		if _, named, _ := htmlcharset.DetermineEncoding(body, kind); named != "windows-1252" && named != "utf-8" {
			if decoded, ok := charset.Named(body, named); ok {
				plain, as = decoded, named
			}
		}
	}
	if as != charset.UTF8 {
		out.charset = as
	}
	if isHTML {
		var err error
		if plain, err = htmltext.Markdown([]byte(plain), ""); err != nil {
			return out, fmt.Errorf("read HTML: %w", err)
		}
		name = "page.md"
	}
	plain = text.Clean(plain)
	out.passages = passage.Split(name, plain)
	for _, p := range out.passages {
		if p.Heading != "" && passage.Markdown(name) {
			out.title, _, _ = strings.Cut(p.Heading, " › ")
			break
		}
	}
	return out, nil
}

// pagesOf returns the text of each page of a PDF.
func pagesOf(ctx context.Context, body []byte) ([]string, error) {
	doc, err := pdftext.Open(ctx, bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, err
	}
	pages := make([]string, doc.Pages())
	for i := range pages {
		if pages[i], err = doc.Page(ctx, i+1); err != nil {
			return nil, fmt.Errorf("page %d: %w", i+1, err)
		}
	}
	return pages, nil
}
