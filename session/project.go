package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"jcode/internal/owner"
	"jcode/internal/paths"
)

// ProjectID returns the identity of the project that a folder belongs to, and its root: the
// git top level above the folder, else the folder itself, with links resolved. The ID can be
// used in file names, and differs between roots of the same name.
func ProjectID(dir string) (id, root string, err error) {
	p, err := FindProject(dir)
	return p.ID, p.Root, err
}

// Project is what a folder belongs to.
type Project struct {
	ID, Root string
	// Repository says that the root is the top level of a git repository.
	Repository bool
	// Foreign says why a repository around the folder is not used: whose it is, and where. The folder itself is the
	// root then.
	Foreign string
}

// FindProject finds the project of a folder, see ProjectID. A repository of another user is not used.
func FindProject(dir string) (p Project, err error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return p, fmt.Errorf("project of %s: %w", dir, err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return p, fmt.Errorf("project of %s: %w", dir, err)
	}
	for d := root; ; {
		if gitTop(d) {
			if whose := owner.Here().Repository(d); whose != "" {
				p.Foreign = fmt.Sprintf("the git repository in %s belongs to %s", d, whose)
				break
			}
			root, p.Repository = d, true
			break
		}
		parent := filepath.Dir(d)
		if parent == d {
			break
		}
		d = parent
	}
	sum := sha256.Sum256([]byte(root))
	p.ID, p.Root = readable(filepath.Base(root))+"-"+hex.EncodeToString(sum[:6]), root
	return p, nil
}

// gitTop reports whether a folder is the top of a working tree: it holds a repository, or
// the file that points to one (a linked working tree, a submodule).
func gitTop(dir string) bool {
	p := filepath.Join(dir, ".git")
	info, err := os.Lstat(p)
	if err != nil {
		return false
	}
	if info.Mode().IsRegular() {
		if info.Size() > 1<<16 {
			return false
		}
		b, err := paths.ReadFile(p, 1<<16)
		return err == nil && strings.HasPrefix(string(b), "gitdir:")
	}
	_, err = os.Stat(filepath.Join(p, "HEAD"))
	return err == nil
}

// readable turns a folder's name into the part of an ID that people recognise.
func readable(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case unicode.IsLetter(r) && r < unicode.MaxASCII, r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
		if b.Len() >= 32 {
			break
		}
	}
	return b.String()
}

// RepositoryKey returns the name under which all working trees of a repository keep what they share, for the root of a
// project. It is that of the folder that git has in common, else of the root itself.
func RepositoryKey(root string) string {
	common := filepath.Join(root, ".git")
	if b, err := paths.ReadFile(common, 1<<16); err == nil { // the root is a linked working tree, or a submodule
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:"); ok {
			common = against(root, strings.TrimSpace(to))
		}
	}
	if b, err := paths.ReadFile(filepath.Join(common, "commondir"), 1<<16); err == nil {
		common = against(common, strings.TrimSpace(string(b)))
	}
	if _, err := os.Stat(filepath.Join(common, "HEAD")); err != nil {
		common = root
	}
	common = paths.Real(common)
	name := filepath.Base(common)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(common))
	}
	sum := sha256.Sum256([]byte(common))
	return readable(strings.TrimSuffix(name, ".git")) + "-" + hex.EncodeToString(sum[:6])
}

// against returns a path that a file of git names, relative to a folder.
func against(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
