package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/proc"
	"jcode/mcp/config"
	"jcode/tools"
)

// Program is a server of others, as it is confined.
type Program struct {
	// Plugin names the plugin that brought it, "" for the project.
	Plugin string
	// Network lets it use the network.
	Network bool
}

// Confiner starts the servers of others with fewer rights.
type Confiner interface {
	// Confine returns what to start instead of spec.
	Confine(p Program, spec proc.Spec) (proc.Spec, error)
	// Available reports whether this machine can do that.
	Available() bool
	// Refused says what the output of a program that p describes shows to be refused to it: the right that it
	// needs and the reason, or "".
	Refused(p Program, output string) (right tools.TrustKind, why string)
}

// Rights is how the programs of an entry run.
type Rights struct {
	Program
	// Confined says that they run confined. Old says that they don't because they were approved before that;
	// Free, because a person allowed it.
	Confined, Old, Free bool

	name     string
	confiner Confiner
}

// rights returns how the programs of an entry run: those of a project or a plugin are confined.
func (a *approvals) rights(e config.Entry) Rights {
	r := Rights{Program: Program{Plugin: e.Source.Plugin}, name: e.Name, confiner: a.confiner}
	if !others(e) || r.confiner == nil || e.Target.Type != config.Stdio && len(e.Target.HeadersHelper) == 0 {
		return r
	}
	item := a.item(e)
	r.Free = a.has(item.More(tools.TrustOutside))
	// What a plugin's servers and, in a run that trusts all, the project's visibly need was accepted with them.
	r.Network = a.has(item.More(tools.TrustNetwork)) || (a.all || e.Source.Plugin != "") && needsNetwork(e.Target) != ""
	r.Old = e.Source.Old || e.Source.Plugin == "" && a.trust != nil && !a.forSession(e) && a.trust.Unconfined(context.Background(), item)
	r.Confined = !r.Free && !r.Old && r.confiner.Available()
	return r
}

// others reports whether the entry was brought by the project or a plugin, not by the person.
func others(e config.Entry) bool {
	return !e.Own()
}

// start returns what to start instead of a program.
func (r Rights) start(spec proc.Spec) (proc.Spec, error) {
	if !r.Confined {
		return spec, nil
	}
	return r.confiner.Confine(r.Program, spec)
}

// refused says which right a confined program lacks, by its output, and how a person gives it. "" means none.
func (r Rights) refused(output string) string {
	if !r.Confined {
		return ""
	}
	right, why := r.confiner.Refused(r.Program, output)
	if right == "" {
		return ""
	}
	return fmt.Sprintf("it runs confined: %s; /mcp allow %s %s lets it", why, r.name, right)
}

// String says in a few words how it runs, "" for the usual way.
func (r Rights) String() string {
	switch {
	case r.Old, r.Free:
		return "unconfined"
	case r.Confined && r.Network:
		return "confined, with the network"
	case r.Confined:
		return "confined"
	}
	return ""
}

// needsNetwork returns the program of a target that certainly fetches something before it runs, "" for none.
func needsNetwork(t config.Target) string {
	name := strings.TrimSuffix(filepath.Base(t.Command), ".exe")
	switch name {
	case "npx", "bunx", "uvx", "pipx":
		return name
	case "npm", "pnpm", "yarn", "bun", "uv", "deno":
		if slices.ContainsFunc(t.Args, func(arg string) bool {
			return arg == "exec" || arg == "dlx" || arg == "x" || arg == "tool" || arg == "run"
		}) {
			return name
		}
	}
	return ""
}

// needs lists the further rights that an entry certainly needs.
func needs(e config.Entry) []tools.TrustKind {
	if e.Target.Type != config.Stdio {
		return nil
	}
	switch name := filepath.Base(e.Target.Command); name {
	case "docker", "podman", "docker-compose", "nerdctl":
		return []tools.TrustKind{tools.TrustOutside} // it has others act for it
	}
	if needsNetwork(e.Target) != "" {
		return []tools.TrustKind{tools.TrustNetwork}
	}
	return nil
}

// Allow gives the programs of a server a further right, for good, and restarts it.
func (m *Manager) Allow(name string, right tools.TrustKind) error {
	m.mu.Lock()
	e, err := m.wants.named(name)
	if c, ok := m.wants.chosen[name]; ok && c.Pending != nil {
		e = *c.Pending
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if !others(e) {
		return fmt.Errorf("%s is your own server: it is not confined", name)
	}
	if m.opt.Trust == nil {
		return fmt.Errorf("there is nothing that could keep it")
	}
	if err := m.opt.Trust.Accept(context.Background(), []tools.TrustItem{m.approvals.item(e).More(right)}, true); err != nil {
		return err
	}
	if !m.approvals.approved(e) {
		return nil
	}
	return m.Retry(name)
}
