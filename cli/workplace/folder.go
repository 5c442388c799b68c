package workplacecli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"jcode/agent/event"
	"jcode/internal/launch"
	"jcode/internal/text"
	"jcode/tools"
)

// Folder says once to each session's model where it works: the folder one level deep, branch and changed files,
// build files, and programs for them. It is gathered beside what else a prompt waits for, and nothing waits long for it.
type Folder struct {
	Folder string // where relative paths begin
	Top    string // of the repository
	Home   string
	Plain  bool // the folder belongs to no repository
	Git    launch.Git
	Denied func(path string) bool // a rule keeps a file from being read

	mu      sync.Mutex
	unknown bool        // the role in force may not read
	found   chan string // what is being gathered
	early   bool        // it was begun beside the first prompt
}

// The limits of what is said.
const (
	folderWait  = 250 * time.Millisecond
	mostEntries = 1000 // that are looked at
	mostNamed   = 40
	mostChanged = 10
	longestName = 60
)

// scoped notes whether the role in force may read.
func (s *Folder) scoped(scope *tools.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = scope.Missing(tools.CapRead) != 0
}

// begin starts to gather beside the first prompt.
func (s *Folder) begin(event.TurnStart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.early {
		s.early, s.found = true, s.start()
	}
}

// start gathers in the background, for a limited time.
func (s *Folder) start() chan string {
	found := make(chan string, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), folderWait)
		defer cancel()
		found <- s.gather(ctx)
	}()
	return found
}

// said returns what was gathered, each time anew.
func (s *Folder) said(ctx context.Context) string {
	s.mu.Lock()
	found, unknown := s.found, s.unknown
	s.found = nil
	s.mu.Unlock()
	if unknown {
		return ""
	}
	if found == nil {
		found = s.start()
	}
	select {
	case text := <-found:
		return text
	case <-ctx.Done():
		return ""
	}
}

// gather looks around. Names are those of files, so they are cut and cleaned.
func (s *Folder) gather(ctx context.Context) string {
	changes := make(chan string, 1)
	go func() { changes <- s.changes(ctx) }()
	names, more := s.names()
	build, programs := buildFiles(names)
	var parts []string
	if s.Folder != s.Home && len(names) > 0 {
		parts = append(parts, "Here: "+listNames(names, mostNamed, more)+".")
	}
	if len(build) > 0 {
		parts = append(parts, "Build files: "+strings.Join(build, ", ")+".")
	}
	if got := <-changes; got != "" {
		parts = append(parts, got)
	}
	if programs = s.installed(programs); len(programs) > 0 {
		parts = append(parts, "Programs found: "+strings.Join(programs, ", ")+".")
	}
	return strings.Join(parts, " ")
}

// names returns what is in the folder, without what a rule hides, and whether there is more.
func (s *Folder) names() (names []string, more bool) {
	dir, err := os.Open(s.Folder)
	if err != nil {
		return nil, false
	}
	defer func() { _ = dir.Close() }() // it is only read
	entries, _ := dir.ReadDir(mostEntries)
	for _, e := range entries {
		name := e.Name()
		if name == ".git" || s.Denied(filepath.Join(s.Folder, name)) {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, len(entries) == mostEntries
}

// changes says the branch and which files differ from the last commit, as far as git may look and is quick.
func (s *Folder) changes(ctx context.Context) string {
	if s.Plain || s.Git.Vouched(s.Folder) != nil {
		return ""
	}
	cmd, err := s.Git.Command(ctx, s.Folder, "status", "--porcelain", "--branch", "-z", "--ignore-submodules=all")
	if err != nil {
		return ""
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	branch, changed := "", []string{}
	renamed := false
	for field := range bytes.SplitSeq(out, []byte{0}) {
		line := string(field)
		switch {
		case renamed: // the name before
			renamed = false
		case strings.HasPrefix(line, "## "):
			branch, _, _ = strings.Cut(strings.TrimPrefix(line[3:], "No commits yet on "), "...")
		case len(line) > 3:
			renamed = line[0] == 'R' || line[0] == 'C'
			if name := line[3:]; !s.Denied(filepath.Join(s.Top, name)) {
				changed = append(changed, name)
			}
		}
	}
	if branch == "" {
		return ""
	}
	said := "Branch " + cleanName(branch)
	if len(changed) == 0 {
		return said + ", nothing changed."
	}
	return said + ", " + text.Count(len(changed), "changed file") + ": " + listNames(changed, mostChanged, false) + "."
}

// listNames writes names in one line.
func listNames(names []string, most int, more bool) string {
	shown := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		shown = append(shown, cleanName(name))
	}
	said := strings.Join(shown, ", ")
	switch left := len(names) - len(shown); {
	case more:
		said += " and many more"
	case left > 0:
		said += " and " + strconv.Itoa(left) + " more"
	}
	return said
}

func cleanName(name string) string {
	return text.Ellipsis(strings.Join(strings.Fields(text.Visible(name)), " "), longestName)
}

// builds are the files that say how a project is built, with the programs for them.
func builds() []struct{ file, programs string } {
	return []struct{ file, programs string }{
		{"go.mod", "go"},
		{"package.json", "node npm pnpm yarn bun"},
		{"pyproject.toml", "python3 uv pytest"},
		{"requirements.txt", "python3 uv pytest"},
		{"setup.py", "python3 pytest"},
		{"Cargo.toml", "cargo"},
		{"pom.xml", "mvn java"},
		{"build.gradle", "gradle java"},
		{"build.gradle.kts", "gradle java"},
		{"Makefile", "make"},
		{"CMakeLists.txt", "cmake"},
		{"justfile", "just"},
		{"Gemfile", "ruby bundle"},
		{"composer.json", "php composer"},
		{"mix.exs", "mix"},
		{"Dockerfile", "docker podman"},
		{"compose.yaml", "docker podman"},
		{"docker-compose.yml", "docker podman"},
	}
}

// buildFiles returns the build files among names, and the programs that may be of use here.
func buildFiles(names []string) (files, programs []string) {
	for _, b := range builds() {
		if slices.Contains(names, b.file) {
			files = append(files, b.file)
			programs = append(programs, strings.Fields(b.programs)...)
		}
	}
	programs = append(programs, "rg", "jq", "gh")
	slices.Sort(programs)
	return files, slices.Compact(programs)
}

// installed returns the programs that are there.
func (s *Folder) installed(programs []string) []string {
	return slices.DeleteFunc(programs, func(name string) bool {
		_, err := s.Git.Programs.Find(name)
		return err != nil
	})
}
