package builtin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"jcode/internal/diff"
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

// editorBase remembers what the disk held when the editor was last asked for a file, to tell what is
// unsaved in it from what it has not loaded yet. The zero value is ready to use.
type editorBase struct {
	mu    sync.Mutex
	disk  map[string]string
	bytes int
}

// maxEditorBase bounds the bytes that an editorBase keeps.
const maxEditorBase = 16 << 20

func (b *editorBase) get(path string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	disk, ok := b.disk[path]
	return disk, ok
}

func (b *editorBase) set(path, disk string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes += len(disk) - len(b.disk[path])
	if b.disk == nil || b.bytes > maxEditorBase {
		b.disk, b.bytes = map[string]string{}, len(disk)
	}
	b.disk[path] = disk
}

// editorHas returns the bytes of a file as the editor has them, given those on disk, and a note if both
// differ. What was changed on disk since the editor was last asked, and is not unsaved in it, counts as it
// is on disk: the editor has not loaded it yet. A file that is not UTF-8 text or is outside the workspace
// is returned as it is on disk.
func (f *files) editorHas(ctx context.Context, t target, disk []byte) (has []byte, note string, err error) {
	if !f.editorReads(t) {
		return disk, "", nil
	}
	if _, enc, err := edit.Decode(disk); err != nil || enc != edit.UTF8 {
		return disk, "", nil
	}
	buffer, err := f.opts.Editor.Read(ctx, t.abs)
	if err != nil {
		return nil, "", tools.Errorf(tools.KindIO, "%s: the editor did not give the file's text: %w", t.shown, err)
	}
	base, known := f.buffers.get(t.abs)
	now := string(disk)
	switch {
	case sameText(buffer, now):
	case !known || sameText(base, now): // nobody changed it on disk: the editor's text is newer
		f.buffers.set(t.abs, now)
		return []byte(buffer), "", nil
	case sameText(buffer, base): // and stays so until the editor loads it
		return disk, "it was changed on disk, and the editor still shows the text from before; this is the one on disk", nil
	default:
		merged, ok := diff.Merge(unixLines(base), unixLines(buffer), unixLines(now))
		if !ok {
			return nil, "", tools.Errorf(tools.KindIO, "%s has unsaved changes in the editor, and was changed on disk in the same lines: ask the user to save it or to load it again", t.shown)
		}
		if strings.Contains(now, "\r\n") {
			merged = strings.ReplaceAll(merged, "\n", "\r\n")
		}
		return []byte(merged), "it has unsaved changes in the editor and was changed on disk, in other lines; this is both together", nil
	}
	f.buffers.set(t.abs, now)
	return disk, "", nil
}

// unsavedOnly returns the text of a file that exists in the editor only, because it was never saved.
func (f *files) unsavedOnly(ctx context.Context, t target) (text []byte, ok bool) {
	if !f.editorReads(t) {
		return nil, false
	}
	has, err := f.opts.Editor.Read(ctx, t.abs)
	return []byte(has), err == nil && has != ""
}

// Unsaved says why a file must be left alone, because an editor has unsaved changes of it, or returns "".
func (s *ChangeSet) Unsaved(ctx context.Context, path string) string {
	t := target{abs: path, shown: s.f.ws.Shown(path)}
	if !s.f.editorReads(t) {
		return ""
	}
	disk, err := s.f.readDisk(t)
	if err != nil {
		if _, only := s.f.unsavedOnly(ctx, t); !only {
			return ""
		}
		return "the editor has it, unsaved"
	}
	if has, _, err := s.f.editorHas(ctx, t, disk); err == nil && string(has) == string(disk) {
		return ""
	}
	return "it has unsaved changes in the editor"
}

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// sameText compares two texts, ignoring line endings, which editors store apart from the text.
func sameText(a, b string) bool {
	return a == b || unixLines(a) == unixLines(b)
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
	f.buffers.set(c.t.abs, string(c.before))
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
	f.buffers.set(c.t.abs, string(c.after))
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
		if has, _, err := f.editorHas(ctx, t, disk); err == nil && string(has) != string(disk) {
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
