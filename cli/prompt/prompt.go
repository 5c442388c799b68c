// Package prompt writes what the model is told first: system.md, the role, where it works, and what the parts of jcode add.
package prompt

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"jcode/agent"
)

//go:embed system.md
var systemText string

// Parts are the parts of the system prompt, in order. It is built once per session: the same parts
// produce the same bytes.
type Parts struct {
	Cwd     string
	Project string
	AddDirs []string
	// Sections come last: instructions, skills, MCP servers.
	Sections []string
	Extra    string // --append-system-prompt
	Headless bool   // a single run
}

// Build writes the system prompt for a role.
func (p Parts) Build(role agent.Role) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(systemText))
	if role.Prompt != "" {
		fmt.Fprintf(&b, "\n\n# Role: %s\n%s", role.Name, strings.TrimSpace(role.Prompt))
	}
	fmt.Fprintf(&b, "\n\n# Environment\nWorking folder (relative paths start here): %s\n", p.Cwd)
	if p.Project != p.Cwd {
		fmt.Fprintf(&b, "Project root (everything below it is open to you): %s\n", p.Project)
	}
	for _, dir := range p.AddDirs {
		fmt.Fprintf(&b, "Also open to you: %s\n", dir)
	}
	_, err := os.Stat(filepath.Join(p.Project, ".git"))
	fmt.Fprintf(&b, "Git repository: %s\nSystem: %s/%s\n", yesNo(err == nil), runtime.GOOS, runtime.GOARCH)
	if p.Headless {
		b.WriteString("Nobody answers questions during this run: decide yourself, and say at the end what you decided.\n")
	}
	for _, s := range p.Sections {
		if s = strings.TrimSpace(s); s != "" {
			b.WriteString("\n" + s + "\n")
		}
	}
	if p.Extra != "" {
		b.WriteString("\n" + strings.TrimSpace(p.Extra) + "\n")
	}
	return strings.TrimSpace(b.String())
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
