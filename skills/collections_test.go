package skills_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/collections"
	"jcode/skills"
	"jcode/tools"
)

// TestPublicCommandFilesExpand runs each command of the collections with two arguments.
func TestPublicCommandFilesExpand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := collections.Files(t, "commands", ".md", 200)
	for i, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, string(data), w.places.Project, ".claude/commands", fmt.Sprintf("c%d.md", i))
	}
	src := skills.NewCommandFiles(w.places, trustAll{}, &host{asker: &person{answer: tools.AnswerOnce}, files: map[string]string{"first second": "text"}})
	for i, path := range files {
		out, err := find(t, src, fmt.Sprint("c", i)).Run(context.Background(), "first second")
		if err != nil || strings.TrimSpace(out.Prompt) == "" {
			t.Errorf("%s: %.100q %v", path, out.Prompt, err)
		}
	}
	t.Logf("%d commands", len(files))
}

// TestPublicSkillsAreRead reads each skill of the collections.
func TestPublicSkillsAreRead(t *testing.T) {
	t.Parallel()
	files := collections.Files(t, "skills", "SKILL.md", 15)
	for _, path := range files {
		for _, d := range skills.Check(filepath.Dir(path)) {
			if d.Level != skills.Warning {
				t.Errorf("%s: %+v", path, d)
			}
		}
	}
	t.Logf("%d skills", len(files))
}
