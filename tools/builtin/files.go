package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
	"jcode/tools"
)

// Options are the settings of the file tools. The zero value works.
type Options struct {
	// Recorder is called for every change, for undo. May be nil.
	Recorder Recorder
	// Seen records what the model saw of files, and is shared with the shell. Nil means a new one.
	Seen *Seen
	// Others knows who else changes files. May be nil.
	Others Others
	// Editor has files with unsaved changes. Nil means that there is no editor.
	Editor Editor
	// AfterEdit are the commands that run after a file was written.
	AfterEdit []AfterEdit
	// Around is tools.Dispatcher.Around for such a command, which may change other files than the one that was written.
	// May be nil.
	Around func(caller tools.Caller, line string) func() string
	// Runner runs them. Nil runs none.
	Runner Runner
}

// Files returns the file tools: the core intents in order, then edit, ls and apply_patch, and a
// ChangeSet that shares their state.
func Files(ws *Workspace, o Options) ([]tools.Tool, *ChangeSet) {
	if o.Seen == nil {
		o.Seen = NewSeen(nil)
	}
	f := &files{ws: ws, opts: o, seen: o.Seen, indexes: newLineIndexes()}
	return []tools.Tool{
		f.read(), f.write(), finder{f}.grep(), finder{f}.glob(), f.mkdir(), f.remove(), f.mv(),
		f.edit(), finder{f}.ls(), f.applyPatch(),
	}, &ChangeSet{f}
}

// files is what the file tools share.
type files struct {
	ws      *Workspace
	opts    Options
	seen    *Seen
	indexes *lineIndexes
	buffers editorBase
}

// fileTool is one of them, with functions that plan and run it with decoded arguments.
type fileTool[A any] struct {
	spec tools.Spec
	plan func(context.Context, tools.Call, A) (tools.Plan, error)
	run  func(context.Context, tools.Call, A) (tools.Result, error)
}

func makeTool[A any](s tools.Spec, plan func(context.Context, tools.Call, A) (tools.Plan, error), run func(context.Context, tools.Call, A) (tools.Result, error)) tools.Tool {
	return fileTool[A]{s, plan, run}
}

func (t fileTool[A]) Spec() tools.Spec { return t.spec }

func (t fileTool[A]) Plan(ctx context.Context, call tools.Call) (p tools.Plan, err error) {
	var a A
	if err = call.Decode(&a); err == nil {
		p, err = t.plan(ctx, call, a)
	}
	return p, err
}

func (t fileTool[A]) Run(ctx context.Context, call tools.Call) (res tools.Result, err error) {
	var a A
	if err = call.Decode(&a); err == nil {
		res, err = t.run(ctx, call, a)
	}
	return res, err
}

// spec fills in what all file tools have in common.
func spec(group tools.Group, name, description, parameters string, needs tools.Capabilities) tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: strings.TrimSpace(description),
		Parameters:  json.RawMessage(parameters),
		Aliases:     map[string]string{"file_path": "path", "absolute_path": "path", "target_file": "path", "filename": "path"},
		ReadOnly:    needs == tools.CapRead,
		Needs:       needs,
		Group:       group,
		Trusted:     true,
	}
}

// planRead plans a call that only reads one path.
func (f *files) planRead(arg, verb string) (tools.Plan, error) {
	t, err := f.ws.resolve(arg)
	if err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessRead, Path: t.abs}},
		Summary:  verb + ": " + t.title,
	}, nil
}

// hold returns access to one path that a call changes, and keeps other calls from it until
// release. It refuses a path other than the one that the gate judged.
func (f *files) hold(ctx context.Context, call tools.Call, kind tools.AccessKind, t target) (p place, release func(), err error) {
	if err := judged(call, kind, t); err != nil {
		return place{}, nil, err
	}
	unlock, err := f.ws.locks.lock(ctx, t.abs)
	if err != nil {
		return place{}, nil, err
	}
	if p, err = f.ws.enter(t.abs); err != nil {
		unlock()
		return place{}, nil, ioError(err, t)
	}
	return p, func() { p.close(); unlock() }, nil
}

// tellable reports whether an error may tell the model about paths before the gate has judged the
// call: not for paths outside the workspace, nor for denied ones.
func (f *files) tellable(call tools.Call, paths ...string) bool {
	for _, p := range paths {
		if !f.ws.Contains(p) || call.Hides(p) {
			return false
		}
	}
	return true
}

// stat returns the file info of a place, without following a link at its end.
func (p place) stat(t target) (fs.FileInfo, error) {
	info, err := p.root.Lstat(p.name)
	return info, ioError(err, t)
}

// ioError converts an error of the operating system to one for the model; nil stays nil.
func ioError(err error, t target) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist) && t.link != "":
		return tools.Errorf(tools.KindIO, "%s is a link to %s, which does not exist", t.link, t.shown)
	case errors.Is(err, fs.ErrNotExist), paths.NotDir(err):
		return tools.Errorf(tools.KindIO, "%s does not exist%s", t.shown, nearName(t.abs))
	case errors.Is(err, fs.ErrPermission):
		return tools.Errorf(tools.KindIO, "%s: permission denied by the operating system", t.shown)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return tools.Errorf(tools.KindIO, "%s %s: %w", pe.Op, t.shown, pe.Err)
	}
	return tools.Errorf(tools.KindIO, "%s: %w", t.shown, err)
}

// nearName suggests what a missing path may have meant: names that differ in case or are similar, or
// the first folder that does not exist.
func nearName(abs string) string {
	dir := filepath.Dir(abs)
	if !exists(dir) {
		for !exists(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
		rel, err := filepath.Rel(dir, abs)
		if err != nil {
			return ""
		}
		first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		return fmt.Sprintf(" (there is no %q in %s)", first, filepath.Base(dir))
	}
	d, err := os.Open(dir)
	if err != nil {
		return ""
	}
	names, err := d.Readdirnames(10_000)
	_ = d.Close() // only read
	if err != nil {
		return ""
	}
	want := strings.ToLower(filepath.Base(abs))
	stem := strings.TrimSuffix(want, filepath.Ext(want))
	var near []string
	for _, n := range names {
		low := strings.ToLower(n)
		if low == want || len(stem) > 2 && strings.HasPrefix(low, stem) || strings.TrimSuffix(low, filepath.Ext(low)) == stem {
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return "; near it: " + quoted(near)
}

// refuseKind returns the error for a path that is not a regular file.
func refuseKind(info fs.FileInfo, t target) error {
	kind := "not a regular file"
	switch mode := info.Mode(); {
	case mode.IsDir():
		return tools.Errorf(tools.KindIO, "%s is a folder: use ls or glob to see what is in it", t.shown)
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe (FIFO)"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSymlink != 0:
		kind = "a link that leads to nothing"
	}
	return tools.Errorf(tools.KindIO, "%s is %s, not a regular file: it is not read or written", t.shown, kind)
}

// withNote puts a note in front of a result's text.
func withNote(res tools.Result, note string) tools.Result {
	if note != "" {
		res.Text = "[" + note + "]\n" + res.Text
	}
	return res
}
