package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"jcode/internal/atomicfile"
	"jcode/internal/diff"
	"jcode/internal/edit"
	"jcode/internal/fileview"
	"jcode/internal/text"
	"jcode/tools"
)

const (
	maxEditable = 32 << 20 // largest file that can be changed, in bytes
	changeTries = 4        // times that a change is made if others save the file at the same moment
	maxDiffText = 6 << 10  // bytes of a diff in a result's text; the display has the whole diff
)

// change is what a call does to one file.
type change struct {
	t      target
	exists bool
	before []byte // the file's bytes
	// unsaved says that before is the text in an editor, and the file on disk differs.
	unsaved bool
	after   []byte
	// byEditor says that the editor stored it, which may change more, as it does at each save.
	byEditor bool
	// written is what the model gave as the whole content, nil if it changed a part.
	written *string
	// own is after without what the commands of after_edit did; nil if they did nothing.
	own   []byte
	diff  diff.Diff
	notes []string
	// found tells the person that the file had changed since the model saw it.
	found string
}

// maker computes what a call does to a file from the file's present content.
type maker func(context.Context, place, target) (change, error)

// load reads a file that will be changed. A missing file is not an error.
func (f *files) load(ctx context.Context, p place, t target) (c change, err error) {
	c.t = t
	info, err := p.root.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		if !f.editorWrites(t) {
			return c, nil
		}
		if c.before, c.exists = f.unsavedOnly(ctx, t); c.exists {
			c.unsaved = true
			c.notes = append(c.notes, "the file existed only in the editor, unsaved; what it held there was saved first")
		}
		return c, nil
	}
	if err != nil {
		return c, ioError(err, t)
	}
	if !info.Mode().IsRegular() {
		return c, refuseKind(info, t)
	}
	if info.Size() > maxEditable {
		return c, tools.Errorf(tools.KindLimit, "%s has %s: files over %s are not changed here, use exec", t.shown, size(info.Size()), size(maxEditable))
	}
	file, _, err := p.openRegular(t)
	if err != nil {
		return c, err
	}
	defer func() { _ = file.Close() }() // only read
	c.exists = true
	if c.before, err = io.ReadAll(io.LimitReader(file, maxEditable+1)); err != nil {
		return c, ioError(err, t)
	}
	if !f.editorWrites(t) {
		return c, nil
	}
	has, note, err := f.editorHas(ctx, t, c.before)
	if note != "" {
		c.notes = append(c.notes, note)
	}
	c.unsaved = err == nil && string(has) != string(c.before)
	c.before = has
	return c, err
}

// compare fills in the diff.
func (c *change) compare() {
	if !c.exists {
		c.diff = diff.Files(c.t.shown, nil, plainText(c.after))
		return
	}
	after := plainText(c.after)
	if _, enc, err := edit.Decode(c.before); err == nil {
		if text, err := enc.Text(c.after); err == nil {
			after = &text
		}
	}
	c.diff = diff.Files(c.t.shown, plainText(c.before), after)
}

// plainText returns a file's text for a diff.
func plainText(data []byte) *string {
	s, _, err := edit.Decode(data)
	if err != nil {
		s = string(data)
	}
	return &s
}

// planChange plans a call that writes one file. An error that must not be revealed yet is left to
// the run, after the gate has allowed the call.
func (f *files) planChange(ctx context.Context, call tools.Call, verb, arg string, read bool, make maker) (tools.Plan, error) {
	t, err := f.ws.resolveFile(arg)
	if err != nil {
		return tools.Plan{}, err
	}
	plan := tools.Plan{Summary: verb + ": " + t.title}
	if read {
		plan.Accesses = append(plan.Accesses, tools.Access{Kind: tools.AccessRead, Path: t.abs})
	}
	plan.Accesses = append(plan.Accesses, tools.Access{Kind: tools.AccessWrite, Path: t.abs})
	if t.note != "" {
		plan.Notes = append(plan.Notes, t.note)
	}
	p, err := f.ws.open(t.abs)
	if err == nil {
		var c change
		c, err = make(ctx, p, t)
		p.close()
		plan.Diff = c.diff.Text
	} else {
		err = ioError(err, t)
	}
	if err != nil && f.tellable(call, t.abs) {
		delivered(err)
		return tools.Plan{}, err
	}
	return plan, nil
}

