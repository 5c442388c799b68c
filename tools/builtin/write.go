package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"jcode/internal/diff"
	"jcode/internal/edit"
	"jcode/internal/fileview"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed write.md
var writeDescription string

const writeParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string"},` +
	`"content":{"type":"string","description":"all of it: nothing left out"}},` +
	`"required":["path","content"]}`

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (f *files) write() tools.Tool {
	s := spec(tools.GroupCore, "write", writeDescription, writeParameters, tools.CapWrite)
	s.Aliases["file_text"], s.Aliases["contents"] = "content", "content"
	return makeTool(s,
		func(ctx context.Context, call tools.Call, a writeArgs) (tools.Plan, error) {
			return f.planChange(ctx, call, "Write to file", a.Path, false, f.replaced(call, a.Content))
		},
		func(ctx context.Context, call tools.Call, a writeArgs) (tools.Result, error) {
			return f.changeFile(ctx, call, a.Path, f.replaced(call, a.Content))
		})
}

// replaced computes the replacement of a file, and keeps changes that the model has not seen.
func (f *files) replaced(call tools.Call, content string) maker {
	return func(ctx context.Context, p place, t target) (change, error) {
		c, err := f.wholeFile(ctx, p, t, content)
		c.written = &content
		if err == nil && c.exists {
			err = f.reconcile(ctx, call, &c, content)
		}
		return c, err
	}
}

// wholeFile computes the replacement of a file. The bytes are those given, except for what the
// model never saw: a byte order mark, and UTF-16.
func (f *files) wholeFile(ctx context.Context, p place, t target, content string) (change, error) {
	c, err := f.load(ctx, p, t)
	if err != nil {
		return c, err
	}
	if !c.exists {
		c.after = []byte(content)
		c.compare()
		return c, nil
	}
	old, enc, err := edit.Decode(c.before)
	if err != nil {
		return c, tools.Errorf(tools.KindIO, "%s: %w; remove it first to replace it", t.shown, err)
	}
	if err := edit.CheckOmission(content, old); err != nil {
		return c, tools.Errorf(tools.KindInvalidArgs, "%s was not written: %w", t.shown, err)
	}
	if err := enc.Insertable(content, old); err != nil {
		return c, tools.Errorf(tools.KindInvalidArgs, "%s was not written: %w; remove it first if its encoding is to change", t.shown, err)
	}
	if c.after, err = enc.Encode(content); err != nil {
		return c, tools.Errorf(tools.KindInvalidArgs, "%s was not written: %w", t.shown, err)
	}
	if enc != edit.UTF8 && enc != edit.EightBit && utf8.ValidString(content) {
		c.notes = append(c.notes, fmt.Sprintf("kept the file's encoding, %s", enc))
	}
	c.compare()
	return c, nil
}

// reconcile keeps changes of a file since the model saw it, or since the call was planned. If they
// are in other lines than the model's changes, both are made; otherwise nothing is written. Nor is a file
// written whose lines the model was never shown, if they would be gone. The error shows what the model
// does not know, so that it may write again.
func (f *files) reconcile(ctx context.Context, call tools.Call, c *change, content string) error {
	if string(c.before) == string(c.after) {
		return nil
	}
	if call.Caller.Origin == tools.OriginScript {
		return f.refuseUnplanned(call, *c, false)
	}
	now, _, err := edit.Decode(c.before)
	if err != nil {
		return err
	}
	saw, known := f.seen.of(ctx, call, c.t.abs)
	fresh := !known || saw.known != f.seen.digest(c.before) // it holds something that the model was not told of
	by := ""
	if known && fresh {
		by = f.by(ctx, call, c.t.abs)
	}
	switch {
	case known && !saw.held && !fresh && saw.whole:
		return nil
	case known && !saw.held && fresh:
		return tools.Errorf(tools.KindIO, "%s was not written: it changed on disk since you last saw it%s; what it held then is not known any more: read it again", c.t.shown, by)
	case !known || !saw.held:
		saw.view = fileview.None(now)
	}
	if lost := saw.view.Lost(content); len(lost) > 0 && !f.seen.refusedOver(call, c.t.abs, c.before) {
		if err := f.refuseUnplanned(call, *c, known); err != nil {
			return err
		}
		if f.readable(call, c.t) { // who may not read a file replaces it on purpose
			return c.refuseUnseen(f.seen, call, now, fileview.Map(lost, saw.view.Text, now))
		}
	}
	if saw.view.Text == now || c.merge(saw.view.Text, by, fresh) {
		return nil
	}
	d := diff.Files(c.t.shown, &saw.view.Text, &now)
	shown := strings.TrimRight(boundDiff(d.Text), "\n")
	mark := func() {}
	if len(d.Text) <= maxDiffText {
		mark = func() { f.seen.showed(ctx, call, c.t.abs, c.before, around(fileview.Changes(now, saw.view.Text))...) }
	}
	return refusal{tools.Errorf(tools.KindIO, "%s was not written: it changed on disk since you last saw it%s, in lines that you change too%s. What changed (%s):\n%s\nTake that into account and write again, or use edit",
		c.t.shown, by, newSince(fileview.New(now, saw.view.Text)), counts(d), shown), mark}
}

// refusal is an error that shows the model what it did not know. shown notes that, once the model gets it.
type refusal struct {
	error
	shown func()
}

// Unwrap returns the error itself.
func (r refusal) Unwrap() error { return r.error }

