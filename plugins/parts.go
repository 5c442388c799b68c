package plugins

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Language is a language server of a plugin.
type Language struct {
	Name    string
	Command []string
	// Files are the extensions of the files that it serves, each with its dot.
	Files    []string
	Env      map[string]string
	Settings any
}

// language is a language server's entry in Claude Code's format.
type language struct {
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Endings   map[string]string `json:"extensionToLanguage"`
	Transport string            `json:"transport"`
	Env       map[string]string `json:"env"`
	Options   any               `json:"initializationOptions"`
	Settings  any               `json:"settings"`
}

// languages reads the language servers of the manifest and of .lsp.json.
func (b *Bundle) languages(raw json.RawMessage) {
	list := map[string]json.RawMessage{}
	read := func(name string) {
		if err := b.readJSON(name, &list); err != nil && (name != ".lsp.json" || !errors.Is(err, os.ErrNotExist)) {
			b.fault("lspServers: %v", err)
		}
	}
	read(".lsp.json")
	if isObject(raw) {
		if err := json.Unmarshal(raw, &list); err != nil {
			b.fault("lspServers: %v", err)
		}
	} else {
		for _, name := range texts(raw) {
			read(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		b.Rows = append(b.Rows, Row{"language server", name, commandLine(list[name])})
		var e language
		switch err := decode(list[name], &e); {
		case err != nil:
			b.fault("language server %s: %v", name, err)
		case e.Command == "":
			b.fault("language server %s: command is missing", name)
		case e.Transport != "" && e.Transport != "stdio":
			b.fault("language server %s: the transport %q is not supported, only stdio is", name, e.Transport)
		case len(e.Endings) == 0:
			b.fault("language server %s: extensionToLanguage is missing: it names no files to serve", name)
		default:
			b.Languages = append(b.Languages, b.language(name, e))
		}
	}
}

// language replaces the variable for the plugin's folder in an entry.
func (b *Bundle) language(name string, e language) Language {
	put := func(s string) string { return strings.ReplaceAll(s, "${"+RootVariable+"}", b.Dir) }
	l := Language{Name: name, Command: []string{put(e.Command)}, Env: map[string]string{}, Settings: e.Settings}
	if l.Settings == nil {
		l.Settings = e.Options
	}
	for _, arg := range e.Args {
		l.Command = append(l.Command, put(arg))
	}
	for key, value := range e.Env {
		l.Env[key] = put(value)
	}
	for _, ending := range slices.Sorted(maps.Keys(e.Endings)) {
		if ending = "." + strings.TrimPrefix(ending, "."); !slices.Contains(l.Files, ending) {
			l.Files = append(l.Files, ending)
		}
	}
	return l
}

// scripts returns the rows of the plugin's Lua: lua/tools/NAME and lua/plugins/ID.
func (b *Bundle) scripts() {
	dir := filepath.Join(b.Dir, "lua")
	for _, kind := range []struct{ row, folder, main string }{{"lua tool", "tools", "main.lua"}, {"lua plugin", "plugins", "init.lua"}} {
		entries, err := os.ReadDir(filepath.Join(dir, kind.folder))
		if err != nil {
			continue // none of this kind
		}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() {
				if _, err := os.Stat(filepath.Join(dir, kind.folder, name, kind.main)); err != nil {
					continue
				}
			} else if short, lua := strings.CutSuffix(name, ".lua"); lua && kind.folder == "plugins" {
				name = short
			} else {
				continue
			}
			b.Lua = dir
			b.Rows = append(b.Rows, Row{kind.row, name, "its permissions are asked about when it is used"})
			if kind.folder == "tools" {
				b.Tokens += toolTokens(filepath.Join(dir, kind.folder, name, "mcp_tool.json"))
			}
		}
	}
}

// toolTokens returns roughly what a tool with this manifest adds to each request.
func toolTokens(manifest string) int {
	info, err := os.Stat(manifest)
	if err != nil {
		return 0
	}
	return int(info.Size()) / 4
}
