package mcpcli

import (
	"context"
	"os"
	"strings"

	pluginscli "jcode/cli/plugins"
	"jcode/internal/proc"
	"jcode/mcp"
	"jcode/tools"
	"jcode/tools/sandbox"
)

// Confiner confines the MCP servers of projects and plugins. It implements mcp.Confiner.
type Confiner struct {
	Box *sandbox.Box // nil without a sandbox
	// Plugin returns how the programs of a plugin run.
	Plugin func(name string) (pluginscli.Rights, bool)
	Trust  tools.Trust
}

// Available implements mcp.Confiner.
func (c Confiner) Available() bool { return c.Box != nil && c.Box.Available() }

// Confine implements mcp.Confiner.
func (c Confiner) Confine(p mcp.Program, spec proc.Spec) (proc.Spec, error) {
	rights := sandbox.Program{Network: p.Network}
	if plugin, ok := c.Plugin(p.Plugin); ok && p.Plugin != "" {
		network, err := c.Trust.Trusted(context.Background(), plugin.Item.More(tools.TrustNetwork))
		rights = plugin.Program
		rights.Network = p.Network || network && err == nil
		spec.Env = append(spec.Env[:len(spec.Env):len(spec.Env)], plugin.Env...)
	}
	if spec.Env == nil {
		spec.Env = os.Environ()
	}
	confined, _, err := c.Box.ConfineProgram(spec, rights)
	return confined, err
}

// Refused implements mcp.Confiner.
func (c Confiner) Refused(p mcp.Program, output string) (right tools.TrustKind, why string) {
	why = c.Box.BlamedProgram(output, 1, sandbox.Program{Network: p.Network})
	switch {
	case why == "":
		return "", ""
	case strings.HasPrefix(why, "it has no network"):
		return tools.TrustNetwork, "it has no network"
	}
	return tools.TrustOutside, "it was denied something outside the project"
}
