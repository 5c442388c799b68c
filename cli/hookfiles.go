package cli

import (
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

// hookFile is a settings file with hooks that needs trust, as it was last read.
type hookFile struct {
	item  tools.TrustItem
	hooks []hooks.Hook
}

// settingsFiles returns the files of Claude Code that may contain hooks.
func (h *happenings) settingsFiles() []string {
	files := []string{
		filepath.Join(h.root, ".claude", "settings.json"),
		filepath.Join(h.root, ".claude", "settings.local.json"),
	}
	if h.home != "" && h.home != h.root {
		files = append([]string{filepath.Join(h.home, ".claude", "settings.json")}, files...)
	}
	return files
}

// reload rereads all hooks and puts those in force that are trusted.
func (h *happenings) reload() {
	own, project := h.configured()
	var list []hooks.Hook
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
	list = append(list, h.bundles.hooks()...)
	var files []hookFile
	for _, path := range h.settingsFiles() {
		f, problems := h.read(path)
		h.say(problems)
		if len(f.hooks) == 0 {
			continue
		}
		files = append(files, f)
		list = append(list, h.inForce(path, f)...)
	}
	h.mu.Lock()
	h.files = files
	h.mu.Unlock()
	h.engine.Set(list)
	if conv := h.board.open(); conv != nil { // its first hook may have come with a plugin
		h.follow(conv)
	}
}

// inForce returns the hooks of a settings file that run: those of the version that is trusted. Until a changed
// file is trusted, the version before it stays, so that nothing runs unguarded.
func (h *happenings) inForce(path string, f hookFile) []hooks.Hook {
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
		f.hooks[i].Refuse = h.confinement.changedSince(f.hooks[i].Shown(), true)
	}
	h.kept[path] = f
	return f.hooks
}

// unchanged refuses a hook of the configuration when what it starts has changed since it was first seen.
func (h *happenings) unchanged(hook hooks.Hook) func() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := hook.Shown()
	if h.pinned[line] == nil {
		h.pinned[line] = h.confinement.changedSince(line, hook.Theirs)
	}
	return h.pinned[line]
}

func (h *happenings) say(problems []string) {
	for _, p := range problems {
		h.mu.Lock()
		known := h.said[p]
		h.said[p] = true
		h.mu.Unlock()
		if !known {
			h.board.say(event.LevelWarn, "%s", p)
		}
	}
}

// settingsKeys are the keys of Claude Code's settings files; their hooks are what is read here.
var settingsKeys = [...]string{
	"hooks", "disableAllHooks", "$schema", "permissions", "env", "model", "statusLine", "enabledPlugins", "extraKnownMarketplaces", "outputStyle",
	"includeCoAuthoredBy", "cleanupPeriodDays", "apiKeyHelper", "enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers",
	"sandbox", "attribution", "language", "alwaysThinkingEnabled", "effortLevel", "companyAnnouncements", "fileSuggestion", "respectGitignore", "theme", "agent",
}

// read reads the hooks of a settings file. A missing file has none.
func (h *happenings) read(path string) (f hookFile, problems []string) {
	name, theirs := path, false
	if rel, err := filepath.Rel(h.root, path); err == nil && filepath.IsLocal(rel) {
		name, theirs = filepath.ToSlash(rel), true
	}
	data, err := h.settings(path, theirs)
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		data, err = hujson.Standardize(data)
	}
	var settings struct {
		Hooks json.RawMessage `json:"hooks"`
		Off   bool            `json:"disableAllHooks"`
	}
	if err == nil {
		err = json.Unmarshal(data, &settings)
	}
	if err != nil {
		return f, []string{fmt.Sprintf("hooks of %s are not read: %v", name, err)}
	}
	problems = misspelt(name, data)
	if settings.Off || len(settings.Hooks) == 0 {
		return f, problems
	}
	var more []string
	f.hooks, more = hooks.Parse(settings.Hooks, name)
	problems = append(problems, more...)
	sum := sha256.Sum256(settings.Hooks)
	f.item = tools.TrustItem{Kind: tools.TrustHook, Name: name, Hash: hex.EncodeToString(sum[:]), File: path}
	for i, hook := range f.hooks {
		f.hooks[i].Theirs = theirs
		f.item.Runs = append(f.item.Runs, hook.Line())
		f.item.Hash = startfiles.Pin(f.item.Hash, h.root, hook.Shown())
	}
	return f, problems
}

// settings reads a settings file; one of the project only if it is a file inside of it.
func (h *happenings) settings(path string, theirs bool) ([]byte, error) {
	if theirs {
		return paths.ReadInside(h.root, path, maxSettings)
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
