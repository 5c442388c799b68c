package pluginscli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"jcode/hooks"
	"jcode/internal/atomicfile"
	"jcode/internal/slicex"
	mcpconfig "jcode/mcp/config"
	"jcode/plugins"
	"jcode/session/role"
	"jcode/skills"
	"jcode/tools"
	"jcode/tools/lsp"
)

// Bundles are the plugins of this run. They are compared with the disk on each use, so what was added,
// changed or removed meanwhile is noticed at once. It is safe for concurrent use.
type Bundles struct {
	store plugins.Store
	// warn shows the person what is wrong with a plugin.
	warn func(format string, args ...any)
	// permits returns why a plugin may not be used. Nil permits all.
	permits func(name, from, hash string) error
	// applying is held while a change is put into force.
	applying sync.Mutex
	force    map[string]string // the hashes of the copies in force, by name

	mu    sync.Mutex
	read  bool
	stamp string
	// all are installed; used are those whose copies are as they were accepted, and which are not switched off.
	all, used []plugins.Plugin
	servers   []mcpconfig.PluginFile // files of their MCP servers
	said      map[string]bool        // what the person was told
}

// Open reads the plugins of a home; warn shows the person what is wrong with one. One that cannot be used is reported; the
// others are not affected.
func (b *Bundles) Open(home Home, warn func(format string, args ...any)) {
	b.store, b.permits, b.warn, b.said = home.Store, home.Permit, warn, map[string]bool{}
	b.force = hashes(b.current())
}

// hashes returns the hashes of plugins, by name.
func hashes(list []plugins.Plugin) map[string]string {
	out := map[string]string{}
	for _, p := range list {
		out[p.Name] = p.Now
	}
	return out
}

// current returns the plugins that are in use, according to the disk.
func (b *Bundles) current() []plugins.Plugin {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.store.Dir == "" {
		return nil
	}
	if stamp := b.store.Stamp(); !b.read || stamp != b.stamp {
		b.read, b.stamp = true, stamp
		b.look()
	}
	return b.used
}

// look reads the list and all copies. The caller holds the lock.
func (b *Bundles) look() {
	b.all, b.used, b.servers = nil, nil, nil
	all, err := b.store.List()
	if err != nil {
		b.tell("plugins are not used: %v", err)
		return
	}
	b.all = all
	for _, p := range all {
		switch {
		case p.Off:
			continue
		case p.Problem != "":
			b.tell("plugin %s is not used: %s", p.Name, p.Problem)
			continue
		case b.refused(p) != nil:
			b.tell("plugin %s is not used: %v", p.Name, b.refused(p))
			continue
		case !p.Intact():
			b.tell("plugin %s is not used: its files have changed since you accepted them (jcode plugins update %s fetches them again, /plugins accepts them)", p.Name, p.Name)
			continue
		}
		b.used = append(b.used, p)
		for _, problem := range p.Bundle.Problems {
			b.tell("plugin %s: %s", p.Name, problem)
		}
		if file, err := b.writeServers(p.Bundle); err != nil {
			b.tell("plugin %s: its MCP servers are not used: %v", p.Name, err)
		} else if file != "" {
			b.servers = append(b.servers, mcpconfig.PluginFile{Plugin: p.Name, Path: file, Old: !p.Confined})
		}
	}
}

// refused returns why a plugin may not be used.
func (b *Bundles) refused(p plugins.Plugin) error {
	if b.permits == nil {
		return nil
	}
	return b.permits(p.Name, p.Address.String(), p.Now)
}

// tell shows a message once in a run.
func (b *Bundles) tell(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !b.said[line] {
		b.said[line] = true
		b.warn("%s", line)
	}
}

// serversFile returns the file of a plugin's MCP servers, with the plugin's folder filled in.
func serversFile(s plugins.Store, name string) string { return filepath.Join(s.Dir, name+".mcp.json") }

