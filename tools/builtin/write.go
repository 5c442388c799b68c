package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"jcode/internal/diff"
	"jcode/internal/edit"
	"jcode/tools"
)

//go:embed write.md
var writeDescription string

const writeParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string"},` +
	`"content":{"type":"string"}},` +
	`"required":["path","content"]}`

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (f *files) write() tools.Tool {
	return makeTool(spec(tools.GroupCore, "write", writeDescription, writeParameters, tools.CapWrite),
		func(ctx context.Context, call tools.Call, a writeArgs) (tools.Plan, error) {
			return f.planChange(ctx, "Write to file", a.Path, false, f.replaced(call, a.Content))
		},
		func(ctx context.Context, call tools.Call, a writeArgs) (tools.Result, error) {
			return f.changeFile(ctx, call, a.Path, f.replaced(call, a.Content))
		})
}

// replaced computes the replacement of a file, and keeps changes that the model has not seen.
func (f *files) replaced(call tools.Call, content string) maker {
	return func(ctx context.Context, p place, t target) (change, error) {
		c, err := f.wholeFile(ctx, p, t, content)
		if err == nil && c.exists {
			err = f.reconcile(ctx, call, &c)
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
	if err := enc.Insertable(content); err != nil {
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
// are in other lines than the model's changes, both are made; otherwise nothing is written. The
// error shows the changes, so that the model has seen the file and may write again.
func (f *files) reconcile(ctx context.Context, call tools.Call, c *change) error {
	before, changed := f.seen.changed(call, c.t.abs, c.before)
	if string(c.before) == string(c.after) {
		return nil
	}
	if !changed {
		return f.refuseUnplanned(call, *c)
	}
	by := f.by(ctx, call, c.t.abs)
	if before != nil && c.merge(*before, by) {
		return nil
	}
	what := "what it held then is not known any more: read it again"
	if before != nil {
		d := diff.Files(c.t.shown, plainText([]byte(*before)), plainText(c.before))
		what = fmt.Sprintf("what changed (%s):\n%s\nTake that into account and write again, or use edit", counts(d), strings.TrimRight(boundDiff(d.Text), "\n"))
		f.seen.record(call, c.t.abs, c.before)
	}
	return tools.Errorf(tools.KindIO, "%s was not written: it changed on disk since you last saw it%s; %s", c.t.shown, by, what)
}

// merge applies the changes between what the model saw and what it writes to the present content
// of the file. It returns false, and changes nothing, if that is not possible.
func (c *change) merge(saw, by string) bool {
	now, enc, err := edit.Decode(c.before)
	if err != nil {
		return false
	}
	base, _, err := edit.Decode([]byte(saw))
	if err != nil {
		return false
	}
	ours, _, err := edit.Decode(c.after)
	if err != nil {
		return false
	}
	merged, ok := diff.Merge(base, ours, now)
	if !ok {
		return false
	}
	after, err := enc.Encode(merged)
	if err != nil {
		return false
	}
	others := diff.Files(c.t.shown, &base, &now)
	c.after = after
	c.found = foundChanged(c.t, by)
	c.notes = append(c.notes, fmt.Sprintf("the file had changed on disk since you last saw it%s, in other lines (%s): that was kept, your changes were made to its present content", by, counts(others)))
	c.compare()
	return true
}

// refuseUnplanned refuses to overwrite a file that the model never saw and that differs from the
// one for which the call was planned, and perhaps approved.
func (f *files) refuseUnplanned(call tools.Call, c change) error {
	if f.seen.has(call, c.t.abs) || call.Plan.Diff == "" || call.Plan.Diff == c.diff.Text {
		return nil
	}
	f.seen.record(call, c.t.abs, c.before)
	holds := "it is long: read it"
	if now := *plainText(c.before); len(now) <= maxDiffText && f.readable(call, c.t) {
		holds = "it holds now:\n" + strings.TrimRight(now, "\n")
	}
	return tools.Errorf(tools.KindIO, "%s was not written: somebody changed it after this call was planned; take that into account and write again, or use edit; %s", c.t.shown, holds)
}
