package lsp

import (
	"context"
	"path/filepath"
	"slices"

	"jcode/internal/paths"
	"jcode/tools/lsp/protocol"
)

// holds reports whether a file is below one of the server's folders.
func (in *instance) holds(path string) bool {
	return slices.ContainsFunc(in.workFolders(), func(dir string) bool { return paths.Within(dir, path) })
}

// worksOn reports whether a root is one of the server's folders.
func (in *instance) worksOn(root string) bool { return slices.Contains(in.workFolders(), root) }

// workFolders returns the folders that the server works on: its root, and what it has adopted.
func (in *instance) workFolders() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.folders)
}

// adopt gives a running server another root, if it can work on several. One that is still starting is waited for,
// for a limited time.
func (in *instance) adopt(ctx context.Context, root string) bool {
	ctx, cancel := context.WithTimeout(ctx, firstLimit)
	defer cancel()
	if in.usable(ctx) != nil || !in.caps.Workspace.Folders.Change() {
		return false
	}
	if in.worksOn(root) {
		return true // another call was faster
	}
	added := []any{folder(root)}
	if in.conn.Notify(ctx, "workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": added, "removed": []any{}}}) != nil {
		return false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.folders = append(in.folders, root)
	if in.watching && !in.stopping {
		in.around.work.Go(func() { in.watchFiles(root) })
	}
	return true
}

// folder is a folder in the protocol's form.
func folder(path string) map[string]any {
	return map[string]any{"uri": protocol.URI(path), "name": filepath.Base(path)}
}

func foldersOf(list []string) []any {
	out := make([]any, len(list))
	for i, path := range list {
		out[i] = folder(path)
	}
	return out
}
