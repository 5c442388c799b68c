package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/hooks"
	"jcode/internal/jsonedit"
	"jcode/internal/paths"
	"jcode/internal/system"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/permission"
)

// managedFile is the content of managed.json. Everything in it narrows, so that several files add up: each of them
// holds.
type managedFile struct {
	Deny       []string `json:"deny" desc:"What is refused, as in permissions.deny." rule:"restrict"`
	Protect    []string `json:"protect" desc:"Files of projects that are never changed silently, as in sandbox.protect."`
	MaxMode    string   `json:"max_mode" desc:"The most that an approval mode may allow." enum:"plan,ask,edits,auto,yolo"`
	Models     []string `json:"models" desc:"Models that may be used: provider/ID, with * for anything."`
	Endpoints  []string `json:"endpoints" desc:"Where models may be reached: a host, *.domain, or an address with its path."`
	MCPServers []List   `json:"mcp_servers" desc:"MCP servers that may run: an address, or a command line with * for a word; a * at its end is any words."`
	Plugins    []string `json:"plugins" desc:"Plugins that may be used: where they come from, with * for anything, or sha256:HASH of their files."`
	Hooks      Hooks    `json:"hooks" desc:"Hooks that always run, in the form of config.json."`
	Memory     string   `json:"memory" desc:"The most that memory may be." enum:"off,ask,auto"`
	Remote     *bool    `json:"remote" desc:"false: sessions can't be followed from other programs."`
	Telemetry  string   `json:"telemetry" desc:"The most that telemetry may send: nothing, or figures without texts." enum:"off,figures"`
}

// ManagedPlace is where the settings of whoever administers the machine are. The zero value is the system's own place;
// only tests have another.
type ManagedPlace struct {
	Dir   string
	Owner int // the user who must own the files
}

// entry is one entry of a list with its place in a file.
type entry struct {
	text   string
	words  []string // of a command line
	origin string
}

// listed is a list of what may be used; nothing else may.
type listed struct {
	entries []entry
	origin  string
}

// Managed are the settings of whoever administers the machine, of all files together. Nil are none.
type Managed struct {
	// Files are those that were read.
	Files []string
	// MaxMode is the highest mode, "" for any.
	MaxMode tools.Mode
	// Hooks are those that always run, by the file that has them.
	Hooks []ManagedHooks

	deny, protect                       []entry
	models, endpoints, servers, plugins []listed
	memory, telemetry                   string
	noRemote                            bool
	origins                             map[string]string // of single values, by key
	settings                            []Setting
}

// ManagedHooks are the hooks of one file.
type ManagedHooks struct {
	File   string
	Events Hooks
}

// ReadManaged reads managed.json and the files of managed.d, by name. Without any it returns nil. Each fault is an
// error that names file and line: nothing may run while it isn't known what is forbidden.
func ReadManaged(at ManagedPlace) (*Managed, error) {
	if at.Dir == "" {
		dir, err := system.ManagedFolder()
		if err != nil {
			return nil, managedFault(err)
		}
		at.Dir = dir
	}
	if _, err := os.Lstat(at.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	files, err := at.files()
	if err != nil || files == nil {
		return nil, managedFault(err)
	}
	m := &Managed{origins: map[string]string{}}
	for _, file := range files {
		if err := m.read(file); err != nil {
			return nil, managedFault(err)
		}
	}
	return m, nil
}

func managedFault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the settings of this machine's administrator have a fault, and jcode does not run until it is corrected: %w", err)
}

