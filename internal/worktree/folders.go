package worktree

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
)

// Folders are the folders and files of git for a linked working tree that lie outside it, in the repository.
type Folders struct {
	// Written are the folders that git add and git commit write to.
	Written []string
	// Fixed are in these folders, and lead git elsewhere or have it run something: no agent changes them.
	Fixed []string
}

// maxPointer bounds the small files that name folders, in bytes.
const maxPointer = 1 << 16

// FoldersOf returns the folders of git for a linked working tree; none for any other folder, and none if the
// repository does not name this working tree as its own: a .git file alone can name any repository.
func FoldersOf(root string) (f Folders) {
	own := named(filepath.Join(root, ".git"), "gitdir: ")
	if own == "" {
		return f
	}
	own = paths.Real(own)
	common, back := named(filepath.Join(own, "commondir"), ""), named(filepath.Join(own, "gitdir"), "")
	if common == "" || paths.Real(filepath.Dir(back)) != paths.Real(root) || filepath.Base(back) != ".git" {
		return f
	}
	common = paths.Real(common)
	if filepath.Dir(own) != filepath.Join(common, "worktrees") {
		return f
	}
	f.Written = []string{own, filepath.Join(common, "objects")}
	if head, err := paths.ReadFile(filepath.Join(own, "HEAD"), maxPointer); err == nil {
		ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
		if dir := filepath.FromSlash(path.Dir(ref)); ok && strings.HasPrefix(ref, "refs/heads/") && filepath.IsLocal(dir) {
			for _, at := range []string{filepath.Join(common, dir), filepath.Join(common, "logs", dir)} {
				if paths.Real(at) == at {
					f.Written = append(f.Written, at)
				}
			}
		}
	}
	for _, name := range []string{"commondir", "gitdir", "config.worktree", startFile} {
		f.Fixed = append(f.Fixed, filepath.Join(own, name))
	}
	for _, name := range []string{"objects/info", "config", "config.worktree", "hooks"} {
		f.Fixed = append(f.Fixed, filepath.Join(common, filepath.FromSlash(name)))
	}
	return f
}

// named returns the folder or file that a small file names after a prefix, absolute; "" for none.
func named(file, prefix string) string {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer {
		return ""
	}
	data, err := paths.ReadFile(file, maxPointer)
	name, ok := strings.CutPrefix(string(bytes.TrimRight(data, "\r\n")), prefix)
	if err != nil || !ok || name == "" {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return filepath.Clean(name)
}
