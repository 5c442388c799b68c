// Package eval owns how tasks are tried out: folders with a prompt and a command that checks what came of it, run
// several times with one or more set-ups, and what the counts mean; `jcode eval` (Cmd in command.go, the first to read). Jcode
// is one of the programs that it starts: it must not know how jcode is wired.
package eval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
)

// Task is a folder with task.json, and the files that a run begins with in its folder files.
type Task struct {
	Name   string `json:"-"`
	Folder string `json:"-"`
	// Prompt is what the agent is told.
	Prompt string `json:"prompt"`
	// Check is a command that sh runs afterwards in the folder of the run; it succeeds if the task is done. TASK is the
	// task's own folder, so that what it needs can be kept from the agent.
	Check string `json:"check"`
	// Setup is a command that sh runs before, such as one that installs dependencies.
	Setup string `json:"setup"`
	// Repository is cloned instead of files, at a commit.
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	// Timeout bounds the agent, as in "10m" (also the default).
	Timeout string `json:"timeout"`

	limit time.Duration
}

// maxTask bounds task.json.
const maxTask = 1 << 20

// Read reads the tasks of a folder: one, or each folder in it that has a task.json, by name.
func Read(folder string) ([]Task, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(folder, "task.json")); err == nil {
		t, err := readTask(folder)
		return []Task{t}, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []Task
	for _, e := range entries {
		dir := filepath.Join(folder, e.Name())
		if _, err := os.Stat(filepath.Join(dir, "task.json")); err != nil {
			continue
		}
		t, err := readTask(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no task: a task is a folder with task.json", folder)
	}
	slices.SortFunc(out, func(a, b Task) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func readTask(dir string) (Task, error) {
	file := filepath.Join(dir, "task.json")
	t := Task{Name: filepath.Base(dir), Folder: dir}
	data, err := paths.ReadFile(file, maxTask)
	if err != nil {
		return t, err
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	t.limit, err = time.ParseDuration(cmp.Or(t.Timeout, "10m"))
	switch {
	case err != nil || t.limit <= 0:
		return t, fmt.Errorf(`%s: timeout: a duration such as "10m"`, file)
	case strings.TrimSpace(t.Prompt) == "":
		return t, fmt.Errorf("%s: prompt is missing", file)
	case strings.TrimSpace(t.Check) == "":
		return t, fmt.Errorf("%s: check is missing: a command that succeeds if the task is done", file)
	case t.Commit != "" && t.Repository == "":
		return t, fmt.Errorf("%s: commit without repository", file)
	}
	return t, nil
}

// prepare makes the folder that a run begins with.
func (t Task) prepare(dir string, clone func(from, commit, dir string) error) error {
	if t.Repository != "" {
		from := t.Repository
		if !strings.Contains(from, ":") && !filepath.IsAbs(from) {
			from = filepath.Join(t.Folder, from)
		}
		return clone(from, t.Commit, dir)
	}
	from := filepath.Join(t.Folder, "files")
	if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(dir, 0o755)
	}
	return os.CopyFS(dir, os.DirFS(from))
}
