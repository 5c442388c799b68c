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
		func(_ context.Context, call tools.Call, a writeArgs) (tools.Plan, error) {
			return f.planChange("Write to file", a.Path, false, f.replaced(call, a.Content))
		},
		func(ctx context.Context, call tools.Call, a writeArgs) (tools.Result, error) {
			return f.changeFile(ctx, call, a.Path, f.replaced(call, a.Content))
		})
}

// replaced works out the replacement of a file that the model knows.
func (f *files) replaced(call tools.Call, content string) maker {
	return func(p place, t target) (change, error) {
		c, err := wholeFile(p, t, content)
		if err == nil && c.exists {
			err = f.refuseStale(call, c)
		}
		return c, err
	}
}

// wholeFile works out the replacement of a file. The bytes are those given, but for what
// the model never saw: a byte order mark, and UTF-16.
func wholeFile(p place, t target, content string) (change, error) {
	c, err := load(p, t)
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
		return c, tools.Errorf(tools.KindIO, "%s: %w; remove it first if it is to be replaced", t.shown, err)
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

// refuseStale refuses to write over a file that somebody changed since the model saw it.
// What changed is shown, so the model has now seen the file, and may write again.
func (f *files) refuseStale(call tools.Call, c change) error {
	before, changed := f.seen.changed(call, c.t.abs, c.before)
	if !changed || string(c.before) == string(c.after) {
		return nil
	}
	what := "what it held then is not known any more: read it again"
	if before != nil {
		d := diff.Files(c.t.shown, plainText([]byte(*before)), plainText(c.before))
		what = fmt.Sprintf("what changed (%s):\n%s\nTake that into account and write again, or use edit", counts(d), strings.TrimRight(boundDiff(d.Text), "\n"))
		f.seen.record(call, c.t.abs, c.before)
	}
	return tools.Errorf(tools.KindIO, "%s was not written: it changed on disk since you last saw it; %s", c.t.shown, what)
}