// changeFile does what write and edit have in common: it takes the path's lock, computes the
// change from the file's present content with make, writes it and runs the commands.
func (f *files) changeFile(ctx context.Context, call tools.Call, arg string, make maker) (tools.Result, error) {
	t, err := f.ws.resolveFile(arg)
	if err != nil {
		return tools.Result{}, err
	}
	p, release, err := f.hold(ctx, call, tools.AccessWrite, t)
	if err != nil {
		return tools.Result{}, err
	}
	defer release()
	for try := 1; ; try++ {
		c, err := make(ctx, p, t)
		if err != nil {
			delivered(err)
			return tools.Result{}, err
		}
		if err := c.take(call); err != nil {
			return tools.Result{}, err
		}
		if c.exists && string(c.before) == string(c.after) {
			c.learn(ctx, f.seen, call)
			return c.unchanged(), nil
		}
		said, err := f.change(ctx, call, p, &c)
		if _, meanwhile := errors.AsType[*atomicfile.ChangedError](err); meanwhile && try < changeTries {
			continue // another program saved it at this moment: the change is made to what it holds now
		}
		if err != nil {
			return tools.Result{}, err
		}
		c.learn(ctx, f.seen, call)
		return c.result(said, f.readable(call, t)), nil
	}
}

// change writes a change, so that it can be undone.
func (f *files) change(ctx context.Context, call tools.Call, p place, c *change) (said string, err error) {
	if err := f.save(ctx, c); err != nil {
		return "", err
	}
	err = f.recorded(ctx, call, func(w *Written) (err error) {
		said, err = f.store(ctx, call, p, c)
		changed, meanwhile := errors.AsType[*atomicfile.ChangedError](err)
		w.Nothing = meanwhile && (changed.Gone || !c.exists)
		if err == nil {
			c.note(w)
		}
		return err
	}, c.t.abs)
	return said, err
}

// learn notes what the model knows of a file after its change.
func (c *change) learn(ctx context.Context, seen *Seen, call tools.Call) {
	own := c.after
	if c.own != nil {
		own = c.own
	}
	if c.written != nil {
		seen.wrote(ctx, call, c.t.abs, strings.TrimPrefix(*c.written, "\ufeff"), own)
	} else {
		seen.changed(ctx, call, c.t.abs, c.before, own)
	}
	if c.own == nil {
		return
	}
	before, now := *plainText(c.own), *plainText(c.after)
	if d := diff.Files(c.t.shown, &before, &now); len(d.Text) <= maxDiffText { // the result shows all of it
		seen.showed(ctx, call, c.t.abs, c.after, around(fileview.Changes(now, before))...)
	}
}

// store writes the new bytes and runs the commands for the file. The change then includes what
// they did to the file.
func (f *files) store(ctx context.Context, call tools.Call, p place, c *change) (said string, err error) {
	in, err := f.ws.settle(p)
	if err != nil {
		return "", ioError(err, c.t)
	}
	defer in.close()
	if err := f.put(ctx, call, in, c, 0); err != nil {
		return "", err
	}
	return f.finish(ctx, call, in, c)
}

// put writes the new bytes, through the editor if it handles the file. What another program saved since
// the file was read is merged. perm is the mode of a new file, 0 for the default.
func (f *files) put(ctx context.Context, call tools.Call, in place, c *change, perm fs.FileMode) error {
	if done, err := f.editorStores(ctx, c); done || err != nil {
		c.byEditor = done
		return err
	}
	was := atomicfile.Was{Exists: c.exists, Data: c.before}
	done, err := atomicfile.ReplaceIn(in.root, in.name, was, c.after, c.mergeSaved, atomicfile.Options{Perm: perm})
	found, exists := done.Found, c.exists
	if changed, ok := errors.AsType[*atomicfile.ChangedError](err); ok {
		found, exists = changed.Found, c.exists && !changed.Gone
	}
	if found != nil && exists && f.opts.Recorder != nil {
		if err := f.opts.Recorder.Found(context.WithoutCancel(ctx), call, c.t.abs, c.before, found); err != nil {
			return err
		}
	}
	if err != nil {
		return ioError(err, c.t)
	}
	if done.Found != nil {
		c.before, c.after = done.Found, done.Written
		c.found = foundChanged(c.t, "")
		c.notes = append(c.notes, "another program saved the file at this moment: that was kept, in other lines")
		c.compare()
	}
	return nil
}

