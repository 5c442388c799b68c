package mcpcli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/cli/core"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/mcp"
	"jcode/tools"
)

// The words of `/mcp`: those that need a server, those that may name one, and those about
// all tools.
var (
	serverWords = []string{"connect", "disconnect", "reconnect", "tools", "log", "enable", "disable", "approve", "allow", "login", "logout"}
	maybeWords  = []string{"reload"}
	modeWords   = []string{"direct", "deferred", "auto"}
)

// words runs `/mcp WORD NAME`; without words the panel opens.
func (a serverActions) words(ctx context.Context, line string) (notice string, err error) {
	word, name, _ := strings.Cut(strings.TrimSpace(line), " ")
	name = strings.TrimSpace(name)
	switch {
	case slices.Contains(modeWords, word):
		return "MCP tools: " + word, a.mcp.SetToolsMode(word)
	case slices.Contains(maybeWords, word):
		return a.reloadServers(name)
	case slices.Contains(serverWords, word) && name == "":
		return "", fmt.Errorf("name a server: /mcp %s NAME; /mcp alone shows all", word)
	case slices.Contains(serverWords, word):
		return a.serverWord(ctx, word, name)
	}
	if d, err := a.mcp.Server(word); err == nil && name == "" { // a server by its name
		return toolsText(d), nil
	}
	return "", fmt.Errorf("/mcp knows %s; not %q, which is not a server either", strings.Join(slices.Concat(serverWords, maybeWords, modeWords), ", "), word)
}

// showsServer reports whether the words after /mcp only show something of a server.
func showsServer(words string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(words), " ")
	return word == "tools" || word == "log" || !slices.Contains(slices.Concat(serverWords, maybeWords, modeWords), word)
}

// serverWord does something with one server.
func (a serverActions) serverWord(ctx context.Context, word, name string) (notice string, err error) {
	if word == "allow" {
		return a.allow(name)
	}
	d, err := a.mcp.Server(name)
	if err != nil {
		return "", err
	}
	switch word {
	case "connect", "reconnect":
		return word + "ing " + name, a.mcp.Restart(name)
	case "disconnect":
		d, err := a.mcp.Disconnect(name, "the user")
		return fmt.Sprintf("%s is disconnected, %s gone", name, text.Count(d.Removed, "tool")), err
	case "enable", "disable":
		return name + " is " + word + "d", a.mcp.SetEnabled(name, word == "enable")
	case "approve":
		if d.Pending == nil {
			return "nothing of " + name + " waits for approval", nil
		}
		return name + " is approved: " + d.Pending.Line, a.mcp.Approve(name, d.Pending.Hash, true)
	case "login":
		return "signing in to " + name, a.mcp.SignIns().Begin(name)
	case "logout":
		had, err := a.mcp.SignIns().Out(ctx, name)
		if !had {
			return "there was no sign-in to " + name, err
		}
		return "signed out of " + name, err
	case "log":
		return strings.TrimSpace(d.Log + "\n" + d.Stderr), nil
	}
	return toolsText(d), nil
}

// allow gives the programs of a server a further right.
func (a serverActions) allow(words string) (notice string, err error) {
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
func (a serverActions) reloadServers(name string) (string, error) {
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

// complete completes the arguments of /mcp.
func (a serverActions) complete(_ context.Context, typed string) []string {
	word, name, named := strings.Cut(typed, " ")
	if !named {
		return slicex.WithPrefix(slices.Concat(serverWords, maybeWords, modeWords), word)
	}
	if !slices.Contains(serverWords, word) && !slices.Contains(maybeWords, word) {
		return nil
	}
	var out []string
	for _, d := range a.mcp.Snapshot() {
		if strings.HasPrefix(d.Name, strings.TrimSpace(name)) {
			out = append(out, word+" "+d.Name)
		}
	}
	return out
}
