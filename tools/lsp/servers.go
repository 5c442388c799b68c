package lsp

import (
	"reflect"
	"slices"
	"sync"
)

// allServers returns the configured servers and the known ones that they do not replace.
func allServers(configured []Server, disabled []string) []Server {
	own := map[string]bool{}
	for _, s := range configured {
		own[s.Name] = true
	}
	others := slices.DeleteFunc(known(), func(s Server) bool { return own[s.Name] })
	var out []Server
	for _, s := range append(slices.Clone(configured), others...) {
		if !slices.Contains(disabled, s.Name) && len(s.Command) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// start describes a start of the server.
func (s Server) start(root string, from program) Start {
	return Start{Name: s.Name, Root: root, Command: s.line(from), Program: from.path, Own: from.own, Personal: s.Personal, Plugin: s.Plugin}
}

// list returns the servers; the slice must not be changed.
func (m *Manager) list() []Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.servers
}

// SetServers replaces the configured servers. Running servers whose configuration changed or was
// removed are stopped; a file that needs one starts it again.
func (m *Manager) SetServers(configured []Server, disabled []string) {
	list := allServers(configured, disabled)
	m.mu.Lock()
	m.servers = list
	var over []*instance
	for _, in := range m.running() {
		if !slices.ContainsFunc(list, func(s Server) bool { return reflect.DeepEqual(s, in.server) }) {
			over = append(over, in)
		}
	}
	m.mu.Unlock()
	var ending sync.WaitGroup
	for _, in := range over {
		ending.Go(func() { m.retire(in) })
	}
	ending.Wait()
	m.Look()
}
