// Package tour owns the offline tour: the project that it works on and the script that
// plays the model. It must not know how a conversation is run or shown.
package tour

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed all:project
var project embed.FS

// Script is what the model says, in the form of a replay file.
//
//go:embed script.jsonl
var Script []byte

// Prompt is what the person asks for.
const Prompt = "The tests of this project fail. Find out why, fix it, and check. Then write the change down as our changelog skill says."

// WriteProject lays the tour's project into an empty folder. Files carry the ending
// `.txt` in the source tree, so that they are no part of this module.
func WriteProject(dir string) error {
	err := fs.WalkDir(project, "project", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := project.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimSuffix(strings.TrimPrefix(path, "project/"), ".txt"))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err != nil {
		return fmt.Errorf("lay out the tour's project: %w", err)
	}
	return nil
}
