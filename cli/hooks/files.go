package hookscli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/hooks"
	"jcode/internal/paths"
	"jcode/internal/startfiles"
	"jcode/tools"
)

// maxSettings is the largest settings file that is read, in bytes.
const maxSettings = 4 << 20

// settingsFile is a settings file with hooks that needs trust, as it was last read.
type settingsFile struct {
	dir   string // the checkout that it comes from if that is not the project's root
	item  tools.TrustItem
	hooks []hooks.Hook
}

// claudeSettings are the settings files of Claude Code in a project.
var claudeSettings = [...]string{".claude/settings.json", ".claude/settings.local.json"}

// settingsFiles returns the files of Claude Code that may contain hooks.
func (h *Hooks) settingsFiles() []string {
	var files []string
	for _, name := range claudeSettings {
		files = append(files, filepath.Join(h.root, filepath.FromSlash(name)))
	}
	if h.home != "" && h.home != h.root {
		files = append([]string{filepath.Join(h.home, ".claude", "settings.json")}, files...)
	}
	return files
}

// reload rereads all hooks and puts those in force that are trusted.
func (h *Hooks) reload() {
	own, project := h.configured()
	var list []hooks.Hook
	for _, of := range h.managed {
		found, problems := hooks.From(of.Events, of.File)
		h.say(problems)
		for i := range found {
			found[i].Managed = true
		}
		list = append(list, found...)
	}
	for _, from := range []struct {
		source string
		events config.Hooks
	}{{ownSettings, own}, {projectSettings, project}} {
		found, problems := hooks.From(from.events, from.source)
		h.say(problems)
		for i := range found {
			found[i].Theirs = from.source == projectSettings
			found[i].Refuse = h.unchanged(found[i])
		}
		list = append(list, found...)
	}
	list = append(list, h.plugins()...)
	var files []settingsFile
	for _, path := range h.settingsFiles() {
		f, problems := h.read("", path)
		h.say(problems)
		if len(f.hooks) == 0 {
			continue
		}
		files = append(files, f)
		list = append(list, h.inForce(path, f)...)
	}
	list = append(list, h.ofOriginals()...)
	h.mu.Lock()
	h.files = files
	h.mu.Unlock()
	h.engine.Set(list)
	if conv := h.board.Open(); conv != nil { // its first hook may have come with a plugin
		h.follow(conv)
	}
}

// ofOriginals returns the trusted hooks of the checkouts that the project is a copy of, where the copy does not
// have the same in force. They guard the agent in the copy, and run where it can't change what they start.
func (h *Hooks) ofOriginals() (list []hooks.Hook) {
	for _, root := range h.originals {
		for _, name := range claudeSettings {
			path := filepath.Join(root, filepath.FromSlash(name))
			f, _ := h.read(root, path) // problems and what waits for trust are told where the checkout is the project
			if len(f.hooks) == 0 {
				continue
			}
			h.mu.Lock()
			same, had := h.kept[filepath.Join(h.root, filepath.FromSlash(name))]
			h.mu.Unlock()
			if !had || same.item.Hash != f.item.Hash {
				list = append(list, h.inForce(path, f)...)
			}
		}
	}
	return list
}

// inForce returns the hooks of a settings file that run: those of the version that is trusted. Until a changed
// file is trusted, the version before it stays, so that nothing runs unguarded.
func (h *Hooks) inForce(path string, f settingsFile) []hooks.Hook {
	trusted := h.trusted(h.ctx, f.item.Kind, f.item.Name, f.item.Hash)
	h.mu.Lock()
	defer h.mu.Unlock()
	was, had := h.kept[path]
	switch {
	case !trusted:
		return was.hooks
	case had && was.item.Hash == f.item.Hash:
		return was.hooks
	}
	for i := range f.hooks { // trusted just now, in this version
		f.hooks[i].Refuse = h.confinement.ChangedSince(cmp.Or(f.dir, h.root), f.hooks[i].Shown(), true)
	}
	h.kept[path] = f
	return f.hooks
}

// unchanged refuses a hook of the configuration when what it starts has changed since it was first seen.
func (h *Hooks) unchanged(hook hooks.Hook) func() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := hook.Shown()
	if h.pinned[line] == nil {
		h.pinned[line] = h.confinement.ChangedSince(h.root, line, hook.Theirs)
	}
	return h.pinned[line]
}

func (h *Hooks) say(problems []string) {
	for _, p := range problems {
		h.mu.Lock()
		known := h.said[p]
		h.said[p] = true
		h.mu.Unlock()
		if !known {
			h.board.Say(event.LevelWarn, "%s", p)
		}
	}
}

// settingsKeys are the keys of Claude Code's settings files; their hooks are what is read here.
var settingsKeys = [...]string{
	"hooks", "disableAllHooks", "$schema", "permissions", "env", "model", "statusLine", "enabledPlugins", "extraKnownMarketplaces", "outputStyle",
	"includeCoAuthoredBy", "cleanupPeriodDays", "apiKeyHelper", "enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers",
	"sandbox", "attribution", "language", "alwaysThinkingEnabled", "effortLevel", "companyAnnouncements", "fileSuggestion", "respectGitignore", "theme", "agent",
}

// read reads the hooks of a settings file, of the project itself if dir is "". A missing file has none.
func (h *Hooks) read(dir, path string) (f settingsFile, problems []string) {
	name, theirs, root := path, false, cmp.Or(dir, h.root)
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		name, theirs = filepath.ToSlash(rel), true
	}
	data, err := settings(root, path, theirs)
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		data, err = hujson.Standardize(data)
	}
	var all struct {
		Hooks json.RawMessage `json:"hooks"`
		Off   bool            `json:"disableAllHooks"`
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return f, []string{fmt.Sprintf("hooks of %s are not read: %v", name, err)}
	}
	problems = misspelt(name, data)
	if all.Off || len(all.Hooks) == 0 {
		return f, problems
	}
	var more []string
	f.hooks, more = hooks.Parse(all.Hooks, name)
	problems = append(problems, more...)
	sum := sha256.Sum256(all.Hooks)
	f.dir = dir
	f.item = tools.TrustItem{Kind: tools.TrustHook, Name: name, Hash: hex.EncodeToString(sum[:]), File: path}
	for i, hook := range f.hooks {
		f.hooks[i].Theirs, f.hooks[i].Dir = theirs, dir
		f.item.Runs = append(f.item.Runs, "hook  "+hook.Line())
		f.item.Hash = startfiles.Pin(f.item.Hash, root, hook.Shown())
	}
	return f, problems
}

// settings reads a settings file; one of the project only if it is a file inside of it.
func settings(root, path string, theirs bool) ([]byte, error) {
	if theirs {
		return paths.ReadInside(root, path, maxSettings)
	}
	return paths.ReadFile(path, maxSettings)
}

// misspelt names the key that was probably meant to be the hooks. Settings files have many keys, of which only
// a few are read here, so others are not reported.
func misspelt(name string, data []byte) []string {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	var out []string
	for key, value := range all {
		if slices.Contains(settingsKeys[:], key) {
			continue
		}
		list, _ := hooks.Parse(value, name)
		if len(list) > 0 || len(all) == 1 {
			out = append(out, fmt.Sprintf("%s: the key %q is not known and has no effect; hooks are read from \"hooks\"", name, key))
		}
	}
	slices.Sort(out)
	return out
}
