package role

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/internal/text"
)

//go:embed builtin/*.md
var builtinRoles embed.FS

// Layers looks roles up in their layers: a project's files over rows over the person's files
// over definitions of agents for other programs over the builtins. It reads them again each
// time, so that its results are up to date.
type Layers struct {
	// Rows are those of the database; nil leaves them out.
	Rows Rows
	// ProjectDir and UserDir are the folders of role files; "" leaves a layer out.
	ProjectDir string
	UserDir    string
	// ProjectAgents, UserAgents and PluginAgents are folders, and files, of agents as ParseAgent
	// reads them. Those of a plugin are named PLUGIN:AGENT.
	ProjectAgents string
	UserAgents    string
	PluginAgents  []PluginAgents
	// Project is the project's root. A role file that leads out of it counts as absent, and so
	// does one whose resolved path Denied refuses. Denied may be nil.
	Project string
	Denied  func(path string) bool
	// Trusted decides on a project's role that needs trust (Role.WantsTrust) or has the name
	// of a role of another layer. An untrusted one is listed but can't be entered. Nil trusts
	// all.
	Trusted func(Role) bool
}

// PluginAgents are the folders and files of agents that a plugin brings.
type PluginAgents struct {
	Plugin string
	Paths  []string
}

// ErrUnknown says that no layer has a role of a name.
var ErrUnknown = errors.New("not found")

// Row is a role file as the database keeps it.
type Row struct {
	Name    string
	Text    string
	Updated time.Time
}

// Rows keeps role files in a database, byte for byte.
type Rows interface {
	List(ctx context.Context) ([]Row, error)
	Save(ctx context.Context, name, text string) error
}

// Listing is one name with all the roles that have it.
type Listing struct {
	// Role is the one that takes precedence.
	Role
	// Shadowed are those that it hides, the next in precedence first.
	Shadowed []Role
	// Untrusted is a project's role of this name that waits for trust, nil if none does.
	Untrusted *Role
}

// List returns every name once, sorted. Faulty files have their Problems. A layer that can't
// be read doesn't affect the others: List returns what it found together with the error.
func (r *Layers) List(ctx context.Context) ([]Listing, error) {
	var errs []error
	byName := map[string]*Listing{}
	var all []Role // by precedence
	layer := func(roles []Role, err error) { all, errs = append(all, roles...), append(errs, err) }
	layer(r.fromProject(r.ProjectDir, Project))
	layer(r.fromRows(ctx))
	layer(folderRoles(r.UserDir, UserFile, readFile))
	layer(r.fromProject(r.ProjectAgents, ProjectAgents))
	layer(folderRoles(r.UserAgents, UserAgents, readFile))
	layer(r.fromPlugins())
	layer(Builtins())
	for i, role := range all {
		replaces := slices.ContainsFunc(all[i+1:], func(o Role) bool { return o.Name == role.Name && !o.Source.FromProject() })
		r.add(byName, role, role.Source.FromProject() && (role.WantsTrust() || replaces) || role.Source == UserAgents && role.Hooks != nil)
	}
	listed := make([]Listing, 0, len(byName))
	for _, l := range byName {
		listed = append(listed, *l)
	}
	slices.SortFunc(listed, func(a, b Listing) int { return cmp.Compare(a.name(), b.name()) })
	return listed, errors.Join(errs...)
}

// Counts reports whether any of the listing's roles can be entered: false when the only
// one waits for trust.
func (l Listing) Counts() bool { return l.Role.Source != "" }

func (l Listing) name() string {
	if l.Counts() {
		return l.Role.Name
	}
	return l.Untrusted.Name
}

// add appends a role to those of its name. With wants it must be trusted first.
func (r *Layers) add(byName map[string]*Listing, role Role, wants bool) {
	l := byName[role.Name]
	if l == nil {
		l = &Listing{}
		byName[role.Name] = l
	}
	switch {
	case wants && r.Trusted != nil && !r.Trusted(role):
		l.Untrusted = &role
	case l.Role.Source == "":
		l.Role = role
	default:
		l.Shadowed = append(l.Shadowed, role)
	}
}

// fullName returns the name of a plugin's agent for its short name, unless a role or another
// plugin's agent has that too. Texts of plugins use the short names of their agents.
func fullName(all []Listing, name string) string {
	full := ""
	for _, l := range all {
		switch {
		case l.name() == name, full != "" && strings.HasSuffix(l.name(), ":"+name):
			return name
		case strings.HasSuffix(l.name(), ":"+name):
			full = l.name()
		}
	}
	return cmp.Or(full, name)
}

// Get returns the role of a name that takes precedence. The error of an unknown name lists the
// known ones.
func (r *Layers) Get(ctx context.Context, name string) (Role, error) {
	all, err := r.List(ctx)
	var names []string
	name = fullName(all, name)
	for _, l := range all {
		switch {
		case l.name() != name:
			names = append(names, l.name())
		case !l.Counts():
			return Role{}, fmt.Errorf("role %s (%s) picks a model, servers or documents outside of it, runs hooks, or asks for values, and waits until you trust this project", name, l.Untrusted.Path)
		default:
			return l.Role, nil
		}
	}
	if err != nil {
		return Role{}, fmt.Errorf("role %s: %w", name, err)
	}
	return Role{}, fmt.Errorf("role %s: %w (there are: %s)", name, ErrUnknown, strings.Join(names, ", "))
}

