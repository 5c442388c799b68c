package manifest

import (
	"strings"

	"jcode/internal/shellword"
)

// Rights describes in words what is declared, one line for each kind.
func (p *Permissions) Rights() []string {
	if p.Empty() {
		return []string{"may only compute: no files, no network, no commands, no tools"}
	}
	var out []string
	add := func(what string, of []string) {
		if len(of) > 0 {
			out = append(out, what+strings.Join(of, ", "))
		}
	}
	add("may read: ", files(p.FSRead))
	add("may read and write: ", files(p.FSWrite))
	if p.Network != nil {
		add("may reach over the network ("+strings.Join(p.Network.Methods, ", ")+"): ", p.Network.Hosts)
	}
	var commands []string
	for _, words := range p.Exec {
		commands = append(commands, shellword.Join(words)+" …")
	}
	add("may run the commands that begin with: ", commands)
	add("may call the tools: ", p.Intents)
	add("may call the tools of MCP servers: ", p.MCP)
	add("may read the environment variables: ", p.Env)
	add("may use any tool that needs only: ", p.Capabilities.Names())
	add("gets the events: ", p.Events)
	if p.MCPAdmin {
		out = append(out, "may add, change and remove MCP servers")
	}
	if len(out) == 0 { // keys without values
		out = append(out, "may only compute: what it declares is empty")
	}
	return out
}

// files describes in words which files globs cover.
func files(globs []string) []string {
	var out []string
	for _, g := range globs {
		switch base, whole := strings.CutSuffix(g, "/**"); {
		case g == "**" || g == "**/*":
			return []string{"every file of the project"}
		case whole && !strings.ContainsAny(base, `*?[{\`):
			out = append(out, "everything in "+base)
		default:
			out = append(out, g)
		}
	}
	return out
}
