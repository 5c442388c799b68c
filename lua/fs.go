package lua

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"jcode/internal/paths"
	"jcode/lua/wire"
	"jcode/tools"
)

// maxEntries bounds a folder listing.
const maxEntries = 10_000

// callFS implements fs.*: it checks the declaration, then uses the same intents, capabilities
// and gate as every other caller.
func (s *principal) callFS(ctx context.Context, f wire.Func, a arguments) ([]any, error) {
	if !s.all && (s.perms == nil || !s.perms.HasFS) {
		return s.undeclared(f, "fs")
	}
	path := a.text(0)
	rel, err := s.relative(path)
	if err != nil {
		return one(refusal(tools.KindPermission, "permission denied: %v", err)), nil
	}
	writes := f.Field() == "write"
	if !s.all && !s.perms.CoversFile(rel, writes) {
		key := "fs.read"
		if writes {
			key = "fs.write"
		}
		return one(refusal(tools.KindPermission, "%s with a glob that covers %q", s.declareText(key), rel)), nil
	}
	if writes && s.readOnly {
		return one(refusal(tools.KindPermission, "permission denied: fs.write changes things, and this tool is declared read_only")), nil
	}
	switch f.Field() {
	case "read":
		return s.intent(ctx, "read", wire.NewObject("path", path))
	case "write":
		if bad := badText(a.text(1), "text"); bad != "" {
			return one(refusal(tools.KindInvalidArgs, "%s: the text is not UTF-8", bad)), nil
		}
		return s.intent(ctx, "write", wire.NewObject("path", path, "content", a.text(1)))
	}
	if missing := s.caller.Scope.Missing(tools.CapRead); missing != 0 {
		return one(refusal(tools.KindPermission, "permission denied: %s not granted", missing)), nil
	}
	if why := s.mayLook(ctx, f.Field(), rel); why != nil {
		return one(why), nil
	}
	return one(s.look(f.Field(), rel)), nil
}

// mayLook lets the gate judge fs.list and fs.stat like the tool ls; nil means that they are allowed.
func (s *principal) mayLook(ctx context.Context, what, rel string) *wire.Object {
	path := filepath.Join(s.around.opts.Root, filepath.FromSlash(rel))
	d := s.around.opts.Dispatcher.Judge(ctx, s.declared(), tools.Spec{Name: "ls", ReadOnly: true, Needs: tools.CapRead, Trusted: true}, tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessRead, Path: path}}, Summary: "fs." + what + ": " + rel,
	})
	if d.Allow {
		return nil
	}
	return refusal(tools.KindDenied, "%s", d.Reason)
}

// intent dispatches a core intent that the script's declaration covers by itself.
func (s *principal) intent(ctx context.Context, name string, args *wire.Object) ([]any, error) {
	body, err := wire.EncodeJSON(args, false)
	if err != nil {
		return one(refusal(tools.KindInvalidArgs, "%v", err)), nil
	}
	caller := s.declared()
	if s.readOnly && name == "exec" { // it only gets what mode plan runs: commands that only read
		caller.Mode = func() tools.Mode { return tools.ModePlan }
	}
	out := s.around.opts.Dispatcher.Dispatch(ctx, tools.Call{
		ID: s.around.callID(), Name: name, Arguments: body, Caller: caller, Progress: s.progress,
	})
	if s.readOnly && name == "exec" && out.Result.Kind == tools.KindDenied {
		return one(shape(name, refusal(tools.KindPermission, "permission denied: this command is not known to change nothing, and this tool is declared read_only"))), nil
	}
	return one(shape(name, resultTable(out.Result))), nil
}

// relative returns the file that a path resolves to, relative to the project's root and with
// forward slashes: permissions apply to files, not to links to them. A relative path begins at
// Options.Start, as in every tool.
func (s *principal) relative(path string) (string, error) {
	root := s.around.opts.Root
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(s.around.opts.startDir(), abs)
	}
	if !paths.Within(root, filepath.Clean(abs)) {
		return "", errors.New(path + " is outside the project")
	}
	real, err := paths.Resolve(abs)
	if err != nil {
		return "", err
	}
	if root, err = paths.Resolve(root); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || !paths.Within(root, real) {
		return "", errors.New(path + " leads out of the project")
	}
	return filepath.ToSlash(rel), nil
}

// look lists a folder or describes a file. It never follows a link out of the root.
func (s *principal) look(what, rel string) *wire.Object {
	root, err := os.OpenRoot(s.around.opts.Root)
	if err != nil {
		return refusal(tools.KindIO, "%v", err)
	}
	defer func() { _ = root.Close() }() // read only
	if what == "stat" {
		info, err := root.Stat(rel)
		if err != nil {
			return refusal(tools.KindIO, "%v", err)
		}
		return wire.NewObject("ok", true, "size", float64(info.Size()), "dir", info.IsDir(), "mtime", float64(info.ModTime().UnixMilli())/1000)
	}
	list, err := fs.ReadDir(root.FS(), rel)
	if err != nil {
		return refusal(tools.KindIO, "%v", err)
	}
	entries := []any{}
	for _, e := range list[:min(len(list), maxEntries)] {
		size := 0.0
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size = float64(info.Size())
		}
		entries = append(entries, wire.NewObject("name", e.Name(), "dir", e.IsDir(), "size", size))
	}
	out := wire.NewObject("ok", true, "entries", entries)
	if len(list) > maxEntries {
		out.Set("truncated", true)
	}
	return out
}
