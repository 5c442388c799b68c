package mcpcli

import (
	"context"
	"fmt"
	"strings"

	"jcode/cli/core"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/mcp"
	"jcode/tools"
	"jcode/tools/command"
)

// verbs are the words of /mcp.
func (a serverActions) verbs() command.Verbs {
	of := func(run func(ctx context.Context, d mcp.Details) (string, error)) command.Verb {
		return command.Verb{Run: func(ctx context.Context, server string) (string, error) {
			d, err := a.mcp.Server(server)
			if err != nil {
				return "", err
			}
			return run(ctx, d)
		}}
	}
	show := func(text func(d mcp.Details) string) command.Verb {
		return of(func(_ context.Context, d mcp.Details) (string, error) { return text(d), nil })
	}
	restart := func(said string) command.Verb {
		return of(func(_ context.Context, d mcp.Details) (string, error) {
			return said + " " + d.Name, a.mcp.Restart(d.Name)
		})
	}
	enable := func(said string, on bool) command.Verb {
		return of(func(_ context.Context, d mcp.Details) (string, error) {
			return d.Name + " is " + said, a.mcp.SetEnabled(d.Name, on)
		})
	}
	offer := func(mode string) command.Verb {
		return command.Verb{Run: func(context.Context, string) (string, error) { return "MCP tools: " + mode, a.mcp.SetToolsMode(mode) }}
	}
	return Table().Verbs(a.names, command.Deeds{
		"connect":    restart("connecting"),
		"disconnect": of(a.disconnect),
		"reconnect":  restart("reconnecting"),
		"tools":      show(toolsText),
		"log":        show(func(d mcp.Details) string { return strings.TrimSpace(d.Log + "\n" + d.Stderr) }),
		"enable":     enable("enabled", true),
		"disable":    enable("disabled", false),
		"approve":    of(a.approve),
		"allow":      {Run: a.allow, Complete: a.rights},
		"login": of(func(_ context.Context, d mcp.Details) (string, error) {
			return "signing in to " + d.Name, a.mcp.SignIns().Begin(d.Name)
		}),
		"logout":   of(a.logout),
		"reload":   {Run: a.reloadServers},
		"direct":   offer("direct"),
		"deferred": offer("deferred"),
		"auto":     offer("auto"),
	})
}

// named shows the tools of a server.
func (a serverActions) named(_ context.Context, words string) (string, error) {
	d, err := a.mcp.Server(words)
	if err != nil {
		return "", fmt.Errorf("%w, which is not a server either", a.verbs().Unknown("mcp", words))
	}
	return toolsText(d), nil
}

func (a serverActions) disconnect(_ context.Context, d mcp.Details) (string, error) {
	did, err := a.mcp.Disconnect(d.Name, "the user")
	return fmt.Sprintf("%s is disconnected, %s gone", d.Name, text.Count(did.Removed, "tool")), err
}

func (a serverActions) approve(_ context.Context, d mcp.Details) (string, error) {
	if d.Pending == nil {
		return "nothing of " + d.Name + " waits for approval", nil
	}
	return d.Name + " is approved: " + d.Pending.Line, a.mcp.Approve(d.Name, d.Pending.Hash, true)
}

func (a serverActions) logout(ctx context.Context, d mcp.Details) (string, error) {
	had, err := a.mcp.SignIns().Out(ctx, d.Name)
	if !had {
		return "there was no sign-in to " + d.Name, err
	}
	return "signed out of " + d.Name, err
}

// allow gives the programs of a server a further right.
func (a serverActions) allow(_ context.Context, words string) (notice string, err error) {
	name, word, _ := strings.Cut(words, " ")
	right, ok := core.MoreRight(strings.TrimSpace(word))
	if !ok {
		return "", fmt.Errorf("say what: /mcp allow %s network, or /mcp allow %s outside, which is not confined at all", name, name)
	}
	if err := a.mcp.Allow(name, right); err != nil {
		return "", err
	}
	return name + " " + tools.TrustItem{}.More(right).Runs[0], nil
}

// toolsText lists a server's tools and the ones that were left out.
func toolsText(d mcp.Details) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, %s", d.Name, d.State, text.Count(d.Tools, "tool"), text.Count(d.Tokens, "token"))
	if d.Error != "" {
		b.WriteString("\n" + d.Error)
	}
	for _, t := range d.ToolList {
		fmt.Fprintf(&b, "\n%s — %s", t.Name, text.Headline(t.Description))
	}
	for _, s := range d.Skipped {
		fmt.Fprintf(&b, "\n%s: %s", s.Name, s.Why)
	}
	return b.String()
}

// reloadServers reads the files again.
func (a serverActions) reloadServers(_ context.Context, name string) (string, error) {
	r := a.mcp.Reload(name, false)
	if name != "" {
		if _, err := a.mcp.Server(name); err != nil {
			return "", err
		}
	}
	return reloadText(r), nil
}

// reloadText describes what a reload did, grouping the servers by the result.
func reloadText(r mcp.Reloaded) string {
	var lines []string
	for _, change := range []string{"added", "changed", "removed", "restarted", "started", "retried", "needs_approval", "invalid", "unchanged"} {
		var names []string
		for _, c := range r.Servers {
			if c.Change == change {
				names = append(names, c.Name)
			}
		}
		if len(names) > 0 {
			lines = append(lines, strings.ReplaceAll(change, "_", " ")+": "+strings.Join(names, ", "))
		}
	}
	for _, f := range r.Files {
		if f.Error != "" {
			lines = append(lines, f.Error)
		}
	}
	if len(lines) == 0 {
		return "no MCP servers"
	}
	return strings.Join(lines, "\n")
}

// names proposes servers.
func (a serverActions) names(context.Context, string) []string {
	return slicex.Map(a.mcp.Snapshot(), func(d mcp.Details) string { return d.Name })
}

// rights proposes servers with what they can be allowed.
func (a serverActions) rights(context.Context, string) (out []string) {
	for _, d := range a.mcp.Snapshot() {
		out = append(out, d.Name+" network", d.Name+" outside")
	}
	return out
}
