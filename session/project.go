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

// ProjectID gives the identity of the project that a folder belongs to, and its root: the
// git top level above the folder, else the folder itself, with links resolved. The ID is
// usable in file names; two roots never share one, however alike their names are. No git
// program is needed.
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

// readable makes a folder's name fit for file names, for people who look at IDs.
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
