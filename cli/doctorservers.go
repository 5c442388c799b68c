package cli

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"jcode/cli/console"
	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
)

// serverWait is how long configured MCP servers may take to connect here.
const serverWait = 15 * time.Second

// servers connects the configured MCP servers, as a start would.
func (d *doctor) servers(ctx context.Context) {
	servers := d.live
	if servers == nil {
		a, err := newApp(ctx, d.flags, d.std)
		if err != nil {
			return // reported by an earlier check
		}
		defer a.close()
		servers = a.mcp
		servers.Start()
	}
	ctx, cancel := context.WithTimeout(ctx, serverWait)
	defer cancel()
	servers.WaitReady(ctx)
	list := servers.Snapshot()
	for _, s := range list {
		d.server(s)
	}
	if len(list) > 0 {
		d.ok("mcp", "what a server started ends with jcode, however that ends: %s", proc.Reach())
	}
	if slices.ContainsFunc(list, func(s mcp.Details) bool { return s.Transport != mcpconfig.Stdio }) {
		if err := servers.SignIns().Trouble(); err != nil {
			d.warn("mcp", "unlock it; until then a new sign-in is kept in a file", "%v", err)
		} else {
			d.ok("mcp", "sign-ins to servers are kept in %s", servers.SignIns().Where())
		}
	}
	for _, w := range servers.Warnings() {
		d.warn("mcp", "", "%s", w)
	}
}

func (d *doctor) server(s mcp.Details) {
	switch {
	case s.State == mcp.StateConnected:
		d.ok("mcp", "%s: connected, %s", s.Name, text.Count(s.Tools, "tool"))
	case s.Pending != nil:
		d.warn("mcp", "start jcode here and look at /mcp, or use --trust", "%s waits for approval: %s", s.Name, s.Line)
	case !s.Enabled:
		d.ok("mcp", "%s: switched off", s.Name)
	case s.State == mcp.StateNeedsSignIn:
		d.warn("mcp", "jcode mcp login "+s.Name, "%s: %s", s.Name, s.Error)
	case s.State == mcp.StateConnecting:
		d.warn("mcp", "see its log: "+s.Log, "%s: not connected after %s", s.Name, serverWait)
	default:
		why := cmp.Or(s.Error, s.Reason, string(s.State))
		advice := missingProgram(s)
		if s.Keyring {
			advice = "unlock the keyring"
		}
		d.fail("mcp", advice, console.ExitUsage, "%s: %s", s.Name, why)
	}
}

// missingProgram says what to install when a server's program is missing.
func missingProgram(s mcp.Details) string {
	if s.Target.Command == "" {
		return "check its url"
	}
	if _, err := exec.LookPath(s.Target.Command); err == nil {
		return "see its log: " + s.Log
	}
	return howToInstall(s.Target.Command)
}

// howToInstall says where to get a missing program.
func howToInstall(command string) string {
	switch program := filepath.Base(command); program {
	case "npx", "node", "npm":
		return "install Node.js, which includes " + program
	case "uvx", "uv":
		return "install uv, which includes " + program
	default:
		return "install " + program + ", or correct the command"
	}
}
