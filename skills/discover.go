package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/paths"
)

const (
	skillFile = "SKILL.md"
	// The limits of a search below one source.
	maxDepth   = 4    // folders below the source
	maxFolders = 2000 // folders looked into
	maxSkills  = 1000 // skills in all
)

// Places says where skills and commands are looked for. Empty fields are left out.
type Places struct {
	// Config is jcode's own configuration folder.
	Config string
	// Home is the person's home folder, for ~/.claude and ~/.agents.
	Home string
	// Folders are additional folders from the config, absolute.
	Folders []string
	// Plugins returns the folders of the plugins that the person accepted. It is called at each
	// search. Nil means none.
	Plugins func() []Plugin
	// Project is the project's root.
	Project string
	// Denied reports whether a file must not be read, given its resolved path. Nil denies none.
	Denied func(path string) bool
}

// Plugin is what a plugin brings for this room: absolute folders of skills and commands.
type Plugin struct {
	Name             string
	Skills, Commands []string
}

func (p Places) plugins() []Plugin {
	if p.Plugins == nil {
		return nil
	}
	return p.Plugins()
}

var errAbsent = errors.New("leads out of the project, or to what may not be read: it is ignored")

// absent returns the diagnostic for a file or folder that admits refuses.
func absent(path string) Diagnostic {
	return Diagnostic{File: path, Level: Fault, Text: errAbsent.Error(), Cure: "put the file itself into the project"}
}

// admits returns errAbsent if a file or folder of a project's source leads out of the project, or
// to what the person's rules deny.
func (p Places) admits(src Source, path string) error {
	if !src.Project {
		return nil
	}
	real, err := paths.Inside(p.Project, path)
	if err != nil || p.Denied != nil && p.Denied(real) {
		return errAbsent
	}
	return nil
}

// read reads a file of at most maxFile bytes; a file of the project only within the project.
func (p Places) read(src Source, file string) ([]byte, error) {
	if !src.Project {
		return readFile(file)
	}
	if err := p.admits(src, file); err != nil {
		return nil, err
	}
	return paths.ReadInside(p.Project, file, maxFile)
}

// sources lists the folders of skills. If two skills have the same name, the later one wins.
func (p Places) sources() []Source {
	list := []Source{{Label: "builtin"}}
	add := func(base, dir, label string, project bool) {
		if base != "" {
			list = append(list, Source{Label: label, Dir: filepath.Join(base, dir), Project: project})
		}
	}
	for _, pl := range p.plugins() {
		for _, dir := range pl.Skills {
			list = append(list, Source{Label: "plugin " + pl.Name, Dir: dir, Plugin: pl.Name, lone: true})
		}
	}
	add(p.Config, "skills", "user", false)
	add(p.Home, ".claude/skills", "~/.claude", false)
	add(p.Home, ".agents/skills", "~/.agents", false)
	for _, dir := range p.Folders {
		list = append(list, Source{Label: "config", Dir: filepath.Clean(dir), lone: true})
	}
	if p.Project != p.Home { // else they are the person's own, already listed
		add(p.Project, ".agents/skills", "project .agents", true)
		add(p.Project, ".claude/skills", "project .claude", true)
	}
	add(p.Project, ".jcode/skills", "project .jcode", true)
	return list
}

// stamp identifies the state of a file or folder, to see whether it has changed.
type stamp struct {
	mod  time.Time
	size int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	s := stamp{mod: info.ModTime()}
	if !info.IsDir() {
		s.size = info.Size()
	}
	return s
}

// scan is one search through the sources.
type scan struct {
	places Places
	// reuse holds entries of the last scan by file, with the stamp they were read at.
	reuse map[string]read

	found   []read
	folders map[string]stamp // every folder that was looked into, or that is missing
	notes   []Diagnostic
	seen    map[string]bool // resolved folders, so that a link's loop ends
	visited int
	full    bool // there are more than maxSkills
}

// read is an entry with the state of its file when it was read.
type read struct {
	Entry
	stamp stamp
	real  string // the skill's folder with links resolved
}

// run searches all sources in order, each folder once.
func (s *scan) run(sources []Source) {
	s.folders = map[string]stamp{}
	roots := map[string]bool{}
	for _, src := range sources {
		if src.Dir == "" {
			s.found = append(s.found, builtins(src)...)
			continue
		}
		s.folders[src.Dir] = stampOf(src.Dir)
		real, err := filepath.EvalSymlinks(src.Dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				s.note(src.Dir, fmt.Sprintf("cannot be read: %v", err), "check its permissions, and where its links lead")
			} else if src.lone {
				s.note(src.Dir, "does not exist", "make it, or take it out of the config's skills.folders")
			}
			continue
		}
		if err := s.places.admits(src, src.Dir); err != nil {
			s.notes = append(s.notes, absent(src.Dir))
			continue
		}
		if roots[real] {
			continue
		}
		roots[real] = true
		s.seen, s.visited = map[string]bool{}, 0
		s.folder(src, src.Dir, real, 0)
	}
}

