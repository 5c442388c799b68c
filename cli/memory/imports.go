package memory

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
	"jcode/notes"
)

// source is a file in which another agent remembers.
type source struct {
	file, agent string
	about       notes.About
	// section is the heading below which its notes are, "" for the whole file.
	section string
}

// maxSources bounds the files that are looked at.
const maxSources = 200

// sources lists the memories of other agents that there are for this project and its user.
func (a Actions) sources() (out []source) {
	if a.Home == "" {
		return nil
	}
	// Claude Code names the folder of a project after its path.
	folder := strings.NewReplacer("/", "-", "\\", "-", ".", "-", ":", "-", "_", "-").Replace(a.Root)
	for _, s := range []source{
		{filepath.Join(a.Home, ".claude", "projects", folder, "memory"), "Claude Code", notes.Project, ""},
		{filepath.Join(a.Home, ".codex", "memories"), "Codex", notes.User, ""},
	} {
		list, err := os.ReadDir(s.file)
		if err != nil {
			continue
		}
		for _, e := range list[:min(len(list), maxSources)] {
			// An index only names the other files.
			if name := e.Name(); strings.HasSuffix(name, ".md") && (name != "MEMORY.md" || len(list) == 1) {
				out = append(out, source{filepath.Join(s.file, name), s.agent, s.about, ""})
			}
		}
	}
	if gemini := filepath.Join(a.Home, ".gemini", "GEMINI.md"); isFile(gemini) {
		out = append(out, source{gemini, "Gemini", notes.User, "## Gemini Added Memories"})
	}
	return out
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// read returns what a file of another agent remembers.
func (s source) read() []notes.New {
	data, err := paths.ReadFile(s.file, 256<<10)
	if err != nil {
		return nil
	}
	content := string(data)
	if s.section != "" {
		_, after, found := strings.Cut(content, s.section)
		if !found {
			return nil
		}
		content, _, _ = strings.Cut(after, "\n## ")
	}
	topic := strings.TrimSuffix(filepath.Base(s.file), ".md")
	if s.section != "" || topic == "MEMORY" {
		topic = "general"
	}
	list := notes.Items(content, topic)
	for i := range list {
		list[i].About, list[i].From = s.about, notes.Origin{Tool: s.agent}
	}
	return list
}

// Others returns what other agents remember, with their names.
func (a Actions) others() (list []notes.New, agents []string) {
	for _, s := range a.sources() {
		got := s.read()
		if len(got) > 0 && (len(agents) == 0 || agents[len(agents)-1] != s.agent) {
			agents = append(agents, s.agent)
		}
		list = append(list, got...)
	}
	return list, agents
}

// ImportOthers makes drafts of what other agents remember.
func (a Actions) ImportOthers(ctx context.Context) (string, error) {
	list, agents := a.others()
	if len(list) == 0 {
		return "no memories of Claude Code, Codex or Gemini were found; /memory import FILE reads a file", nil
	}
	return a.drafted(ctx, list, "the memory of "+strings.Join(agents, ", "))
}

// Fresh returns how many notes of other agents are neither notes nor drafts here, and whose they are.
func (a Actions) Fresh() (n int, agents []string) {
	list, agents := a.others()
	if len(list) == 0 {
		return 0, nil
	}
	return len(a.Notes.Fresh(list...)), agents
}