// mergeSaved makes the change to what another program saved since the file was read.
func (c *change) mergeSaved(found []byte) (merged []byte, ok bool) {
	base, _, err := edit.Decode(c.before)
	ours, _, err2 := edit.Decode(c.after)
	theirs, enc, err3 := edit.Decode(found)
	if errors.Join(err, err2, err3) != nil {
		return nil, false
	}
	text, ok := diff.Merge(base, ours, theirs)
	if !ok {
		return nil, false
	}
	merged, err = enc.Encode(text)
	return merged, err == nil
}

// finish runs the commands for a file that was written. The change then includes what they did to
// the file.
func (f *files) finish(ctx context.Context, call tools.Call, in place, c *change) (said string, err error) {
	said = f.afterEdit(ctx, call, c.t)
	if f.opts.Runner == nil || len(f.opts.AfterEdit) == 0 {
		return said, nil
	}
	now, err := f.load(ctx, in, c.t)
	if err != nil {
		return said, fmt.Errorf("after the commands of after_edit: %w", err)
	}
	if !now.exists {
		return said, tools.Errorf(tools.KindIO, "%s was written, and a command of after_edit removed it", c.t.shown)
	}
	if string(now.before) != string(c.after) {
		d := diff.Files(c.t.shown, plainText(c.after), plainText(now.before))
		said = strings.TrimPrefix(said+"\nafter_edit changed the file:\n"+boundDiff(d.Text), "\n")
		c.own, c.after = c.after, now.before
		c.compare()
	}
	return said, nil
}

// unchanged returns the result if the file already has the content.
func (c *change) unchanged() tools.Result {
	return tools.Result{
		Text:    c.t.shown + " has this content already: nothing was written",
		Data:    map[string]any{"bytes_written": len(c.after), "added": 0, "removed": 0},
		Display: tools.Display{Summary: "unchanged", Path: c.t.shown},
	}
}

// readable reports whether a call that writes a file may show the file's earlier content.
func (f *files) readable(call tools.Call, t target) bool {
	return call.Caller.Scope.Missing(tools.CapRead) == 0 && !call.Hides(t.abs)
}

// result returns the result of a finished change.
func (c *change) result(said string, readable bool) tools.Result {
	what := "edited"
	if !c.exists {
		what = "created"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s)\n", what, c.t.shown, counts(c.diff))
	if c.t.note != "" {
		fmt.Fprintf(&b, "[%s]\n", c.t.note)
	}
	for _, n := range c.notes {
		fmt.Fprintf(&b, "[%s]\n", n)
	}
	if c.exists && readable {
		b.WriteString(boundDiff(c.diff.Text))
	}
	b.WriteString(said)
	return tools.Result{
		Text: strings.TrimRight(b.String(), "\n"),
		Data: map[string]any{"bytes_written": len(c.after), "added": c.diff.Added, "removed": c.diff.Removed},
		Display: tools.Display{
			Summary: counts(c.diff), Diff: c.diff.Text, Path: c.t.shown,
			Added: c.diff.Added, Removed: c.diff.Removed, Found: c.found,
		},
	}
}

// boundDiff shortens a diff for the model, which made the change and knows the file's name and
// most of the rest.
func boundDiff(d string) string {
	if i := strings.Index(d, "\n@@ "); i >= 0 {
		d = d[i+1:]
	}
	out, _ := text.HeadTail(d, maxDiffText, func(_, lines int) string {
		return fmt.Sprintf("\n[… %d lines of the diff left out …]\n", lines)
	})
	return out
}

func counts(d diff.Diff) string { return fmt.Sprintf("+%d -%d", d.Added, d.Removed) }

// size formats a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
