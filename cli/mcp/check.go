package mcpcli

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
)

// serverWait is how long configured MCP servers may take to connect here.
const serverWait = 15 * time.Second

// Check waits for the configured MCP servers to connect, as a start would, and reports how they are.
func Check(ctx context.Context, servers *mcp.Manager, r *health.Report) {
	ctx, cancel := context.WithTimeout(ctx, serverWait)
	defer cancel()
	servers.WaitReady(ctx)
	list := servers.Snapshot()
	for _, s := range list {
		checkServer(s, r)
	}
	if len(list) > 0 {
		r.OK("mcp", "what a server started ends with jcode, however that ends: %s", proc.Reach())
	}
	if slices.ContainsFunc(list, func(s mcp.Details) bool { return s.Transport != mcpconfig.Stdio }) {
		if err := servers.SignIns().Trouble(); err != nil {
			r.Warn("mcp", "unlock it; until then a new sign-in is kept in a file", "%v", err)
		} else {
			r.OK("mcp", "sign-ins to servers are kept in %s", servers.SignIns().Where())
		}
	}
	for _, w := range servers.Warnings() {
		r.Warn("mcp", "", "%s", w)
	}
}

func checkServer(s mcp.Details, r *health.Report) {
	switch {
	case s.State == mcp.StateConnected:
		r.OK("mcp", "%s: connected, %s", s.Name, text.Count(s.Tools, "tool"))
	case s.Pending != nil:
		r.Warn("mcp", "start jcode here and look at /mcp, or use --trust", "%s waits for approval: %s", s.Name, s.Line)
	case !s.Enabled:
		r.OK("mcp", "%s: switched off", s.Name)
	case s.State == mcp.StateNeedsSignIn:
		r.Warn("mcp", "jcode mcp login "+s.Name, "%s: %s", s.Name, s.Error)
	case s.State == mcp.StateConnecting:
		r.Warn("mcp", "see its log: "+s.Log, "%s: not connected after %s", s.Name, serverWait)
	default:
		why := cmp.Or(s.Error, s.Reason, string(s.State))
		advice := missingProgram(s)
		if s.Keyring {
			advice = "unlock the keyring"
		}
		r.Fail("mcp", advice, console.ExitUsage, "%s: %s", s.Name, why)
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
