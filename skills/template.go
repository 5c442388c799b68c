package skills

import (
	_ "embed" // the template
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed template.md
var skillTemplate string

// Create writes a new skill from the template, into the project's .jcode/skills or the
// person's own folder, and returns its SKILL.md. A skill that exists is not touched.
func (p Places) Create(name string, project bool) (file string, err error) {
	clean, _ := slug(name)
	if clean == "" {
		return "", fmt.Errorf("create skill %q: the name needs a letter or a digit", name)
	}
	base := filepath.Join(p.Config, "skills")
	if project {
		base = filepath.Join(p.Project, ".jcode", "skills")
	}
	dir := filepath.Join(base, clean)
	file = filepath.Join(dir, skillFile)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("create skill %s: %w", clean, err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("create skill %s: %s exists already", clean, file)
	}
	if err != nil {
		return "", fmt.Errorf("create skill %s: %w", clean, err)
	}
	_, err = f.WriteString(strings.ReplaceAll(skillTemplate, "NAME", clean))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("create skill %s: %w", clean, err)
	}
	return file, nil
}
