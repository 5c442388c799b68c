package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"jcode/internal/charset"
	"jcode/internal/edit"
	"jcode/internal/paths"
	"jcode/internal/picture"
	"jcode/tools"
)

//go:embed read.md
var readDescription string

const readParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string"},` +
	`"offset":{"type":"integer","description":"first line, from 1"},` +
	`"limit":{"type":"integer","description":"number of lines"},` +
	`"pages":{"type":"string","description":"of a PDF, such as \"1-5\""}},` +
	`"required":["path"]}`

const (
	readLines    = 2000     // lines by default
	readBytes    = 50 << 10 // bytes of one result
	readLine     = 2000     // characters of one line
	readWhole    = 8 << 20  // bytes of a file that is read as a whole
	scriptWhole  = 10 << 20 // bytes of a file that is returned to a script as a whole
	readHeld     = max(readWhole, scriptWhole)
	sniffBytes   = 8 << 10 // bytes by which the kind of a file is detected
	maxImage     = 5 << 20 // bytes of an image for a model
	readMaxLines = 20_000  // lines at most, whatever limit says
)

type readArgs struct {
	Path   string `json:"path"`
	Offset *int   `json:"offset"`
	Limit  *int   `json:"limit"`
	Pages  string `json:"pages"`
}

func (a readArgs) window() (first, limit int, err error) {
	first, limit = 1, readLines
	if a.Offset != nil {
		first = max(1, *a.Offset)
		if *a.Offset < 0 {
			return 0, 0, tools.Errorf(tools.KindInvalidArgs, "offset is a line number and begins at 1")
		}
	}
	if a.Limit != nil {
		if limit = min(*a.Limit, readMaxLines); limit < 1 {
			return 0, 0, tools.Errorf(tools.KindInvalidArgs, "limit must be at least 1")
		}
	}
	return first, limit, nil
}

func (f *files) read() tools.Tool {
	return makeTool(spec(tools.GroupCore, "read", readDescription, readParameters, tools.CapRead),
		func(_ context.Context, _ tools.Call, a readArgs) (tools.Plan, error) {
			return f.planRead(a.Path, "Read")
		},
		f.readFile)
}

