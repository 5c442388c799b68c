package pdftext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// MaxSize is the size of the largest file that is read, in bytes.
const MaxSize = 64 << 20

// The reasons why a file cannot be read.
var (
	ErrPassword = errors.New("the PDF is encrypted with a password")
	ErrTooBig   = errors.New("the PDF is over 64 MiB")
	ErrNoPDF    = errors.New("the file is not a PDF, or too damaged to be read")
	ErrLimit    = errors.New("the PDF unpacks to more than can be read")
)

// Document is an opened PDF. It is not safe for concurrent use.
type Document struct {
	file  *file
	pages []page
	fonts map[any]*font
}

// Open parses a file of size bytes and finds its pages. It returns ErrTooBig for a file over
// MaxSize, ErrNoPDF, ErrPassword, ErrLimit, an error of r or the context's.
func Open(ctx context.Context, r io.ReaderAt, size int64) (d *Document, err error) {
	if size > MaxSize {
		return nil, ErrTooBig
	}
	data := make([]byte, size)
	n, err := r.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read PDF: %w", err)
	}
	data = data[:n]
	at := bytes.Index(data[:min(n, 1<<10)], []byte("%PDF-"))
	if at < 0 {
		return nil, ErrNoPDF
	}
	defer recovered(&err)
	f := &file{data: data[at:], work: work{ctx: ctx, left: maxDecoded}}
	if err := f.open(); err != nil {
		return nil, err
	}
	d = &Document{file: f, fonts: map[any]*font{}}
	d.pages, err = f.pageList()
	return d, err
}

// Pages returns the number of pages.
func (d *Document) Pages() int { return len(d.pages) }

// Page returns the text of a page; the first is 1.
func (d *Document) Page(ctx context.Context, n int) (text string, err error) {
	if n < 1 || n > len(d.pages) {
		return "", fmt.Errorf("there is no page %d: the PDF has %d", n, len(d.pages))
	}
	defer recovered(&err)
	d.file.work = work{ctx: ctx, left: maxDecoded}
	p := &painter{file: d.file, fonts: d.fonts}
	p.page(d.pages[n-1])
	return p.out.String(), d.file.work.err
}

// Encrypted reports whether the file is encrypted.
func (d *Document) Encrypted() bool { return d.file.crypt != nil }

// recovered turns a panic into an error, because the files come from anywhere.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v\n%s", ErrNoPDF, r, debug.Stack())
	}
}

const (
	maxDecoded = 96 << 20 // bytes that are decoded for one page, or to open a file
	maxDepth   = 64       // of objects within objects, forms within forms
	maxPages   = 100_000
)

// work is the remaining budget.
type work struct {
	ctx  context.Context
	left int
	err  error // why nothing more may be done
}

// spend takes n units and reports whether there is anything left.
func (w *work) spend(n int) bool {
	if w.err != nil {
		return false
	}
	if w.left -= n; w.left < 0 {
		w.err = ErrLimit
	} else if err := w.ctx.Err(); err != nil {
		w.err = err
	}
	return w.err == nil
}
