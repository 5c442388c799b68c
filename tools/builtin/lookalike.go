package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"jcode/tools"
)

// lookAlike returns path with each missing part replaced by the one entry of its folder that
// differs from it only in look-alike characters: kinds of spaces, quotes and dashes, or the
// composition of accents. For example, names of screenshots on macOS contain U+202F. Without such an
// entry path is returned unchanged; several are an error that names them.
func lookAlike(path string) (string, error) {
	dir, missing := path, []string{}
	for !exists(dir) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return path, nil
		}
		missing = append(missing, filepath.Base(dir))
		dir = parent
	}
	for i := len(missing) - 1; i >= 0; i-- {
		name, err := alike(dir, missing[i])
		if err != nil {
			return "", err
		}
		if name == "" {
			for ; i >= 0; i-- {
				dir = filepath.Join(dir, missing[i])
			}
			return dir, nil
		}
		dir = filepath.Join(dir, name)
	}
	return dir, nil
}

// alike finds the entry of dir that looks like name.
func alike(dir, name string) (string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return "", nil // a folder that can't be listed has no look-alikes to offer
	}
	names, err := d.Readdirnames(-1)
	_ = d.Close() // only read
	if err != nil {
		return "", nil
	}
	key := skeleton(name)
	var found []string
	for _, n := range names {
		if n == name {
			return n, nil
		}
		if skeleton(n) == key {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", tools.Errorf(tools.KindInvalidArgs, "%s does not exist, but these look like it: %s; give the exact name",
		filepath.Join(dir, name), quoted(found))
}

// skeleton returns a file name with look-alike characters replaced by one form.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0x00a0 || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000:
			return ' '
		case r == 0x200b || r == 0x2060 || r == 0xfeff:
			return -1
		case r == 0x2018 || r == 0x2019 || r == 0x201b || r == 0x2032:
			return '\''
		case r == 0x201c || r == 0x201d || r == 0x2033:
			return '"'
		case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
			return '-'
		}
		return r
	}, norm.NFC.String(name))
}

func quoted(names []string) string {
	out := make([]string, 0, len(names))
	for i, n := range names {
		if i == 5 {
			out = append(out, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		out = append(out, fmt.Sprintf("%+q", n))
	}
	return strings.Join(out, ", ")
}
