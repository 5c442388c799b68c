package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"jcode/hooks"
	"jcode/internal/paths"
	"jcode/internal/startfiles"
	"jcode/tools"
)

// maxFile bounds a config file in bytes.
const maxFile = 4 << 20

// Options say which files are read and what is trusted of a project's.
type Options struct {
	Paths Paths
	// Project is the project's root; empty without one.
	Project string
	// Originals are the roots of checkouts that the project is a copy of. Of their files, what narrows applies too,
	// and hooks that are trusted: they may not be committed, or in an older version.
	Originals []string
	// Trusted reports whether the person trusted this setting of this project, pinned to
	// the hash of its value. Nil trusts nothing.
	Trusted func(key, hash string) bool
	// Managed is put over all of them. Nil is nothing.
	Managed *Managed
}

// Loaded is the outcome of reading all files.
type Loaded struct {
	// Config is the result: the person's file, then what applies of the project's.
	Config Config
	// Problems are faults in the files; what they concern is not applied.
	Problems []Problem
	// Held are settings of the project that are not trusted yet.
	Held []Held
	// TheirEdits counts the last entries of AfterEdit, which the project's file adds.
	TheirEdits int
	// TheirHooks are hooks of the project's file that the person trusts; Config has the
	// person's own.
	TheirHooks Hooks
	// TheirPins are the versions in which they are trusted, by key.
	TheirPins map[string]string
	// Origins say where each setting in Config comes from, by dotted key: "file:line". Joined lists name their
	// last source.
	Origins map[string]string
	// joined are the parts of lists that come from more than one file.
	joined map[string][]joinedPart
}

// Held is a setting of a project that would widen what runs, and needs trust.
type Held struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as JSON, secrets masked
	File  string `json:"file"`
	Line  int    `json:"line"`
	// Hash pins key and value for the trust store.
	Hash string `json:"hash"`
}

// Load reads the person's file and the project's. Missing files are allowed; it never fails.
func Load(o Options) *Loaded {
	l := load(o)
	o.Managed.limit(l)
	return l
}

// load reads the person's file and the project's.
func load(o Options) *Loaded {
	l := &Loaded{Origins: map[string]string{}, joined: map[string][]joinedPart{}}
	file := o.Paths.File()
	user := read("", file, &l.Config)
	l.note(user)
	resolveFolders(&l.Config, filepath.Dir(file), o.Paths.Home)
	if o.Project == "" {
		return l
	}
	for _, root := range o.Originals {
		if from := ProjectFile(root); !sameFile(from, file) {
			l.original(root, from, o)
		}
	}
	project := ProjectFile(o.Project)
	if sameFile(project, file) {
		return l // the person's own, in a home that is the project
	}
	var theirs Config
	d := read(o.Project, project, &theirs)
	l.Problems = append(l.Problems, d.problems...)
	resolveFolders(&theirs, filepath.Dir(project), o.Paths.Home)
	for _, w := range latest(d.set) {
		l.layer(d, w, &theirs, o)
	}
	return l
}

// original applies what narrows of the file of a checkout that the project is a copy of.
func (l *Loaded) original(root, file string, o Options) {
	var theirs Config
	d := read(root, file, &theirs)
	l.Problems = append(l.Problems, d.problems...)
	resolveFolders(&theirs, filepath.Dir(file), o.Paths.Home)
	held := l.Held // what waits for trust there is asked about there
	for _, w := range latest(d.set) {
		if strings.HasPrefix(w.key, "hooks.") {
			l.layer(d, w, &theirs, Options{Project: root, Trusted: o.Trusted})
			continue
		}
		from, to, f := locate(reflect.ValueOf(&theirs).Elem(), reflect.ValueOf(&l.Config).Elem(), w.key)
		if f.tag.Get("narrow") != "never" && narrows(f, from, to.get()) {
			l.layer(d, w, &theirs, Options{Project: root})
		}
	}
	l.Held = held
}

