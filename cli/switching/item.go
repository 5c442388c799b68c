package switching

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"jcode/cli/config"
	"jcode/internal/jsonedit"
	"jcode/internal/paths"
	"jcode/internal/secret"
	mcpconfig "jcode/mcp/config"
)

// The kinds of items.
const (
	Setting      = "setting"
	Server       = "server"
	Rules        = "rules"
	Hook         = "hook"
	Command      = "command"
	Instructions = "instructions"
	Memory       = "memory"
	Agent        = "agent"
)

// Item is something that another agent has set up.
type Item struct {
	ID   string `json:"id"`   // agent:kind:name, with @project behind it for a file of the project
	From string `json:"from"` // its file
	Does string `json:"does"` // what taking it over does
	Why  string `json:"why,omitempty"`

	take func(context.Context) error
}

// Possible reports whether the item can be taken over; otherwise Why says why not.
func (i Item) Possible() bool { return i.take != nil }

// Take takes the item over.
func (i Item) Take(ctx context.Context) error {
	if i.take == nil {
		return errors.New(i.Why)
	}
	return i.take(ctx)
}

// Options say where to look, and where what is taken goes.
type Options struct {
	Home    string
	Root    string // the project's folder
	Env     func(string) string
	Paths   config.Paths    // jcode's own folders
	Servers mcpconfig.Paths // where servers are configured
	// Memory returns how many notes of other agents are not here yet, and whose they are.
	Memory func() (n int, agents []string)
	// TakeMemory makes drafts of them.
	TakeMemory func(context.Context) error
}

// finder collects items.
type finder struct {
	Options
	items []Item
	agent string
	// project says that what is looked at is the project's.
	project bool
	servers map[string]bool // the names that there are
}

// Find returns what there is to take over, and what can't be.
func Find(o Options) []Item {
	f := &finder{Options: o, servers: map[string]bool{}}
	for name := range mcpconfig.Load(o.Servers).Choose(func(mcpconfig.Entry) bool { return true }) {
		f.servers[name] = true
	}
	for _, agent := range []struct {
		name string
		find func()
	}{{"claude", f.claude}, {"codex", f.codex}, {"gemini", f.gemini}, {"opencode", f.opencode}, {"crush", f.crush}, {"pi", f.pi}} {
		f.agent, f.project = agent.name, false
		agent.find()
	}
	if f.Memory != nil {
		if n, agents := f.Memory(); n > 0 {
			f.agent, f.project = "", false
			f.items = append(f.items, Item{ID: "memory", From: strings.Join(agents, ", "), Does: fmt.Sprintf("make drafts of %d notes, which /memory shows", n), take: f.TakeMemory})
		}
	}
	return f.items
}

// id returns an item's ID.
func (f *finder) id(kind, name string) string {
	id := f.agent + ":" + kind
	if name != "" {
		id += ":" + strings.Join(strings.Fields(name), "_")
	}
	if f.project {
		id += "@project"
	}
	return id
}

func (f *finder) offer(kind, name, from, does string, take func(context.Context) error) {
	f.items = append(f.items, Item{ID: f.id(kind, name), From: f.short(from), Does: masked(does), take: take})
}

func (f *finder) refuse(kind, name, from, why string, args ...any) {
	f.items = append(f.items, Item{ID: f.id(kind, name), From: f.short(from), Why: masked(fmt.Sprintf(why, args...))})
}

// masked hides the words of a text that may be secrets: a command may have a key in it.
func masked(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		name, value, assigned := strings.Cut(strings.Trim(w, `"'`), "=")
		flag := i > 0 && strings.HasPrefix(words[i-1], "--") && secret.Parameter(strings.TrimLeft(words[i-1], "-"))
		if secret.Value(strings.Trim(w, `"'`)) || assigned && secret.Variable(strings.TrimLeft(name, "-"), value) || flag && !strings.HasPrefix(w, "$") {
			words[i] = "***"
		}
	}
	return strings.Join(words, " ")
}

// short returns a path as it is shown.
func (f *finder) short(path string) string {
	if rest, ok := strings.CutPrefix(path, f.Home+string(filepath.Separator)); ok && f.Home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}

// settingsFile returns the file of settings that is written.
func (f *finder) settingsFile() string {
	if f.project {
		return config.ProjectFile(f.Root)
	}
	return f.Paths.File()
}

// folder returns an agent's own folder, which a variable may name.
func (f *finder) folder(variable, usual string) string {
	if f.Env != nil && variable != "" {
		if named := f.Env(variable); named != "" {
			return named
		}
	}
	return filepath.Join(f.Home, filepath.FromSlash(usual))
}

// maxFile bounds the files that are read.
const maxFile = 4 << 20

// object is a JSON object.
type object = map[string]any

// read reads a file of settings, JSON with comments or TOML; nil if there is none. A file that is not valid is named.
func (f *finder) read(path string) object {
	data, err := paths.ReadFile(path, maxFile)
	if err != nil {
		return nil
	}
	out := object{}
	if strings.HasSuffix(path, ".toml") {
		if err := toml.Unmarshal(data, &out); err != nil {
			f.refuse(Setting, filepath.Base(path), path, "the file is not valid TOML: %v", err)
			return nil
		}
		return out
	}
	value, err := hujson.Parse(data)
	if err == nil {
		value.Standardize()
		err = json.Unmarshal(value.Pack(), &out)
	}
	if err != nil {
		f.refuse(Setting, filepath.Base(path), path, "the file is not valid JSON: %s", jsonedit.Fault(err))
		return nil
	}
	return out
}

// in returns what is at a path of names, the zero value if it is of another type.
func in[T any](o object, names ...string) (value T) {
	for i, name := range names {
		if i == len(names)-1 {
			value, _ = o[name].(T)
			return value
		}
		o, _ = o[name].(object)
	}
	return value
}

// texts returns the texts of a list.
func texts(list []any) (out []string) {
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// sorted returns the names of an object in order.
func sorted(o object) []string {
	var out []string
	for name := range o {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(a, b) })
	return out
}

// first returns the first of the paths that exists, "" if none does.
func first(list ...string) string {
	for _, path := range list {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
