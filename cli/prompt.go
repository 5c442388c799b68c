package cli

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

// promptParts are the parts of the system prompt, in order. It is built once per session: the same parts
// produce the same bytes.
type promptParts struct {
	cwd     string
	project string
	addDirs []string
	// sections come last: instructions, skills, MCP servers.
	sections []string
	extra    string // --append-system-prompt
	headless bool   // a single run
}

// build writes the system prompt for a role.
func (p promptParts) build(role agent.Role) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(systemText))
	if role.Prompt != "" {
		fmt.Fprintf(&b, "\n\n# Role: %s\n%s", role.Name, strings.TrimSpace(role.Prompt))
	}
	fmt.Fprintf(&b, "\n\n# Environment\nWorking folder (relative paths start here): %s\n", p.cwd)
	if p.project != p.cwd {
		fmt.Fprintf(&b, "Project root (everything below it is open to you): %s\n", p.project)
	}
	for _, dir := range p.addDirs {
		fmt.Fprintf(&b, "Also open to you: %s\n", dir)
	}
	_, err := os.Stat(filepath.Join(p.project, ".git"))
	fmt.Fprintf(&b, "Git repository: %s\nSystem: %s/%s\n", yesNo(err == nil), runtime.GOOS, runtime.GOARCH)
	if p.headless {
		b.WriteString("Nobody answers questions during this run: decide yourself, and say at the end what you decided.\n")
	}
	for _, s := range p.sections {
		if s = strings.TrimSpace(s); s != "" {
			b.WriteString("\n" + s + "\n")
		}
	}
	if p.extra != "" {
		b.WriteString("\n" + strings.TrimSpace(p.extra) + "\n")
	}
	return strings.TrimSpace(b.String())
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
