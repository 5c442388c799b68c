package lsp

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/internal/paths"
	"jcode/internal/proc"
)

// surroundings are what the servers of a session share: where they work, what may be shown of it, how long they
// are waited for. An instance knows them, and nothing of who started it or of the others.
type surroundings struct {
	root, start string   // the project's top folder, and the one against which relative paths are resolved
	roots       []string // the workspace's folders
	denied      func(path string) bool
	env         func() []string
	finder      *finder
	touched     *touched
	life        context.Context // ends with the session
	work        *sync.WaitGroup // the goroutines that end with it
	patience    time.Duration
	loading     time.Duration
	version     string
	steered     func(server string, paths []string)
}

// shown returns a path for the model.
func (a *surroundings) shown(path string) string {
	for _, dir := range a.roots {
		if paths.Within(dir, path) {
			if rel, err := filepath.Rel(a.start, path); err == nil && paths.Within(a.root, path) {
				return paths.Escape(filepath.ToSlash(rel))
			}
		}
	}
	return paths.Escape(filepath.ToSlash(path))
}

// denies reports whether a rule keeps a file from being read.
func (a *surroundings) denies(path string) bool { return a.denied != nil && a.denied(path) }

// wait is how long the answer to a change is waited for.
func (a *surroundings) wait() time.Duration { return cmp.Or(a.patience, waitLimit) }

// settingsFor returns the settings for a file or folder: those of the server and, for Python, the interpreter of
// its environment.
func (a *surroundings) settingsFor(s Server, path string) any {
	if s.Interpreter == "" {
		return s.Settings
	}
	_, interpreter := a.finder.python(path)
	if interpreter == "" {
		return s.Settings
	}
	var found any = interpreter
	keys := strings.Split(s.Interpreter, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		found = settings{keys[i]: found}
	}
	return over(found, s.Settings)
}

// environment returns a server's environment: the person's variables without keys, the project's Python
// environment, and the variables that its entry sets.
func (a *surroundings) environment(s Server, root string) []string {
	set := map[string]string{}
	if s.Python {
		if environment, _ := a.finder.python(root); environment != "" {
			set["VIRTUAL_ENV"] = environment
		}
	}
	for name, value := range s.Env {
		set[name] = value
	}
	return proc.CommandEnv(a.env(), proc.EnvRules{Set: set})
}