func (f *files) readFile(ctx context.Context, call tools.Call, a readArgs) (tools.Result, error) {
	first, limit, err := a.window()
	if err != nil {
		return tools.Result{}, err
	}
	t, err := f.ws.resolve(a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	if err := judged(call, tools.AccessRead, t); err != nil {
		return tools.Result{}, err
	}
	p, err := f.ws.enter(t.abs)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	defer p.close()
	if _, err := p.root.Lstat(p.name); errors.Is(err, fs.ErrNotExist) {
		if data, ok := f.unsavedOnly(ctx, t); ok {
			res, err := f.readText(ctx, call, data, t, first, limit, call.Caller.Origin == tools.OriginScript && a.Offset == nil && a.Limit == nil)
			return withNote(res, "it exists only in the editor, where it is not saved yet"), err
		}
	}
	file, info, err := p.openRegular(t)
	if err != nil {
		return tools.Result{}, err
	}
	defer func() { _ = file.Close() }() // only read
	if res, is, err := f.readPDF(ctx, call, file, info.Size(), t, a); is || err != nil {
		return withNote(res, t.note), err
	}
	whole := call.Caller.Origin == tools.OriginScript && a.Offset == nil && a.Limit == nil
	if whole && info.Size() > scriptWhole {
		return tools.Result{}, tools.Errorf(tools.KindLimit, "%s has %s, more than the %s that are given whole: use offset and limit",
			t.shown, size(info.Size()), size(scriptWhole))
	}
	var res tools.Result
	if info.Size() > readWhole && !whole {
		res, err = f.readLarge(ctx, file, info, t, first, limit)
	} else {
		res, err = f.readSmall(ctx, call, file, info, t, first, limit, whole)
	}
	if err != nil {
		return tools.Result{}, err
	}
	return withNote(res, t.note), nil
}

// openTries is the number of attempts to open a file that is being replaced.
const openTries = 5

// openRegular opens a regular file for reading, and refuses anything else by its kind. The opened
// file is the one that was examined: a link that was created in between is not followed.
func (p place) openRegular(t target) (*os.File, fs.FileInfo, error) {
	for range openTries {
		info, err := p.stat(t)
		if err != nil {
			return nil, nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, nil, refuseKind(info, t)
		}
		file, err := p.root.OpenFile(p.name, os.O_RDONLY|paths.NoWait, 0)
		if err != nil {
			return nil, nil, ioError(err, t)
		}
		now, err := file.Stat()
		if err == nil && os.SameFile(info, now) {
			return file, now, nil
		}
		_ = file.Close() // only read
	}
	return nil, nil, tools.Errorf(tools.KindIO, "%s is being replaced all the time: try again", t.shown)
}

// readSmall reads a file that fits into memory.
func (f *files) readSmall(ctx context.Context, call tools.Call, file io.Reader, info fs.FileInfo, t target, first, limit int, whole bool) (tools.Result, error) {
	var held bytes.Buffer
	held.Grow(int(min(info.Size(), readHeld)) + bytes.MinRead)
	if _, err := held.ReadFrom(io.LimitReader(file, readHeld+1)); err != nil {
		return tools.Result{}, ioError(err, t)
	}
	data := held.Bytes()
	if len(data) > readHeld {
		return tools.Result{}, tools.Errorf(tools.KindLimit, "%s grew over %s while it was read: try again", t.shown, size(readHeld))
	}
	data, note, err := f.editorHas(ctx, t, data)
	if err != nil {
		return tools.Result{}, err
	}
	res, err := f.readText(ctx, call, data, t, first, limit, whole)
	return withNote(res, note), err
}

// readText returns lines of a file that was read.
func (f *files) readText(ctx context.Context, call tools.Call, data []byte, t target, first, limit int, whole bool) (tools.Result, error) {
	head := data[:min(len(data), sniffBytes)]
	content := string(data)
	note := ""
	if kind := sniff(head); kind != "" {
		if res, done, err := special(kind, data, int64(len(data)), t, whole); done {
			return res, err
		}
		var err error
		if content, note, err = decoded(data, t); err != nil && whole {
			res, _, err := special("binary", data, int64(len(data)), t, whole)
			return res, err
		} else if err != nil {
			return tools.Result{}, err
		}
	} else if !utf8.ValidString(content) {
		text, enc, err := edit.Decode(data)
		if _, guessed := enc.Guessed(); err == nil && guessed {
			content, note = text, "the file is "+enc.String()
		} else {
			note = edit.EightBit.String() + "; U+FFFD stands for bytes that are not UTF-8"
		}
	}
	content = strings.TrimPrefix(content, "\ufeff")
	if content == "" {
		f.seen.showed(ctx, call, t.abs, data)
		return tools.Result{
			Text: t.shown + " exists; the file is empty", Data: map[string]any{"content": string(data), "size": len(data)},
			Display: tools.Display{Summary: "empty", Path: t.shown},
		}, nil
	}
	w := window{first: first, limit: limit, keepRaw: !whole}
	w.expect(len(content))
	at := 0
	for line := range strings.Lines(content) {
		if !w.add(line) {
			break
		}
		at += len(line)
	}
	w.total = w.next - 1 + strings.Count(content[at:], "\n")
	if !strings.HasSuffix(content, "\n") && at < len(content) {
		w.total++
	}
	res, err := w.result(t, int64(len(data)), note)
	if err == nil {
		f.seen.showed(ctx, call, t.abs, data, w.spans()...)
	}
	if err == nil && whole {
		res.Data = map[string]any{"content": string(data), "size": len(data)}
	}
	return res, err
}

// decoded returns the text of UTF-16.
func decoded(data []byte, t target) (content, note string, err error) {
	content, enc, err := edit.Decode(data)
	if _, guessed := enc.Guessed(); err == nil && !guessed && enc != edit.UTF16LE && enc != edit.UTF16BE {
		err = errors.New("is binary data, not text: use exec with a program that knows the format")
	}
	if err != nil {
		return "", "", tools.Errorf(tools.KindIO, "%s: %w", t.shown, err)
	}
	return content, "the file is " + enc.String(), nil
}

// sniff detects files that are not plain text by their first bytes: it returns a media type, "utf-16"
// or "binary", and "" for text.
func sniff(head []byte) string {
	switch kind := http.DetectContentType(head); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		return kind
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return "utf-16"
	}
	if bytes.IndexByte(head, 0) >= 0 {
		if _, name := charset.Decode(head[:len(head)&^1]); strings.HasPrefix(name, "UTF-16") {
			return "utf-16"
		}
		return "binary"
	}
	return ""
}

