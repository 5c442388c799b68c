package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// ProjectID returns the identity of the project that a folder belongs to, and its root: the
// git top level above the folder, else the folder itself, with links resolved. The ID can be
// used in file names, and differs between roots of the same name. It needs no git program.
func ProjectID(dir string) (id, root string, err error) {
	root, err = filepath.Abs(dir)
	if err != nil {
		return "", "", fmt.Errorf("project of %s: %w", dir, err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", "", fmt.Errorf("project of %s: %w", dir, err)
	}
	for d := root; ; {
		if gitTop(d) {
			root = d
			break
		}
		parent := filepath.Dir(d)
		if parent == d {
			break
		}
		d = parent
	}
	sum := sha256.Sum256([]byte(root))
	return readable(filepath.Base(root)) + "-" + hex.EncodeToString(sum[:6]), root, nil
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
		b, err := os.ReadFile(p)
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
