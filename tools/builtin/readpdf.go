package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"jcode/internal/pdftext"
	"jcode/internal/text"
	"jcode/tools"
)

const (
	pdfMIME      = "application/pdf"
	pdfPages     = 20  // pages of a PDF by default
	pdfMaxPages  = 100 // pages of a PDF at once
	pdfAttached  = 20 << 20
	pdfTime      = 20 * time.Second // to read a PDF, also a hostile one
	pdfTextBytes = readBytes
)

// readPDF reads pages of a PDF: the document for models that accept one, with its text for all
// others. is is false if the file is not a PDF, or if a script wants its bytes.
func (f *files) readPDF(ctx context.Context, call tools.Call, file io.ReaderAt, n int64, t target, a readArgs) (res tools.Result, is bool, err error) {
	head := make([]byte, 1<<10)
	got, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return res, false, ioError(err, t)
	}
	if !bytes.HasPrefix(head[:got], []byte("%PDF-")) {
		if a.Pages != "" {
			return res, true, tools.Errorf(tools.KindInvalidArgs, "%s is not a PDF: pages is for PDFs, use offset and limit", t.shown)
		}
		return res, false, nil
	}
	if call.Caller.Origin == tools.OriginScript && a.Pages == "" {
		return res, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pdfTime)
	defer cancel()
	doc, err := pdftext.Open(ctx, file, n)
	if err != nil {
		return res, true, pdfError(err, t, n)
	}
	p := pdfPart{doc: doc, t: t, size: n, whole: file}
	if err := p.choose(a.Pages); err != nil {
		return res, true, err
	}
	res, err = p.result(ctx, call)
	if err != nil {
		return res, true, pdfError(err, t, n)
	}
	if a.Offset != nil || a.Limit != nil {
		res = withNote(res, "offset and limit are for lines of text and were ignored: a PDF is read by pages")
	}
	return res, true, nil
}

// pdfError says why a PDF cannot be read, and what to try.
func pdfError(err error, t target, n int64) error {
	switch {
	case errors.Is(err, pdftext.ErrPassword):
		return tools.Errorf(tools.KindIO, "%s is encrypted with a password: ask for a copy without one, or decrypt it with exec (qpdf --decrypt --password=…)", t.shown)
	case errors.Is(err, pdftext.ErrTooBig):
		return tools.Errorf(tools.KindLimit, "%s is a PDF of %s, more than the %s that are read: split it with exec (qpdf, pdfseparate)", t.shown, size(n), size(pdftext.MaxSize))
	case errors.Is(err, pdftext.ErrLimit):
		return tools.Errorf(tools.KindLimit, "%s unpacks to more than is read of one page: use exec with a program that knows the format", t.shown)
	case errors.Is(err, pdftext.ErrNoPDF):
		return tools.Errorf(tools.KindIO, "%s begins as a PDF and is damaged: nothing in it can be read; try to repair it with exec (qpdf, mutool clean)", t.shown)
	case errors.Is(err, context.DeadlineExceeded):
		return tools.Errorf(tools.KindTimeout, "%s could not be read within %v: ask for fewer pages", t.shown, pdfTime)
	}
	return err
}

// pdfPart is some pages of a PDF.
type pdfPart struct {
	doc         *pdftext.Document
	t           target
	size        int64
	whole       io.ReaderAt
	first, last int
}

