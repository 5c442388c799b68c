package builtin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"jcode/internal/fileview"
	"jcode/internal/text"
	"jcode/tools"
)

// window collects lines from first on, at most limit lines and readBytes bytes.
type window struct {
	first, limit int
	next         int // number of the next line; 0 counts as 1
	total        int // lines of the file, -1 if not known
	keepRaw      bool
	shown        strings.Builder
	raw          strings.Builder // the lines as they are in the file
	count        int             // lines taken
	cut          []int           // numbers of lines that were cut
	full         bool            // readBytes was reached
	invalid      bool            // bytes that are not UTF-8 were replaced
}

// usualLine is a length in bytes that most lines don't exceed.
const usualLine = 80

// expect allocates memory for what will be shown of a text of n bytes.
func (w *window) expect(n int) {
	if w.limit < n/usualLine {
		n = w.limit * usualLine
	}
	n = min(n, readBytes)
	w.shown.Grow(n + n/4) // with the numbers of the lines
	if w.keepRaw {
		w.raw.Grow(n)
	}
}

// add adds the next line with its line break. It returns false if the window is complete and the
// line was not added.
func (w *window) add(line string) bool { return w.addCut(line, len(line)) }

// addCut is add for a line of which only the beginning is in memory.
func (w *window) addCut(line string, whole int) bool {
	w.next = max(w.next, 1)
	if w.next < w.first {
		w.next++
		return true
	}
	if w.complete() {
		return false
	}
	body := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	out, short := cutLine(body, whole-len(line)+len(body))
	if !utf8.ValidString(out) {
		out, w.invalid = text.Valid(out), true
	}
	number := strconv.Itoa(w.next)
	if w.count > 0 && w.shown.Len()+len(number)+len(out)+2 > readBytes {
		w.full = true
		return false
	}
	w.shown.WriteString(number)
	w.shown.WriteByte('\t')
	w.shown.WriteString(out)
	w.shown.WriteByte('\n')
	if w.keepRaw {
		w.raw.WriteString(line)
	}
	if short {
		w.cut = append(w.cut, w.next)
	}
	w.count++
	w.next++
	return true
}

// complete reports whether no more lines are taken.
func (w *window) complete() bool { return w.count == w.limit || w.full }

// cutLine cuts a line after readLine characters, and adds a mark with its length in bytes.
func cutLine(line string, whole int) (out string, cut bool) {
	if len(line) <= readLine && whole == len(line) {
		return line, false
	}
	end := 0
	for n := 0; n < readLine && end < len(line); n++ {
		_, size := utf8.DecodeRuneInString(line[end:])
		end += size
	}
	if end == len(line) && whole == len(line) {
		return line, false
	}
	return text.Cut(line, end) + fmt.Sprintf("… [line cut: it has %d bytes]", whole), true
}

// result returns the result of reading the window.
func (w *window) result(t target, bytes int64, note string) (tools.Result, error) {
	if w.count == 0 {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "%s has %s; offset %d is past its end", t.shown, text.Count(w.next-1, "line"), w.first)
	}
	last := w.first + w.count - 1
	var notes []string
	all := w.first == 1 && last == w.total
	if !all {
		has := "has " + text.Count(w.total, "line")
		if w.total < 0 {
			has = fmt.Sprintf("has %s and more than %d lines", size(bytes), last)
		}
		notes = append(notes, fmt.Sprintf("%s %s, you see %d–%d", t.shown, has, w.first, last))
	}
	if len(w.cut) > 0 {
		notes = append(notes, "cut: "+text.Count(len(w.cut), "long line"))
	}
	if note != "" {
		notes = append(notes, note)
	} else if w.invalid {
		notes = append(notes, "U+FFFD stands for bytes that are not UTF-8")
	}
	var out strings.Builder
	out.Grow(w.shown.Len() + 256)
	out.WriteString(noteLine(notes))
	out.WriteString(w.shown.String())
	if last < w.total || w.total < 0 {
		why := ""
		if w.full {
			why = " (" + size(readBytes) + " reached)"
		}
		fmt.Fprintf(&out, "[the file continues%s: use offset %d]\n", why, last+1)
	}
	summary := text.Count(w.count, "line")
	if w.total > w.count {
		summary = fmt.Sprintf("%d of %d lines", w.count, w.total)
	}
	return tools.Result{
		Text:    strings.TrimSuffix(out.String(), "\n"),
		Data:    map[string]any{"content": w.raw.String(), "size": bytes},
		Display: tools.Display{Summary: summary, Path: t.shown},
	}, nil
}

// spans returns which lines are shown whole; nil if it is all of the file.
func (w *window) spans() []fileview.Span {
	if w.first == 1 && w.count == w.total && len(w.cut) == 0 {
		return nil
	}
	out := []fileview.Span{{Start: w.first - 1}}
	for _, n := range w.cut {
		out[len(out)-1].End = n - 1
		out = append(out, fileview.Span{Start: n})
	}
	out[len(out)-1].End = w.first - 1 + w.count
	return slices.DeleteFunc(out, func(s fileview.Span) bool { return s.Start >= s.End })
}

// scan fills the window from r, which begins at the start of a line. Of a line, only the part
// that can be shown is kept in memory.
func (w *window) scan(ctx context.Context, r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	whole, lines := 0, 0
	for {
		if whole == 0 && w.complete() {
			if _, err := br.Peek(1); errors.Is(err, io.EOF) {
				w.total = w.next - 1
			}
			return nil
		}
		part, err := br.ReadSlice('\n')
		whole += len(part)
		if room := keepLine - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if err == nil || errors.Is(err, io.EOF) {
			if whole > 0 && !w.addCut(string(line), whole) {
				return nil
			}
			line, whole = line[:0], 0
			if lines++; lines%1000 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			w.next = max(w.next, 1)
			w.total = w.next - 1
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