// delivered notes what an error shows the model that gets it.
func delivered(err error) {
	if r, ok := errors.AsType[refusal](err); ok {
		r.shown()
	}
}

// merge applies the changes between what the model saw and what it writes to the present content
// of the file. It returns false, and changes nothing, if that is not possible. fresh says that the model
// was not told yet that the file has changed.
func (c *change) merge(saw, by string, fresh bool) bool {
	now, enc, err := edit.Decode(c.before)
	if err != nil {
		return false
	}
	ours, err := enc.Text(c.after)
	if err != nil {
		return false
	}
	merged, ok := diff.Merge(saw, ours, now)
	if !ok {
		return false
	}
	after, err := enc.Encode(merged)
	if err != nil {
		return false
	}
	others := diff.Files(c.t.shown, &saw, &now)
	theirs := fileview.New(merged, ours)
	c.after = after
	switch {
	case fresh:
		c.found = foundChanged(c.t, by)
		c.notes = append(c.notes, fmt.Sprintf("the file had changed on disk since you last saw it%s, in other lines (%s): that was kept%s, your changes were made to its present content", by, counts(others), newSince(theirs)))
	case len(theirs) > 0:
		c.notes = append(c.notes, fmt.Sprintf("%s of the file, which others changed and you have not read, stayed: read the file before you change more of it", lineNumbers(theirs)))
	default:
		c.notes = append(c.notes, "lines that others removed stayed removed: read the file before you change more of it")
	}
	c.compare()
	return true
}

// refuseUnseen refuses to remove lines that the model was never shown. It shows them if they are few.
func (c *change) refuseUnseen(seen *Seen, call tools.Call, now string, lost []fileview.Span) error {
	all := diff.Lines(now)
	var holds strings.Builder
	for _, s := range lost {
		for i := s.Start; i < s.End && holds.Len() <= maxDiffText; i++ {
			fmt.Fprintf(&holds, "%d\t%s\n", i+1, strings.TrimRight(all[i], "\r\n"))
		}
	}
	n := fileview.Count(lost)
	what, them := text.Count(n, "line")+" of it ("+lineNumbers(lost)+")", "them"
	if n == 1 {
		them = "it"
	}
	if n == len(all) {
		what = fmt.Sprintf("its content (%s)", text.Count(n, "line"))
		them = "it"
	}
	before := tools.Errorf(tools.KindIO, "%s was not written: %s was never shown to you, and this write would remove %s. Read %s first (offset %d) and use edit, or write again to replace the file all the same",
		c.t.shown, what, them, them, first(lost)+1)
	mark := func() { seen.refuse(call, c.t.abs, c.before) }
	if holds.Len() > 0 && holds.Len() <= maxDiffText {
		before = tools.Errorf(tools.KindIO, "%s was not written: %s was never shown to you, and this write would remove %s:\n%sTake that into account and write again, or use edit",
			c.t.shown, what, them, holds.String())
		refuse := mark
		mark = func() {
			seen.showed(context.Background(), call, c.t.abs, c.before, lost...)
			refuse()
		}
	}
	return refusal{before, mark}
}

func first(spans []fileview.Span) int {
	if len(spans) == 0 {
		return 0
	}
	return spans[0].Start
}

// around widens spans to the lines beside them, which a diff shows too.
func around(spans []fileview.Span) []fileview.Span {
	out := make([]fileview.Span, len(spans))
	for i, s := range spans {
		out[i] = fileview.Span{Start: max(s.Start-1, 0), End: s.End + 1}
	}
	return out
}

// lineNumbers names lines: "lines 20–23 and 40".
func lineNumbers(spans []fileview.Span) string {
	var parts []string
	for i, s := range spans {
		if i == 8 {
			parts = append(parts, fmt.Sprintf("%d more places", len(spans)-i))
			break
		}
		if s.End-s.Start == 1 {
			parts = append(parts, strconv.Itoa(s.End))
		} else {
			parts = append(parts, fmt.Sprintf("%d–%d", s.Start+1, s.End))
		}
	}
	word := "lines "
	if fileview.Count(spans) == 1 {
		word = "line "
	}
	if n := len(parts) - 1; n > 0 {
		parts[n-1] += " and " + parts[n]
		parts = parts[:n]
	}
	return word + strings.Join(parts, ", ")
}

// newSince says which lines are new, as "; lines 20–23 are new since you read".
func newSince(spans []fileview.Span) string {
	switch fileview.Count(spans) {
	case 0:
		return ""
	case 1:
		return "; " + lineNumbers(spans) + " is new since you read"
	}
	return "; " + lineNumbers(spans) + " are new since you read"
}

// refuseUnplanned refuses to overwrite a file that the model never saw and that differs from the
// one for which the call was planned, and perhaps approved.
func (f *files) refuseUnplanned(call tools.Call, c change, known bool) error {
	if known || f.seen.refusedOver(call, c.t.abs, c.before) || call.Plan.Diff == "" || call.Plan.Diff == c.diff.Text {
		return nil
	}
	holds, mark := "it is long: read it", func() { f.seen.refuse(call, c.t.abs, c.before) }
	if now := *plainText(c.before); len(now) <= maxDiffText && f.readable(call, c.t) {
		holds = "it holds now:\n" + strings.TrimRight(now, "\n")
		mark = func() { f.seen.showed(context.Background(), call, c.t.abs, c.before) }
	}
	return refusal{tools.Errorf(tools.KindIO, "%s was not written: somebody changed it after this call was planned; take that into account and write again, or use edit; %s", c.t.shown, holds), mark}
}