// choose selects the pages of an argument such as "3", "1-5" or "10-"; for "" the first ones.
func (p *pdfPart) choose(pages string) error {
	n := p.doc.Pages()
	if n == 0 {
		return tools.Errorf(tools.KindIO, "%s is a PDF without pages", p.t.shown)
	}
	p.first, p.last = 1, min(n, pdfPages)
	if pages = strings.TrimSpace(pages); pages == "" {
		return nil
	}
	from, to, isRange := strings.Cut(pages, "-")
	var err, err2 error
	p.first, err = strconv.Atoi(strings.TrimSpace(from))
	p.last = p.first
	if to = strings.TrimSpace(to); isRange && to != "" {
		p.last, err2 = strconv.Atoi(to)
	} else if isRange {
		p.last = min(n, p.first+pdfMaxPages-1)
	}
	switch {
	case err != nil || err2 != nil || p.first < 1 || p.last < p.first:
		return tools.Errorf(tools.KindInvalidArgs, "pages is %s: give one page or a range of pages from 1 on, such as \"3\" or \"1-5\"", text.Visible(pages))
	case p.first > n:
		return tools.Errorf(tools.KindInvalidArgs, "%s has %s: there is no page %d", p.t.shown, text.Count(n, "page"), p.first)
	case min(p.last, n)-p.first >= pdfMaxPages:
		return tools.Errorf(tools.KindInvalidArgs, "at most %d pages are read at once: ask for a smaller range than %s", pdfMaxPages, text.Visible(pages))
	}
	p.last = min(p.last, n)
	return nil
}

func (p *pdfPart) result(ctx context.Context, call tools.Call) (tools.Result, error) {
	said, err := p.text(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	n := p.doc.Pages()
	line := fmt.Sprintf("%s is a PDF of %s (%s)", p.t.shown, text.Count(n, "page"), size(p.size))
	if p.first > 1 || p.last < n {
		line += fmt.Sprintf("; here are pages %d to %d", p.first, p.last)
		if p.last < n {
			line += fmt.Sprintf(", pages \"%d-%d\" is the next part", p.last+1, min(n, 2*p.last-p.first+1))
		}
	}
	res := tools.Result{
		Text:    line,
		Data:    map[string]any{"content": said, "pages": n, "first": p.first, "last": p.last, "size": p.size},
		Display: tools.Display{Summary: fmt.Sprintf("PDF, pages %d-%d of %d", p.first, p.last, n), Path: p.t.shown},
	}
	if call.Caller.Origin == tools.OriginModel || call.Caller.Origin == "" {
		data, err := p.document(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		if data != nil {
			res.Parts = []tools.Part{{MIME: pdfMIME, Data: data, Text: said}}
			return res, nil
		}
		res.Text += "; it is too big to be attached, this is its text"
	}
	res.Text += "\n" + said
	return res, nil
}

// text returns the text of the pages, as far as it fits into a result.
func (p *pdfPart) text(ctx context.Context) (string, error) {
	var b strings.Builder
	found := false
	for n := p.first; n <= p.last; n++ {
		s, err := p.doc.Page(ctx, n)
		if err != nil {
			return "", err
		}
		s = text.Clean(s)
		found = found || strings.TrimSpace(s) != ""
		if b.Len()+len(s) > pdfTextBytes && n > p.first {
			fmt.Fprintf(&b, "[the text of pages %d to %d is left out: read them with pages \"%d-%d\"]\n", n, p.last, n, p.last)
			break
		}
		s, cut := text.CutMark(s, pdfTextBytes, "")
		fmt.Fprintf(&b, "--- page %d ---\n%s\n", n, s)
		if cut {
			b.WriteString("[the rest of the page is left out: use exec with pdftotext]\n")
		}
	}
	if !found {
		return "[these pages hold no text, only pictures: use exec with a program that recognises it, such as tesseract or ocrmypdf]", nil
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// document returns the pages as a PDF: the file itself if they are all of it, nil if they are too
// large to attach.
func (p *pdfPart) document(ctx context.Context) ([]byte, error) {
	if p.first > 1 || p.last < p.doc.Pages() || p.doc.Encrypted() {
		data, err := p.doc.Pick(ctx, p.first, p.last)
		if err != nil || len(data) > pdfAttached {
			return nil, err
		}
		return data, nil
	}
	if p.size > pdfAttached {
		return nil, nil
	}
	data := make([]byte, p.size)
	n, err := p.whole.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, ioError(err, p.t)
	}
	return data[:n], nil
}
