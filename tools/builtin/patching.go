package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"jcode/internal/atomicfile"
	"jcode/internal/diff"
	"jcode/internal/edit"
	"jcode/internal/patch"
	"jcode/internal/text"
	"jcode/tools"
)

// patching holds the files that a patch names, before and after it. A file may be named several
// times.
type patching struct {
	f     *files
	call  tools.Call
	open  func(string) (place, error)
	files []*patchedFile
}

// patchedFile is one of these files. In change, exists and before are the state on disk; after is
// used unless the file is removed.
type patchedFile struct {
	change
	enc   edit.Encoding
	text  string // the text after the patch
	there bool   // whether it exists at this point of the patch
	odd   error  // why its text cannot be changed
	mode  fs.FileMode
	from  *patchedFile // the file that was moved here
	stale bool         // it changed since the model saw it
	by    string       // who changed it then, as files.by says
}

func (p *patchedFile) gone() bool { return p.exists && !p.there }

// touched reports whether the patch changes the file.
func (p *patchedFile) touched() bool {
	return p.there != p.exists || p.there && string(p.after) != string(p.before)
}

// file loads a file that the patch names, once.
func (p *patching) file(ctx context.Context, t target) (*patchedFile, error) {
	for _, known := range p.files {
		if known.t.abs == t.abs {
			return known, nil
		}
	}
	at, err := p.open(t.abs)
	if err != nil {
		return nil, ioError(err, t)
	}
	defer at.close()
	out := &patchedFile{}
	if info, err := at.root.Lstat(at.name); err == nil {
		out.mode = info.Mode().Perm()
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, tools.Errorf(tools.KindIO, "%s is a link: use remove or mv for links", t.shown)
		}
	}
	c, err := p.f.load(ctx, at, t)
	if err != nil {
		return nil, err
	}
	out.change, out.there = c, c.exists
	if c.exists {
		if out.text, out.enc, out.odd = edit.Decode(c.before); out.odd != nil {
			out.text, out.enc = string(c.before), edit.UTF8
		}
		_, out.stale = p.f.seen.differs(ctx, p.call, t.abs, c.before)
		if out.stale {
			out.by = p.f.by(ctx, p.call, t.abs)
		}
	}
	p.files = append(p.files, out)
	return out, nil
}

// apply applies the parts of the patch to the files.
func (p *patching) apply(ctx context.Context, parts []patchPart) error {
	for _, part := range parts {
		if err := p.part(ctx, part); err != nil {
			return fmt.Errorf("%w (nothing was changed)", err)
		}
	}
	for _, file := range p.files {
		if err := file.finish(); err != nil {
			return err
		}
	}
	return nil
}

func (p *patching) part(ctx context.Context, part patchPart) error {
	file, err := p.file(ctx, part.t)
	if err != nil {
		return err
	}
	if part.Kind == patch.Add {
		if file.there {
			return tools.Errorf(tools.KindIO, "%s exists: use Update File to change it, or Delete File before Add File to replace it", part.t.shown)
		}
		file.there, file.text, file.enc = true, part.Text, edit.UTF8
		return nil
	}
	if !file.there {
		return tools.Errorf(tools.KindIO, "%s does not exist%s", part.t.shown, nearName(part.t.abs))
	}
	if part.Kind == patch.Delete {
		file.there, file.text = false, ""
		return nil
	}
	if err := file.update(part.Hunks); err != nil {
		return tools.Errorf(tools.KindInvalidArgs, "%s: %w", part.t.shown, err)
	}
	if part.to == nil || part.to.abs == part.t.abs {
		return nil
	}
	to, err := p.file(ctx, *part.to)
	if err != nil {
		return err
	}
	if to.there {
		return tools.Errorf(tools.KindIO, "%s exists: choose another name to move %s to, or delete it first", part.to.shown, part.t.shown)
	}
	to.there, to.text, to.enc, to.mode, to.from = true, file.text, file.enc, file.mode, file
	to.notes, to.stale, to.by = append(to.notes, file.notes...), file.stale, file.by
	file.there, file.notes = false, nil
	return nil
}

// update makes hunks in a file.
func (p *patchedFile) update(hunks []patch.Hunk) error {
	if len(hunks) == 0 {
		return nil
	}
	if p.odd != nil {
		return p.odd
	}
	for i := range hunks {
		if err := p.enc.Insertable(hunks[i].Added(), p.text); err != nil {
			return err
		}
	}
	done, err := patch.Apply(p.text, hunks)
	if err != nil && p.stale {
		err = fmt.Errorf("%w\n(the file changed on disk since you last saw it%s: read it again)", err, p.by)
	}
	if err != nil {
		return err
	}
	p.text = done.Text
	p.notes = append(p.notes, done.Notes...)
	return nil
}

// encode encodes what a file becomes, and compares.
func (p *patchedFile) encode() (err error) {
	if p.there {
		if p.after, err = p.enc.Encode(p.text); err != nil {
			return tools.Errorf(tools.KindInvalidArgs, "%s: %w", p.t.shown, err)
		}
	}
	switch {
	case p.there && p.from != nil && !p.exists:
		p.diff = diff.Files(p.t.shown, plainText(p.from.before), plainText(p.after))
	case p.there:
		p.compare()
	case p.exists:
		p.diff = diff.Files(p.t.shown, plainText(p.before), nil)
	default:
		p.diff = diff.Diff{}
	}
	return nil
}