// fromProject reads a folder of the project, and no file outside of the project.
func (r *Layers) fromProject(dir string, source Source) ([]Role, error) {
	if r.Project == "" {
		return folderRoles(dir, source, readFile)
	}
	if dir == "" {
		return nil, nil
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := r.admits(dir); err != nil {
		return nil, err
	}
	return folderRoles(dir, source, func(path string) ([]byte, error) {
		if err := r.admits(path); err != nil {
			return nil, err
		}
		return paths.ReadInside(r.Project, path, MaxBytes)
	})
}

func (r *Layers) fromPlugins() ([]Role, error) {
	var all []Role
	var errs []error
	for _, p := range r.PluginAgents {
		for _, path := range p.Paths {
			roles, err := folderRoles(path, Plugin, readFile)
			for i := range roles {
				roles[i].Name = p.Plugin + ":" + roles[i].Name
				roles[i].leaveHooks()
			}
			all, errs = append(all, roles...), append(errs, err)
		}
	}
	return all, errors.Join(errs...)
}

// errAbsent says that a project's role file is not read.
var errAbsent = errors.New("leads out of the project, or to what may not be read: it is ignored")

// admits returns an errAbsent for a path that leads out of the project or is denied.
func (r *Layers) admits(path string) error {
	real, err := paths.Inside(r.Project, path)
	if err != nil || r.Denied != nil && r.Denied(real) {
		return fmt.Errorf("%s %w", path, errAbsent)
	}
	return nil
}

func (r *Layers) fromRows(ctx context.Context) ([]Role, error) {
	if r.Rows == nil {
		return nil, nil
	}
	rows, err := r.Rows.List(ctx)
	var all []Role
	for _, row := range rows {
		role := Parse(row.Name, []byte(row.Text))
		role.Source = Database
		all = append(all, role)
	}
	return all, err
}

// Builtins returns the roles that come with the program, by name.
func Builtins() ([]Role, error) {
	entries, err := builtinRoles.ReadDir("builtin")
	if err != nil {
		return nil, err
	}
	var all []Role
	for _, e := range entries {
		data, err := builtinRoles.ReadFile("builtin/" + e.Name())
		if err != nil {
			return nil, err
		}
		role := Parse(strings.TrimSuffix(e.Name(), ".md"), data)
		role.Source = Builtin
		all = append(all, role)
	}
	return all, nil
}

// folderRoles reads the `.md` files of a folder. One that can't be read is a role with a
// problem; one that counts as absent is only part of the error.
func folderRoles(dir string, source Source, read func(path string) ([]byte, error)) ([]Role, error) {
	if dir == "" {
		return nil, nil
	}
	files, err := roleFiles(dir, source.foreign())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	parse := Parse
	if source.foreign() {
		parse = ParseAgent
	}
	var all []Role
	var errs []error
	for _, path := range files {
		data, err := read(path)
		if errors.Is(err, errAbsent) {
			errs = append(errs, err)
			continue
		}
		role := parse(text.Valid(strings.TrimSuffix(filepath.Base(path), ".md")), data)
		if err != nil {
			role.problem(0, err.Error(), "", true)
		}
		role.Source, role.Path = source, path
		all = append(all, role)
	}
	return all, errors.Join(errs...)
}

const (
	maxFiles = 1000 // role files of one folder that are read
	maxDepth = 8    // folders below each other that are searched
)

// roleFiles returns the `.md` files of a folder. With deep, it descends into folders, and dir
// may be a file.
func roleFiles(dir string, deep bool) ([]string, error) {
	var files []string
	real, err := filepath.EvalSymlinks(dir) // a walk does not follow a link
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(real, path) // path is below real
		switch {
		case err != nil && path == real:
			return err
		case err != nil:
			return nil // a folder that can't be read is left out
		case d.IsDir() && path != real && (!deep || strings.HasPrefix(d.Name(), ".") || strings.Count(rel, string(filepath.Separator)) >= maxDepth):
			return filepath.SkipDir
		case d.IsDir() || path == real && !deep:
			return nil
		case filepath.Ext(path) == ".md" && !strings.HasPrefix(d.Name(), "."):
			files = append(files, filepath.Join(dir, rel))
		}
		if len(files) == maxFiles {
			return filepath.SkipAll
		}
		return nil
	})
	return files, err
}

// readFile reads a regular file of bounded size. A pipe would block.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > MaxBytes {
		return nil, fmt.Errorf("%s has %d bytes, a role has at most %d", path, info.Size(), MaxBytes)
	}
	return paths.ReadFile(path, MaxBytes)
}

// Import reads a role file and stores it as a row under its file name, byte for byte. It
// returns the role as it was read; an unusable one is not stored.
func (r *Layers) Import(ctx context.Context, path string) (Role, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".md")
	data, err := readFile(path)
	if err != nil {
		return Role{}, fmt.Errorf("import role: %w", err)
	}
	role := Parse(name, data)
	role.Source = Database
	if err := role.Usable(); err != nil {
		return role, fmt.Errorf("import %s: %w", path, err)
	}
	return role, r.Rows.Save(ctx, name, string(data))
}
