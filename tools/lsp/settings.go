package lsp

import (
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/shellword"
	"jcode/internal/text"
)

// Merge fills in a configured server from the known one with its name.
func Merge(s Server) Server {
	s.Own = true
	for _, k := range known() {
		if k.Name != s.Name {
			continue
		}
		s.Own = len(s.Files) > 0
		if len(s.Command) == 0 {
			s.Command = k.Command
		}
		if len(s.Files) == 0 {
			s.Files = k.Files
		}
		if len(s.Roots) == 0 {
			s.Roots = k.Roots
		}
		s.Settings = over(k.Settings, s.Settings)
		s.Whole, s.Python, s.Interpreter, s.OpenOnly = k.Whole, k.Python, k.Interpreter, k.OpenOnly
	}
	return s
}

// over returns settings in which those of a person replace the given ones, key by key.
func over(given, own any) any {
	base, isObject := given.(settings)
	theirs, too := own.(settings)
	switch {
	case own == nil:
		return given
	case !isObject || !too:
		return own
	}
	out := settings{}
	for key, value := range base {
		out[key] = value
	}
	for key, value := range theirs {
		out[key] = over(base[key], value)
	}
	return out
}

// line returns the command line of a server, for rules and questions. A program of the project is named by its
// path, so that a lasting yes holds for its present content only.
func (s Server) line(from program) string {
	if !from.own {
		return text.Visible(strings.Join(s.Command, " "))
	}
	return shellword.Join(append([]string{from.path}, s.Command[1:]...))
}

// python finds the project's Python environment for a file or folder: the nearest one upwards in the workspace.
func (p *finder) python(path string) (environment, interpreter string) {
	for dir := range upwards(path, p.folderOf(path)) {
		for _, name := range []string{".venv", "venv", "env"} {
			environment = filepath.Join(dir, name)
			if _, err := os.Stat(filepath.Join(environment, "pyvenv.cfg")); err != nil {
				continue
			}
			for _, file := range []string{"bin/python", "Scripts/python.exe"} {
				interpreter = filepath.Join(environment, filepath.FromSlash(file))
				if _, err := os.Stat(interpreter); err == nil {
					return environment, interpreter
				}
			}
		}
	}
	return "", ""
}
