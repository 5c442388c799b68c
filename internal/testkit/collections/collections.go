// Package collections finds the files of public collections that were made for Claude Code. A script fetches them;
// they are not part of this project.
package collections

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files returns the files below folders of a name, such as "commands", that end in suffix. At least `least` are expected,
// so that a test does not pass because its files have moved. The test is skipped where the collections are missing.
func Files(t *testing.T, folder, suffix string, least int) (paths []string) {
	t.Helper()
	root := os.Getenv("JCODE_TEST_COLLECTIONS")
	if root == "" {
		t.Skip("JCODE_TEST_COLLECTIONS names no folder with public collections: scripts/install-collections FOLDER fetches them")
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, suffix) && strings.Contains(filepath.ToSlash(path), "/"+folder+"/") && e.Name() != "README.md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < least {
		t.Fatalf("%d files of %s in %s, at least %d are expected", len(paths), folder, root, least)
	}
	return paths
}