// folder looks for a SKILL.md in dir, and if there is none, below dir. real is dir with its links
// resolved.
func (s *scan) folder(src Source, dir, real string, depth int) {
	if s.seen[real] {
		return
	}
	s.seen[real] = true
	if s.visited++; s.visited > maxFolders {
		if s.visited == maxFolders+1 {
			s.note(src.Dir, fmt.Sprintf("contains more than %d folders; the rest is left out", maxFolders), "keep skills close to the top of it")
		}
		return
	}
	if depth > 0 {
		s.folders[dir] = stampOf(dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.note(dir, fmt.Sprintf("cannot be read: %v", err), "check its permissions")
		return
	}
	if name := skillIn(entries); name != "" {
		if depth > 0 || src.lone {
			s.skill(src, filepath.Join(dir, name), real)
			return
		}
		s.note(filepath.Join(dir, name), "is directly in a folder of skills", "move it into a folder of its own")
	}
	if depth == maxDepth {
		return
	}
	for _, e := range entries {
		if skipFolder(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			s.folder(src, path, filepath.Join(real, e.Name()), depth+1)
		case e.Type()&fs.ModeSymlink != 0 && isDir(path):
			if err := s.places.admits(src, path); err != nil {
				s.notes = append(s.notes, absent(path))
			} else if target, err := filepath.EvalSymlinks(path); err == nil {
				s.folder(src, path, target, depth+1)
			}
		}
	}
}

// skillIn returns the name of the SKILL.md among a folder's entries, in whatever case.
func skillIn(entries []os.DirEntry) string {
	other := ""
	for _, e := range entries {
		switch {
		case e.IsDir():
		case e.Name() == skillFile:
			return skillFile
		case strings.EqualFold(e.Name(), skillFile):
			other = e.Name()
		}
	}
	return other
}

// skipFolder reports whether a folder never holds skills: hidden ones, and those of package
// managers.
func skipFolder(name string) bool {
	return name == "node_modules" || strings.HasPrefix(name, ".")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// skill reads one SKILL.md, unless it is unchanged.
func (s *scan) skill(src Source, file, real string) {
	if len(s.found) >= maxSkills {
		if !s.full {
			s.full = true
			s.note(src.Dir, fmt.Sprintf("more than %d skills in all; the rest is left out", maxSkills), "remove some, or a folder of them")
		}
		return
	}
	if err := s.places.admits(src, file); err != nil {
		s.notes = append(s.notes, absent(file))
		return
	}
	now := stampOf(file)
	old, ok := s.reuse[file]
	if !ok || old.stamp != now || old.Source != src {
		old = read{Entry: load(s.places, src, file), stamp: now}
	}
	old.real = real
	s.found = append(s.found, old)
}

// load reads and parses one SKILL.md.
func load(places Places, src Source, file string) Entry {
	data, err := places.read(src, file)
	if err != nil {
		name, _ := slug(filepath.Base(filepath.Dir(file)))
		return Entry{
			Skill: Skill{Name: name, Dir: filepath.Dir(file), File: file, Source: src},
			State: Broken,
			Diagnostics: []Diagnostic{{
				File: file, Level: Fault, Text: err.Error(), Cure: "check the file, its size and its permissions",
			}},
		}
	}
	return parse(data, file, src)
}

// readFile reads a regular file of at most maxFile bytes.
func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	f, err := paths.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("has more than %d KB", maxFile>>10)
	}
	return data, nil
}

func (s *scan) note(file, text, cure string) {
	s.notes = append(s.notes, Diagnostic{File: file, Level: Warning, Text: text, Cure: cure})
}

// Check returns all problems of a skill, given its folder or SKILL.md, or of all skills below a
// folder.
func Check(path string) []Diagnostic {
	if !isDir(path) {
		return Read(path).Diagnostics
	}
	if entries, err := os.ReadDir(path); err == nil && skillIn(entries) != "" {
		return Read(path).Diagnostics
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	s := scan{}
	s.run([]Source{{Label: "named", Dir: path, lone: true}})
	out := s.notes
	for _, e := range s.found {
		out = append(out, e.Diagnostics...)
	}
	if len(s.found) == 0 {
		out = append(out, Diagnostic{File: path, Level: Fault, Text: "contains no skill", Cure: "a skill is a folder with a " + skillFile})
	}
	return out
}

// Read reads one skill, given its folder or SKILL.md, with all its problems.
func Read(path string) Entry {
	file := path
	if isDir(path) {
		file = filepath.Join(path, skillFile)
		if entries, err := os.ReadDir(path); err == nil {
			if name := skillIn(entries); name != "" {
				file = filepath.Join(path, name)
			}
		}
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return load(Places{}, Source{Label: "named", Dir: filepath.Dir(file)}, file)
}