// special returns the result for a file that is not text. done is false for one that can be
// decoded.
func special(kind string, data []byte, n int64, t target, whole bool) (res tools.Result, done bool, err error) {
	if kind == "utf-16" {
		return res, false, nil
	}
	if whole {
		return tools.Result{
			Text: fmt.Sprintf("%s is %s, %s", t.shown, kindName(kind, data), size(n)), Data: map[string]any{"content": string(data), "size": n},
			Display: tools.Display{Summary: kindName(kind, data), Path: t.shown},
		}, true, nil
	}
	if !strings.HasPrefix(kind, "image/") {
		return res, true, tools.Errorf(tools.KindIO, "%s is %s (%s), not text: use exec with a program that knows the format", t.shown, kindName(kind, data), size(n))
	}
	if n > maxImage {
		return res, true, tools.Errorf(tools.KindLimit, "%s is an image of %s; images over %s are not shown", t.shown, size(n), size(maxImage))
	}
	if _, err := picture.Check(data); err != nil {
		return res, true, tools.Errorf(tools.KindIO, "%s is not a picture that can be shown: %w", t.shown, err)
	}
	attached, note := data, "it is attached"
	if small, smaller := picture.Fit(data, kind); smaller {
		attached, note = small, fmt.Sprintf("it is attached, made smaller to %d pixels", picture.MaxSide)
	}
	return tools.Result{
		Text:    fmt.Sprintf("%s is an image (%s, %s); %s", t.shown, kind, size(n), note),
		Data:    map[string]any{"size": n, "mime": kind},
		Parts:   []tools.Part{{MIME: kind, Data: attached}},
		Display: tools.Display{Summary: kind + ", " + size(n), Path: t.shown},
	}, true, nil
}

func kindName(kind string, data []byte) string {
	if kind == "binary" {
		if k := http.DetectContentType(data[:min(len(data), sniffBytes)]); k != "application/octet-stream" && !strings.HasPrefix(k, "text/") {
			return k
		}
		return "binary data"
	}
	return kind
}

// readLarge reads a window of a file that is too large for memory.
func (f *files) readLarge(ctx context.Context, file *os.File, info fs.FileInfo, t target, first, limit int) (tools.Result, error) {
	head := make([]byte, sniffBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return tools.Result{}, ioError(err, t)
	}
	if kind := sniff(head[:n]); kind != "" {
		if res, done, err := special(kind, head[:n], info.Size(), t, false); done {
			return res, err
		}
		return tools.Result{}, tools.Errorf(tools.KindLimit, "%s is UTF-16 of %s; only up to %s are decoded", t.shown, size(info.Size()), size(readWhole))
	}
	at, line, err := f.indexes.seek(ctx, file, info, t.abs, first)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	w := window{first: first, limit: limit, next: line, keepRaw: true, total: -1}
	if err := w.scan(ctx, io.NewSectionReader(file, at, info.Size()-at)); err != nil {
		return tools.Result{}, ioError(err, t)
	}
	return w.result(t, info.Size(), "")
}