// finish encodes what a file becomes, compares, and says what else changed it.
func (p *patchedFile) finish() error {
	if err := p.encode(); err != nil {
		return err
	}
	switch {
	case p.stale && p.there:
		p.notes = append(p.notes, "the file had changed on disk since you last saw it"+p.by+"; the patch was made to its present content")
	case p.stale && p.gone() && p.by != "":
		p.notes = append(p.notes, "the file had changed on disk since you last saw it"+p.by+"; /undo restores it")
	}
	return nil
}

// moved returns the new file of a file that was renamed, which then has the diff, or nil.
func (p *patching) moved(file *patchedFile) *patchedFile {
	for _, to := range p.files {
		if to.from == file && to.there && !to.exists {
			return to
		}
	}
	return nil
}

// shown returns the files whose diffs are shown: the old names of those that were moved are left out.
func (p *patching) shown() (out []*patchedFile) {
	for _, file := range p.files {
		if p.moved(file) == nil || !file.gone() {
			out = append(out, file)
		}
	}
	return out
}

// diffText returns the diff of all files.
func (p *patching) diffText() (whole string, added, removed int) {
	var b strings.Builder
	for _, file := range p.shown() {
		b.WriteString(file.diff.Text)
		added, removed = added+file.diff.Added, removed+file.diff.Removed
	}
	return b.String(), added, removed
}

// writePatch makes the changes, removals last. If one fails, those that were made are undone.
func (f *files) writePatch(ctx context.Context, call tools.Call, touched []*patchedFile) error {
	var done []*patchedFile
	var err error
	for _, removes := range []bool{false, true} {
		for _, file := range touched {
			if err != nil || file.gone() != removes {
				continue
			}
			if err = f.putFile(ctx, call, &file.change, file.there, file.mode); err == nil {
				done = append(done, file)
			}
		}
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w (nothing was changed)", err)
	for _, file := range slices.Backward(done) {
		back := change{t: file.t, exists: file.there, before: file.after, after: file.before}
		if failed := f.putFile(context.WithoutCancel(ctx), call, &back, file.exists, file.mode); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s could not be restored: %w", file.t.shown, failed))
		}
	}
	return err
}

// putFile writes the new bytes of a file, or removes it.
func (f *files) putFile(ctx context.Context, call tools.Call, c *change, there bool, mode fs.FileMode) error {
	in, err := f.ws.enter(c.t.abs)
	if err == nil && there {
		outer := in
		in, err = f.ws.settle(outer)
		outer.close()
	}
	if err != nil {
		return ioError(err, c.t)
	}
	defer in.close()
	if !there {
		return ioError(atomicfile.RemoveIn(in.root, in.name, c.before), c.t)
	}
	return f.put(ctx, call, in, c, mode)
}

// finishPatch runs the commands for the files that were written.
func (f *files) finishPatch(ctx context.Context, call tools.Call, touched []*patchedFile) (said string, err error) {
	var b strings.Builder
	for _, file := range touched {
		if !file.there {
			continue
		}
		in, err := f.ws.enter(file.t.abs)
		if err != nil {
			return b.String(), ioError(err, file.t)
		}
		told, err := f.finish(ctx, call, in, &file.change)
		in.close()
		if err != nil {
			return b.String(), err
		}
		if told != "" {
			fmt.Fprintln(&b, told)
		}
	}
	return b.String(), nil
}

// learn notes what the model knows of a file after the patch.
func (p *patching) learn(ctx context.Context, file *patchedFile) {
	path := file.t.abs
	switch {
	case file.from != nil:
		p.f.seen.move(ctx, p.call, file.from.t.abs, path)
		p.f.seen.changed(ctx, p.call, path, file.from.before, file.after)
	case file.exists:
		p.f.seen.changed(ctx, p.call, path, file.before, file.after)
	default:
		p.f.seen.showed(ctx, p.call, path, file.after)
	}
}

// result returns the result of the patch.
func (p *patching) result(ctx context.Context, touched []*patchedFile, said string) tools.Result {
	var b strings.Builder
	var found []string
	n := len(touched) // without the old names of moved files
	for _, file := range touched {
		switch {
		case file.there && file.from != nil:
			fmt.Fprintf(&b, "moved %s to %s (%s)\n", file.from.t.shown, file.t.shown, counts(file.diff))
		case file.there && file.exists:
			fmt.Fprintf(&b, "edited %s (%s)\n", file.t.shown, counts(file.diff))
		case file.there:
			fmt.Fprintf(&b, "created %s (%s)\n", file.t.shown, counts(file.diff))
		case p.moved(file) == nil:
			fmt.Fprintf(&b, "deleted %s\n", file.t.shown)
		default:
			n--
		}
		for _, n := range file.notes {
			fmt.Fprintf(&b, "[%s]\n", n)
		}
		if !file.there {
			if p.moved(file) == nil {
				p.f.seen.forget(ctx, p.call, file.t.abs)
			}
			if file.stale && file.by != "" && p.moved(file) == nil {
				found = append(found, foundChanged(file.t, file.by))
			}
			continue
		}
		p.learn(ctx, file)
		if file.stale {
			found = append(found, foundChanged(file.t, file.by))
		}
	}
	whole, added, removed := p.diffText()
	b.WriteString(said)
	return tools.Result{
		Text:    strings.TrimRight(b.String(), "\n"),
		Data:    map[string]any{"files": n, "added": added, "removed": removed},
		Display: tools.Display{Summary: fmt.Sprintf("%s, +%d -%d", text.Count(n, "file"), added, removed), Diff: whole, Path: touched[0].t.shown, Added: added, Removed: removed, Found: strings.Join(found, "\n")},
	}
}
