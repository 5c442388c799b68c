package builtin

import (
	"context"
	"fmt"
	"io"
	"strings"

	"jcode/internal/edit"
	"jcode/tools"
)

// Editor accesses the text files of the workspace as an editor has them, with changes that are
// not saved yet. Both methods take resolved paths. An error fails the tool that called.
type Editor interface {
	// Can reports whether the editor reads files and whether it writes them.
	Can() (read, write bool)
	Read(ctx context.Context, path string) (string, error)
	// Write replaces a file's text and saves it. It creates a file that does not exist.
	Write(ctx context.Context, path, text string) error
}

// maxUnsaved is the number of files that a search compares with the editor's.
const maxUnsaved = 20

// editorHas returns the bytes of a file as the editor has them, given those on disk. A file that
// is not UTF-8 text or is outside the workspace is returned as it is on disk.
func (f *files) editorHas(ctx context.Context, t target, disk []byte) ([]byte, error) {
	if !f.editorReads(t) {
		return disk, nil
	}
	if _, enc, err := edit.Decode(disk); err != nil || enc != edit.UTF8 {
		return disk, nil
	}
	has, err := f.opts.Editor.Read(ctx, t.abs)
	if err != nil {
		return nil, tools.Errorf(tools.KindIO, "%s: the editor did not give the file's text: %w", t.shown, err)
	}
	if sameText(has, string(disk)) {
		return disk, nil
	}
	return []byte(has), nil
}

// sameText compares two texts, ignoring line endings, which editors store apart from the text.
func sameText(a, b string) bool {
	return a == b || strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}

func (f *files) editorReads(t target) bool {
	if f.opts.Editor == nil || !f.ws.Contains(t.abs) {
		return false
	}
	read, _ := f.opts.Editor.Can()
	return read
}

// editorWrites reports whether changes of a file go through the editor.
func (f *files) editorWrites(t target) bool {
	if !f.editorReads(t) {
		return false
	}
	_, write := f.opts.Editor.Can()
	return write
}

// save makes the editor save its unsaved changes of a file, so that undo includes them.
func (f *files) save(ctx context.Context, c *change) error {
	if !c.unsaved {
		return nil
	}
	if err := f.opts.Editor.Write(ctx, c.t.abs, string(c.before)); err != nil {
		return tools.Errorf(tools.KindIO, "%s was not changed: the editor did not save what is unsaved in it: %w", c.t.shown, err)
	}
	return nil
}

// editorStores writes a change through the editor if it handles the file.
func (f *files) editorStores(ctx context.Context, c *change) (done bool, err error) {
	if !f.editorWrites(c.t) {
		return false, nil
	}
	if _, enc, err := edit.Decode(c.after); err != nil || enc != edit.UTF8 {
		return false, nil
	}
	if err := f.opts.Editor.Write(ctx, c.t.abs, string(c.after)); err != nil {
		return true, tools.Errorf(tools.KindIO, "%s: the editor did not write the file: %w", c.t.shown, err)
	}
	return true, nil
}

// unsavedNote names the files found by a search whose text in the editor differs: their lines
// were searched on disk.
func (f *files) unsavedNote(ctx context.Context, s searchRoot, found []string) string {
	if f.opts.Editor == nil {
		return ""
	}
	var unsaved []string
	for _, name := range found[:min(len(found), maxUnsaved)] {
		t, err := f.ws.resolve(finder{f}.shown(s, name))
		if err != nil || !f.editorReads(t) {
			continue
		}
		disk, err := f.readDisk(t)
		if err != nil {
			continue
		}
		if has, err := f.editorHas(ctx, t, disk); err == nil && string(has) != string(disk) {
			unsaved = append(unsaved, t.shown)
		}
	}
	if unsaved == nil {
		return ""
	}
	return fmt.Sprintf("searched on disk, with unsaved changes in the editor: %s (read shows them)", strings.Join(unsaved, ", "))
}

// readDisk reads a whole file of the workspace.
func (f *files) readDisk(t target) ([]byte, error) {
	p, err := f.ws.enter(t.abs)
	if err != nil {
		return nil, err
	}
	defer p.close()
	file, _, err := p.openRegular(t)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return io.ReadAll(io.LimitReader(file, readHeld))
}
