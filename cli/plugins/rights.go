package pluginscli

import (
	"path/filepath"
	"slices"

	"jcode/internal/paths"
	"jcode/plugins"
	"jcode/tools"
	"jcode/tools/sandbox"
)

// Rights is how the programs of a plugin run: they read its copy, write its data, and have variables that
// say where both are.
type Rights struct {
	Item    tools.TrustItem
	Program sandbox.Program
	Env     []string
}

// dataOf returns the folder in which a plugin keeps its data.
func dataOf(s plugins.Store, name string) string {
	return filepath.Join(filepath.Dir(s.Dir), "plugin-data", name)
}

// rightsOf returns how the programs of a plugin run.
func rightsOf(s plugins.Store, p plugins.Plugin) Rights {
	data := dataOf(s, p.Name)
	return Rights{
		Item:    tools.TrustItem{Kind: tools.TrustBundle, Name: p.Name, Hash: p.Hash, Personal: true},
		Program: sandbox.Program{Read: []string{p.Bundle.Dir}, Data: []string{data}},
		Env: []string{
			plugins.RootVariable + "=" + p.Bundle.Dir, plugins.DataVariable + "=" + data,
			// The copy is read-only for its programs: what they cache belongs to their data.
			"PYTHONPYCACHEPREFIX=" + filepath.Join(data, "pycache"),
		},
	}
}

// Plugin returns how the programs of a plugin in use run.
func (b *Bundles) Plugin(name string) (Rights, bool) {
	for _, p := range b.current() {
		if p.Name == name {
			return rightsOf(b.store, p), true
		}
	}
	return Rights{}, false
}

// Readable is what every confined command may do besides: read the copies of the plugins in use.
func (b *Bundles) Readable() sandbox.Program {
	var r sandbox.Program
	for _, p := range b.current() {
		r.Read = append(r.Read, p.Bundle.Dir)
	}
	return r
}

// Holds reports whether a resolved path is in the copy of a plugin in use: it was accepted with the plugin.
func (b *Bundles) Holds(path string) bool {
	if b.store.Dir == "" || !paths.Within(paths.Real(b.store.Dir), path) {
		return false
	}
	return slices.ContainsFunc(b.current(), func(p plugins.Plugin) bool { return paths.Within(paths.Real(p.Bundle.Dir), path) })
}