// writeServers writes a plugin's MCP servers to a file of the usual form, with the plugin's folder filled in,
// and returns its name; "" if there are none.
func (b *Bundles) writeServers(bundle *plugins.Bundle) (string, error) {
	if len(bundle.Servers) == 0 {
		return "", nil
	}
	raw, err := json.MarshalIndent(map[string]any{"mcpServers": bundle.Servers}, "", "  ")
	if err != nil {
		return "", err
	}
	whole := string(raw)
	for name, dir := range map[string]string{plugins.RootVariable: bundle.Dir, plugins.DataVariable: dataOf(b.store, bundle.Name)} {
		value, err := json.Marshal(dir)
		if err != nil {
			return "", err
		}
		whole = strings.ReplaceAll(whole, "${"+name+"}", strings.Trim(string(value), `"`))
	}
	path := serversFile(b.store, bundle.Name)
	if old, err := os.ReadFile(path); err == nil && string(old) == whole {
		return path, nil
	}
	return path, atomicfile.Write(path, []byte(whole), atomicfile.Options{Perm: 0o600})
}

// ServerFiles returns the files of MCP servers.
func (b *Bundles) ServerFiles() []mcpconfig.PluginFile {
	b.current()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.servers
}

// Skills returns the folders of skills and commands.
func (b *Bundles) Skills() []skills.Plugin {
	return slicex.Map(b.current(), func(p plugins.Plugin) skills.Plugin {
		return skills.Plugin{Name: p.Name, Skills: p.Bundle.Skills, Commands: p.Bundle.Commands}
	})
}

// Agents returns the folders and files of agents.
func (b *Bundles) Agents() []role.PluginAgents {
	var out []role.PluginAgents
	for _, p := range b.current() {
		if len(p.Bundle.Agents) > 0 {
			out = append(out, role.PluginAgents{Plugin: p.Name, Paths: p.Bundle.Agents})
		}
	}
	return out
}

// Hooks returns the hooks of all plugins. None runs once any file of its plugin has changed.
func (b *Bundles) Hooks() []hooks.Hook {
	var out []hooks.Hook
	for _, p := range b.current() {
		dir, hash := p.Bundle.Dir, p.Hash
		for _, h := range p.Bundle.Hooks {
			h.Plugin = p.Name
			h.Refuse = func() string {
				if now, err := plugins.HashTree(dir); err != nil || now != hash {
					return "the files of its plugin have changed since you accepted them"
				}
				return ""
			}
			out = append(out, h)
		}
	}
	return out
}

// Languages returns the language servers of all plugins.
func (b *Bundles) Languages() []lsp.Server {
	var out []lsp.Server
	for _, p := range b.current() {
		for _, l := range p.Bundle.Languages {
			s := lsp.Server{Name: l.Name, Command: l.Command, Files: l.Files, Env: l.Env, Settings: l.Settings, Plugin: p.Name}
			out = append(out, lsp.Merge(s))
		}
	}
	return out
}

// Scripts returns the folders of Lua.
func (b *Bundles) Scripts() []string {
	var out []string
	for _, p := range b.current() {
		if p.Bundle.Lua != "" {
			out = append(out, p.Bundle.Lua)
		}
	}
	return out
}

// changed lists plugins whose copies are no longer what was accepted: they must be accepted again.
func (b *Bundles) changed() []tools.TrustItem {
	b.current()
	b.mu.Lock()
	defer b.mu.Unlock()
	var items []tools.TrustItem
	for _, p := range b.all {
		if p.Off || p.Problem != "" || p.Intact() || b.refused(p) != nil {
			continue
		}
		items = append(items, tools.TrustItem{
			Kind: tools.TrustBundle, Name: p.Name, Hash: p.Now, File: p.Bundle.Dir, Runs: slicex.Map(p.Bundle.Rows, plugins.Row.String),
		})
	}
	return items
}

// differ compares what is in force with what should be: what was added, changed and removed.
func (b *Bundles) differ(now []plugins.Plugin) []string {
	return slicex.Differences(b.force, hashes(now), "%s is in use", "%s has changed", "%s is no longer used")
}
