package owner

import (
	"os"
	"path/filepath"
	"testing"
)

// A repository belongs to whom its folder, its .git and what that points to belong.
func TestRepositoriesOfOthersAreNotUsed(t *testing.T) {
	top := t.TempDir()
	elsewhere := t.TempDir()
	for dir, text := range map[string]string{"dir": "", "file": "gitdir: " + elsewhere + "\n"} {
		at := filepath.Join(top, dir)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(filepath.Join(at, ".git"), []byte(text), 0o644)
		if text == "" {
			err = os.Remove(filepath.Join(at, ".git"))
			if err == nil {
				err = os.Mkdir(filepath.Join(at, ".git"), 0o755)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	uid := os.Geteuid()
	if _, known := ownerOf(lstat(t, top)); !known {
		t.Skip("this system has no owners of files")
	}
	for name, tc := range map[string]struct {
		rules Rules
		ours  bool
	}{
		"own":                 {Rules{UID: uid, Sudo: -1}, true},
		"of somebody else":    {Rules{UID: uid + 1, Sudo: -1}, false},
		"of who became root":  {Rules{UID: uid + 1, Sudo: uid}, true},
		"safe":                {Rules{UID: uid + 1, Sudo: -1, Safe: func() []string { return []string{filepath.Join(top, "dir"), filepath.Join(top, "file")} }}, true},
		"everything safe":     {Rules{UID: uid + 1, Sudo: -1, Safe: func() []string { return []string{"*"} }}, true},
		"safe below":          {Rules{UID: uid + 1, Sudo: -1, Safe: func() []string { return []string{top + "/*"} }}, true},
		"safe no more":        {Rules{UID: uid + 1, Sudo: -1, Safe: func() []string { return []string{"*", ""} }}, false},
		"another one is safe": {Rules{UID: uid + 1, Sudo: -1, Safe: func() []string { return []string{elsewhere} }}, false},
	} {
		for _, dir := range []string{"dir", "file"} {
			if whose := tc.rules.Repository(filepath.Join(top, dir)); (whose == "") != tc.ours {
				t.Errorf("%s, .git is a %s: belongs to %q", name, dir, whose)
			}
		}
	}
	if uid != 0 {
		return
	}
	// Where anyone may own what was mounted, an owner without a name is nobody in particular.
	path := filepath.Join(top, "dir")
	if err := os.Chown(path, 1234567, -1); err != nil {
		t.Skip(err)
	}
	if whose := (Rules{UID: 0, Sudo: -1, Container: true}).Repository(path); whose != "" {
		t.Errorf("in a container: belongs to %s", whose)
	}
	if whose := (Rules{UID: 0, Sudo: -1}).Repository(path); whose != "the user 1234567" {
		t.Errorf("outside: belongs to %q", whose)
	}
}

func lstat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