// latest keeps the last of several settings of the same key.
func latest(set []where) []where {
	var out []where
	for i, w := range set {
		if !slices.ContainsFunc(set[i+1:], func(x where) bool { return x.key == w.key }) {
			out = append(out, w)
		}
	}
	return out
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// read decodes one file into c. A file of a project must be inside it: root is "" for the person's own.
func read(root, file string, c *Config) *decoder {
	data, err := readFile(root, file)
	d := &decoder{document: parse(file, data)}
	if err != nil {
		d.problems = append(d.problems, Problem{File: file, Text: err.Error()})
		return d
	}
	d.object(d.root, reflect.ValueOf(c).Elem(), "")
	return d
}

// readFile reads a config file; a missing one is empty. root is as for read.
func readFile(root, file string) ([]byte, error) {
	if root != "" {
		data, err := paths.ReadInside(root, file, maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case errors.Is(err, paths.ErrOutside):
			return nil, fmt.Errorf("%w: it is ignored", err)
		}
		return data, err
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("has more than %d MB", maxFile>>20)
	}
	data, err := paths.ReadFile(file, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return data, nil
}

// note records where the settings of a file come from, and its problems.
func (l *Loaded) note(d *decoder) {
	l.Problems = append(l.Problems, d.problems...)
	for _, w := range d.set {
		l.Origins[w.key] = d.origin(w)
	}
}

func (d *decoder) origin(w where) string {
	line, _ := d.at(w.offset)
	return d.file + ":" + strconv.Itoa(line)
}

// afterEdit is the key of the commands that run after an edit.
const afterEdit = "after_edit"

// layer applies one setting of the project on top of the person's, if it narrows or is trusted.
func (l *Loaded) layer(d *decoder, w where, theirs *Config, o Options) {
	if event, ok := strings.CutPrefix(w.key, "hooks."); ok {
		l.layerHooks(d, w, event, theirs.Hooks[event], o)
		return
	}
	from, to, f := locate(reflect.ValueOf(theirs).Elem(), reflect.ValueOf(&l.Config).Elem(), w.key)
	if f.tag.Get("narrow") == "never" {
		line, _ := d.at(w.offset)
		l.Problems = append(l.Problems, Problem{File: d.file, Line: line, Key: w.key, Text: "has no effect in a project's file"})
		return
	}
	if from = l.withoutPersonal(d, w, from); f.tag.Get("json") == "status_line" && from.IsZero() {
		return
	}
	if !narrows(f, from, to.get()) {
		h := held(d, w, from)
		if w.key == afterEdit { // the files that it starts are trusted, too
			for _, c := range theirs.AfterEdit {
				h.Hash = startfiles.Pin(h.Hash, o.Project, c.Cmd)
			}
		}
		if o.Trusted == nil || !o.Trusted(h.Key, h.Hash) {
			l.Held = append(l.Held, h)
			return
		}
	}
	if f.tag.Get("merge") == "append" {
		if mine := to.get(); mine.Len() > 0 {
			parts := l.joined[w.key]
			if parts == nil {
				parts = []joinedPart{{mine.Len(), l.Origins[w.key]}}
			}
			l.joined[w.key] = append(parts, joinedPart{from.Len(), d.origin(w)})
		}
		to.set(reflect.AppendSlice(slicesClone(to.get()), from))
	} else {
		to.set(from)
	}
	if w.key == afterEdit {
		l.TheirEdits = from.Len()
	}
	l.Origins[w.key] = d.origin(w)
}

// layerHooks adds the project's hooks of an event to the person's own, if they are trusted in this version,
// including the files that they start.
func (l *Loaded) layerHooks(d *decoder, w where, event string, groups []hooks.Group, o Options) {
	h := held(d, w, reflect.ValueOf(groups))
	for _, g := range groups {
		for _, c := range g.Hooks {
			h.Hash = startfiles.Pin(h.Hash, o.Project, append([]string{c.Command}, c.Args...)...)
		}
	}
	if o.Trusted == nil || !o.Trusted(h.Key, h.Hash) {
		l.Held = append(l.Held, h)
		return
	}
	if l.TheirHooks == nil {
		l.TheirHooks, l.TheirPins = Hooks{}, map[string]string{}
	}
	for _, g := range groups { // a checkout and its copy mostly have the same
		if !slices.ContainsFunc(l.TheirHooks[event], func(known hooks.Group) bool { return reflect.DeepEqual(known, g) }) {
			l.TheirHooks[event] = append(l.TheirHooks[event], g)
		}
	}
	l.TheirPins[h.Key] = h.Hash
	l.Origins[w.key] = d.origin(w)
}

func slicesClone(v reflect.Value) reflect.Value {
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(out, v)
	return out
}

// place is a settable setting: a field, or an entry of a map.
type place struct {
	get func() reflect.Value
	set func(reflect.Value)
}

// locate finds the setting of a dotted key in two configs of one type.
func locate(from, to reflect.Value, key string) (reflect.Value, place, field) {
	for {
		name, rest, more := strings.Cut(key, ".")
		fields := fieldsOf(from.Type())
		f := fields[slices.IndexFunc(fields, func(f field) bool { return f.name == name })]
		from, to = from.Field(f.index), to.Field(f.index)
		if !more {
			target := to
			return from, place{get: func() reflect.Value { return target }, set: target.Set}, f
		}
		if from.Kind() == reflect.Map {
			target, entry := to, reflect.ValueOf(rest)
			return from.MapIndex(entry), place{
				get: func() reflect.Value { return reflect.Zero(target.Type().Elem()) },
				set: func(v reflect.Value) {
					if target.IsNil() {
						target.Set(reflect.MakeMap(target.Type()))
					}
					target.SetMapIndex(entry, v)
				},
			}, f
		}
		key = rest
	}
}

// narrows reports whether a value of an untrusted project may be applied, given the current value.
func narrows(f field, value, now reflect.Value) bool {
	switch f.tag.Get("narrow") {
	case "append":
		return true
	case "false":
		return value.Kind() == reflect.Pointer && !value.IsNil() && !value.Elem().Bool()
	case "careful":
		current := tools.Mode(now.String())
		if current == "" {
			current = tools.ModeAsk
		}
		mode := tools.Mode(value.String())
		return mode.Under(current) == mode
	case "earlier": // in the list of values, the strictest first
		values := strings.Split(f.tag.Get("enum"), ",")
		current := cmp.Or(now.String(), f.tag.Get("default"))
		at := slices.Index(values, value.String())
		return at >= 0 && at <= slices.Index(values, current)
	case "lower":
		limit := number(now)
		if limit == 0 {
			if limit, _ = strconv.ParseFloat(f.tag.Get("default"), 64); limit == 0 {
				return true // nothing limits it so far
			}
		}
		v := number(value)
		return v > 0 && v <= limit
	}
	return false
}

// held describes a setting that needs trust.
func held(d *decoder, w where, value reflect.Value) Held {
	raw, err := json.Marshal(value.Interface())
	if err != nil {
		raw = []byte("null") // values that came from JSON can be encoded as JSON
	}
	sum := sha256.Sum256([]byte(w.key + "\x00" + string(raw)))
	line, _ := d.at(w.offset)
	var shown any
	if json.Unmarshal(raw, &shown) == nil {
		if !isCode(w.key) {
			shown = Mask(w.key, shown)
		}
		if m, err := readable(prune(shown)); err == nil {
			raw = m
		}
	}
	return Held{Key: w.key, Value: string(raw), File: d.file, Line: line, Hash: hex.EncodeToString(sum[:])}
}

// prune removes what is empty from a decoded JSON value.
func prune(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, inner := range m {
		switch x := prune(inner).(type) {
		case nil:
		case string:
			if x != "" {
				out[k] = x
			}
		case float64:
			if x != 0 {
				out[k] = x
			}
		case map[string]any:
			if len(x) > 0 {
				out[k] = x
			}
		case []any:
			if len(x) > 0 {
				out[k] = x
			}
		default:
			out[k] = x
		}
	}
	return out
}
