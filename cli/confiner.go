package cli

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

// serverConfiner confines the MCP servers of projects and plugins. It implements mcp.Confiner.
type serverConfiner struct {
	box     *sandbox.Box // nil without a sandbox
	bundles *pluginscli.Bundles
	trust   tools.Trust
}

// Available implements mcp.Confiner.
func (c serverConfiner) Available() bool { return c.box != nil && c.box.Available() }

// Confine implements mcp.Confiner.
func (c serverConfiner) Confine(p mcp.Program, spec proc.Spec) (proc.Spec, error) {
	rights := sandbox.Program{Network: p.Network}
	if plugin, ok := c.bundles.Plugin(p.Plugin); ok && p.Plugin != "" {
		network, err := c.trust.Trusted(context.Background(), plugin.Item.More(tools.TrustNetwork))
		rights = plugin.Program
		rights.Network = p.Network || network && err == nil
		spec.Env = append(spec.Env[:len(spec.Env):len(spec.Env)], plugin.Env...)
	}
	if spec.Env == nil {
		spec.Env = os.Environ()
	}
	confined, _, err := c.box.ConfineProgram(spec, rights)
	return confined, err
}

// Refused implements mcp.Confiner.
func (c serverConfiner) Refused(p mcp.Program, output string) (right tools.TrustKind, why string) {
	why = c.box.BlamedProgram(output, 1, sandbox.Program{Network: p.Network})
	switch {
	case why == "":
		return "", ""
	case strings.HasPrefix(why, "it has no network"):
		return tools.TrustNetwork, "it has no network"
	}
	return tools.TrustOutside, "it was denied something outside the project"
}
