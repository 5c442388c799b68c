package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"

	"jcode/internal/diff"
	"jcode/internal/edit"
	"jcode/tools"
)

//go:embed edit.md
var editDescription string

const (
	editFlat = `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"File to change"},` +
		`"old_string":{"type":"string","description":"Exact text to replace, unique by the lines around it; without the line numbers of read"},` +
		`"new_string":{"type":"string","description":"Text in its place; empty deletes it"},` +
		`"replace_all":{"type":"boolean","description":"Every occurrence"}`
	editParameters = editFlat + `},"required":["path","old_string","new_string"]}`
	// editCheck also takes a list of edits, as some models send it.
	editCheck = editFlat + `,"edits":{"type":"array","items":{"type":"object","properties":{` +
		`"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}},` +
		`"required":["old_string","new_string"]}}},"required":["path"]}`
)

type editArgs struct {
	Path string `json:"path"`
	oneEdit
	Edits []oneEdit `json:"edits"`
}

type oneEdit struct {
	Old *string `json:"old_string"`
	New *string `json:"new_string"`
	All bool    `json:"replace_all"`
}

// list returns the edits that the arguments ask for.
func (a editArgs) list() ([]edit.Edit, error) {
	all := a.Edits
	if a.Old != nil || a.New != nil {
		if len(all) > 0 {
			return nil, tools.Errorf(tools.KindInvalidArgs, "give either old_string and new_string, or edits, not both")
		}
		all = []oneEdit{a.oneEdit}
	}
	if len(all) == 0 {
		return nil, tools.Errorf(tools.KindInvalidArgs, "missing required argument: old_string")
	}
	out := make([]edit.Edit, len(all))
	for i, e := range all {
		switch {
		case e.Old == nil:
			return nil, tools.Errorf(tools.KindInvalidArgs, "missing required argument: old_string (it may be empty to create a file)")
		case e.New == nil:
			return nil, tools.Errorf(tools.KindInvalidArgs, "missing required argument: new_string (it may be empty to delete old_string)")
		}
		out[i] = edit.Edit{Old: *e.Old, New: *e.New, All: e.All}
	}
	return out, nil
}

func (f *files) edit() tools.Tool {
	s := spec(tools.GroupBuiltin, "edit", editDescription, editParameters, tools.CapRead|tools.CapWrite)
	s.Check = json.RawMessage(editCheck)
	maps.Copy(s.Aliases, map[string]string{"old_str": "old_string", "new_str": "new_string", "old_text": "old_string", "new_text": "new_string"})
	return makeTool(s,
		func(ctx context.Context, call tools.Call, a editArgs) (tools.Plan, error) {
			return f.planChange(ctx, call, "Edit file", a.Path, true, f.edited(call, a))
		},
		func(ctx context.Context, call tools.Call, a editArgs) (tools.Result, error) {
			return f.changeFile(ctx, call, a.Path, f.edited(call, a))
		})
}

// edited applies the edits to a file.
func (f *files) edited(call tools.Call, a editArgs) maker {
	return func(ctx context.Context, p place, t target) (change, error) { return f.applied(ctx, call, p, t, a) }
}

func (f *files) applied(ctx context.Context, call tools.Call, p place, t target, a editArgs) (change, error) {
	edits, err := a.list()
	if err != nil {
		return change{}, err
	}
	c, err := f.load(ctx, p, t)
	if err != nil {
		return c, err
	}
	if !c.exists && edits[0].Old != "" {
		return c, tools.Errorf(tools.KindIO, "%s does not exist%s%s", t.shown, f.removedBy(ctx, call, t.abs), nearName(t.abs))
	}
	old, enc, err := edit.Decode(c.before)
	if err != nil {
		return c, tools.Errorf(tools.KindIO, "%s: %w", t.shown, err)
	}
	for _, e := range edits {
		if err := enc.Insertable(e.New, old); err != nil {
			return c, tools.Errorf(tools.KindInvalidArgs, "%s: %w", t.shown, err)
		}
	}
	saw, stale := f.seen.differs(ctx, call, t.abs, c.before)
	by := ""
	if stale {
		by = f.by(ctx, call, t.abs)
	}
	done, err := edit.Apply(old, edits)
	if err != nil {
		if stale {
			err = fmt.Errorf("%w\n(the file changed on disk since you last saw it%s: read it again)", err, by)
		}
		return c, tools.Errorf(tools.KindInvalidArgs, "%s: %w", t.shown, err)
	}
	if stale {
		what := ""
		if saw != nil {
			what = " (" + counts(diff.Files(t.shown, plainText([]byte(*saw)), plainText(c.before))) + ")"
		}
		c.found = foundChanged(c.t, by)
		c.notes = append(c.notes, fmt.Sprintf("the file had changed on disk since you last saw it%s%s; the edit was made to its present content", by, what))
	}
	if done.Places > len(edits) {
		c.notes = append(c.notes, fmt.Sprintf("%d places replaced", done.Places))
	}
	c.notes = append(c.notes, done.Notes...)
	if c.after, err = enc.Encode(done.Text); err != nil {
		return c, tools.Errorf(tools.KindInvalidArgs, "%s: %w", t.shown, err)
	}
	c.compare()
	return c, nil
}