// files lists the files that count. All of them, and their folders, must be guarded.
func (at ManagedPlace) files() ([]string, error) {
	if err := at.guarded(at.Dir); err != nil {
		return nil, err
	}
	var files []string
	whole := filepath.Join(at.Dir, "managed.json")
	if _, err := os.Lstat(whole); err == nil {
		files = append(files, whole)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir := filepath.Join(at.Dir, "managed.d")
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := at.guarded(dir); err != nil {
			return nil, err
		}
	}
	for _, e := range entries { // sorted by name
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
			files = append(files, filepath.Join(dir, name))
		}
	}
	for _, file := range files {
		if err := at.guarded(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (at ManagedPlace) guarded(path string) error {
	if err := system.Guarded(path, at.Owner); err != nil {
		if perr, ok := errors.AsType[*fs.PathError](err); ok {
			err = perr.Err
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// read adds one file.
func (m *Managed) read(file string) error {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is not a regular file", file)
	}
	data, err := paths.ReadFile(file, maxFile)
	if err != nil {
		return fmt.Errorf("%s: cannot be read: %w", file, err)
	}
	d := &decoder{document: parse(file, data)}
	var f managedFile
	d.nothingEmpty(d.root)
	d.object(d.root, reflect.ValueOf(&f).Elem(), "")
	m.Files = append(m.Files, file)
	m.take(d, f)
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
		return errors.New(d.problems[0].String())
	}
	return m.note(d, f)
}

// nothingEmpty refuses null: elsewhere it stands for what is left out, and here nobody should have to guess.
func (d *decoder) nothingEmpty(root *hujson.Object) {
	for _, member := range root.Members {
		for v := range member.Value.All() {
			if v.Value.Kind() == 'n' {
				d.problem(v.StartOffset, jsonedit.Name(member), "null says nothing: leave the key out")
			}
		}
	}
}

// take adds what a file says.
func (m *Managed) take(d *decoder, f managedFile) {
	at := func(key string) string {
		i := slices.IndexFunc(d.set, func(w where) bool { return w.key == key })
		return d.origin(d.set[i])
	}
	m.deny = append(m.deny, d.texts("deny", f.Deny, nil)...)
	m.protect = append(m.protect, d.texts("protect", f.Protect, func(s string) error { _, err := permission.ParseRule("write(" + s + ")"); return err })...)
	for _, l := range []struct {
		key   string
		list  []string
		into  *[]listed
		check func(string) error
	}{
		{"models", f.Models, &m.models, nil},
		{"endpoints", f.Endpoints, &m.endpoints, func(s string) error { _, err := parseSite(s); return err }},
		{"plugins", f.Plugins, &m.plugins, nil},
	} {
		if l.list != nil {
			*l.into = append(*l.into, listed{d.texts(l.key, l.list, l.check), at(l.key)})
		}
	}
	if f.MCPServers != nil {
		m.servers = append(m.servers, listed{d.servers(f.MCPServers), at("mcp_servers")})
	}
	if mode := tools.Mode(f.MaxMode); mode != "" && (m.MaxMode == "" || mode.Under(m.MaxMode) == mode) {
		m.MaxMode, m.origins["max_mode"] = mode, at("max_mode")
	}
	order := []string{"off", "ask", "auto"}
	if f.Memory != "" && (m.memory == "" || slices.Index(order, f.Memory) <= slices.Index(order, m.memory)) {
		m.memory, m.origins["memory"] = f.Memory, at("memory")
	}
	if f.Telemetry != "" && m.telemetry != "off" {
		m.telemetry, m.origins["telemetry"] = f.Telemetry, at("telemetry")
	}
	if f.Remote != nil && !*f.Remote {
		m.noRemote, m.origins["remote"] = true, at("remote")
	}
	if len(f.Hooks) > 0 {
		d.checkHooks(f.Hooks)
		m.Hooks = append(m.Hooks, ManagedHooks{d.file, f.Hooks})
	}
}

// elements returns the elements of a list of the top level.
func (d *decoder) elements(key string) []hujson.Value {
	var out []hujson.Value
	for _, member := range d.root.Members {
		if list, ok := member.Value.Value.(*hujson.Array); ok && text.LooseKey(jsonedit.Name(member)) == text.LooseKey(key) {
			out = list.Elements
		}
	}
	return out
}

// texts returns a list of texts with their places, and refuses those that mean nothing.
func (d *decoder) texts(key string, list []string, check func(string) error) []entry {
	elements := d.elements(key)
	if len(elements) != len(list) {
		return nil // one of them is a problem already
	}
	var out []entry
	for i, s := range list {
		offset := elements[i].StartOffset
		if strings.TrimSpace(s) == "" {
			d.problem(offset, fmt.Sprintf("%s[%d]", key, i), "is empty")
		} else if check != nil {
			if err := check(s); err != nil {
				d.problem(offset, fmt.Sprintf("%s[%d]", key, i), "%v", err)
			}
		}
		out = append(out, entry{text: s, origin: d.origin(where{key, offset})})
	}
	return out
}

// servers returns the entries of a list of MCP servers.
func (d *decoder) servers(list []List) []entry {
	elements := d.elements("mcp_servers")
	if len(elements) != len(list) {
		return nil
	}
	var out []entry
	for i, words := range list {
		offset, key := elements[i].StartOffset, fmt.Sprintf("mcp_servers[%d]", i)
		e := entry{text: strings.Join(words, " "), words: words, origin: d.origin(where{key, offset})}
		if len(words) == 1 {
			e.words = strings.Fields(words[0])
		}
		switch {
		case len(e.words) == 0 || strings.TrimSpace(e.words[0]) == "":
			d.problem(offset, key, "is empty")
		case isAddress(e.text):
			if _, err := parseSite(e.text); err != nil {
				d.problem(offset, key, "%v", err)
			}
		}
		out = append(out, e)
	}
	return out
}

// checkHooks refuses hooks that could not run.
func (d *decoder) checkHooks(events Hooks) {
	for _, w := range d.set {
		event, ok := strings.CutPrefix(w.key, "hooks.")
		if !ok {
			continue
		}
		list, problems := hooks.From(Hooks{event: events[event]}, "hooks")
		for _, p := range problems {
			d.problem(w.offset, w.key, "%s", p)
		}
		if len(list) == 0 && problems == nil {
			d.problem(w.offset, w.key, "has no hooks")
		}
		for _, h := range list {
			if h.Args != nil && !filepath.IsAbs(h.Command) {
				d.problem(w.offset, w.key, "%s: a program must be named by its whole path", h.Command)
			}
		}
	}
}

// note keeps the settings of a file as they are shown.
func (m *Managed) note(d *decoder, f managedFile) error {
	for _, w := range d.set {
		name, event, _ := strings.Cut(w.key, ".")
		i := slices.IndexFunc(fieldsOf(reflect.TypeFor[managedFile]()), func(x field) bool { return x.name == name })
		v := reflect.ValueOf(f).Field(i)
		if event != "" {
			v = v.MapIndex(reflect.ValueOf(event))
		}
		raw, err := json.Marshal(v.Interface())
		if err != nil {
			return err
		}
		var plain any
		if err := json.Unmarshal(raw, &plain); err != nil {
			return err
		}
		if name == "hooks" {
			plain = prune(Mask(w.key, map[string]any{"": plain})).(map[string]any)[""]
		}
		if raw, err = readable(plain); err != nil {
			return err
		}
		m.settings = append(m.settings, Setting{Key: w.key, Value: raw, Origin: d.origin(w)})
	}
	return nil
}

// Show lists what the files say, in their order.
func (m *Managed) Show() []Setting {
	if m == nil {
		return nil
	}
	return m.settings
}
