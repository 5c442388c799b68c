package paths

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// spelled returns an existing, link-free path as the folders in it spell it: the file system
// usually accepts .GIT for .git, but code that compares paths must not.
func spelled(path string) string {
	done, rest := split(path)
	for name := range strings.SplitSeq(rest, string(filepath.Separator)) {
		if name != "" {
			done = filepath.Join(done, entry(done, name))
		}
	}
	return done
}

// entry returns the name under which a folder lists a file.
func entry(dir, name string) string {
	want, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return name
	}
	d, err := os.Open(dir)
	if err != nil {
		return name
	}
	names, err := d.Readdirnames(-1)
	_ = d.Close() // only read
	if err != nil {
		return name
	}
	other := name
	for _, n := range names {
		if n == name {
			return name
		}
		if !strings.EqualFold(norm.NFC.String(n), norm.NFC.String(name)) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, n)); err == nil && os.SameFile(info, want) {
			other = n
		}
	}
	return other
}
