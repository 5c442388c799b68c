package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/tools/command"
)

// Status is one server for people.
type Status struct {
	Name, Root string
	State      State
	Pid        int
	Open       int   // documents
	Errors     int   // in them
	Memory     int64 // bytes of the server's own process; 0 where the system doesn't say
	Err        string
	Complaint  string // its last error message
	Loading    bool
}

// Servers returns the running servers, then those that ended on their own.
func (m *Manager) Servers() []Status {
	m.mu.Lock()
	list := m.running()
	live := len(list)
	for id, in := range m.fallen {
		if m.live[id] == nil {
			list = append(list, in)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(list[live:], byName)
	out := make([]Status, len(list))
	for i, in := range list {
		out[i] = in.status()
	}
	return out
}

func (in *instance) status() Status {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := Status{Name: in.server.Name, Root: in.root, State: in.state, Open: len(in.docs), Errors: in.found.errors(in.docs), Loading: in.working(), Complaint: in.complaint}
	if in.err != nil {
		s.Err = text.OneLine(in.err.Error() + in.said())
	}
	if in.proc != nil && in.state != StateFailed {
		s.Pid = in.proc.Pid()
		s.Memory = memory(s.Pid)
	}
	return s
}

// List implements command.Source: `/lsp`.
func (m *Manager) List() []command.Command {
	return []command.Command{{
		Name: "lsp", Description: "language servers: state, log, restart, off, on", Hint: "[log|restart|off|on NAME]", Origin: "builtin",
		Run: m.run,
		Complete: func(_ context.Context, args string) []string {
			word, _, named := strings.Cut(args, " ")
			if !named {
				return []string{"log ", "restart ", "off ", "on "}
			}
			var out []string
			for _, s := range m.Servers() {
				out = append(out, word+" "+s.Name)
			}
			return out
		},
	}}
}

func (m *Manager) run(_ context.Context, args string) (command.Outcome, error) {
	word, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	if word == "" {
		return command.Outcome{Notice: m.overview()}, nil
	}
	if !slices.Contains([]string{"log", "restart", "off", "on"}, word) {
		return command.Outcome{}, fmt.Errorf("/lsp knows log, restart, off and on; not %q", word)
	}
	if !slices.ContainsFunc(m.list(), func(s Server) bool { return s.Name == name }) {
		return command.Outcome{}, fmt.Errorf("name a server: /lsp %s NAME; /lsp alone lists them", word)
	}
	m.mu.Lock()
	var list, fallen []*instance
	for _, in := range m.live {
		if in.server.Name == name {
			list = append(list, in)
		}
	}
	for id, in := range m.fallen {
		if in.server.Name != name {
			continue
		}
		if fallen = append(fallen, in); word == "restart" {
			delete(m.fallen, id)
		}
	}
	if word == "log" {
		m.mu.Unlock()
		return command.Outcome{Notice: logOf(name, append(list, fallen...))}, nil
	}
	m.off[name] = word == "off"
	for id := range m.deaths {
		if strings.HasPrefix(id, name+"\x00") {
			delete(m.deaths, id)
		}
	}
	for id := range m.refused {
		if strings.HasPrefix(id, name+"\x00") || strings.HasPrefix(id, "told\x00"+name) {
			delete(m.refused, id)
		}
	}
	m.mu.Unlock()
	if word != "on" {
		for _, in := range list {
			m.retire(in)
		}
	}
	notice := map[string]string{
		"off": name + " is off", "on": name + " is on: it starts when a file of its languages is edited or asked about",
		"restart": name + " was ended: it starts again when a file of its languages is edited or asked about",
	}
	return command.Outcome{Notice: notice[word]}, nil
}

func logOf(name string, list []*instance) string {
	for _, in := range list {
		if words := in.stderr.String(); words != "" {
			return name + " says:\n" + words
		}
	}
	return name + " has said nothing"
}

// overview lists what runs, what ended and what can be started.
func (m *Manager) overview() string {
	var b strings.Builder
	for _, s := range m.Servers() {
		fmt.Fprintf(&b, "%s  %s  %s", s.Name, s.word(), m.shown(s.Root))
		if s.Pid > 0 {
			fmt.Fprintf(&b, "  %s open, %s", text.Count(s.Open, "file"), text.Count(s.Errors, "error"))
		}
		if s.Memory > 0 {
			fmt.Fprintf(&b, ", %d MB", s.Memory>>20)
		}
		if s.Err != "" {
			fmt.Fprintf(&b, "\n    %s", s.Err)
		}
		if s.Complaint != "" {
			fmt.Fprintf(&b, "\n    it reported an error: %s", s.Complaint)
		}
		b.WriteByte('\n')
	}
	m.mu.Lock()
	for name, off := range m.off {
		if off {
			fmt.Fprintf(&b, "%s  off\n", name)
		}
	}
	m.mu.Unlock()
	var waiting []string
	for _, s := range m.Available() {
		if !strings.Contains(b.String(), s.Name) {
			waiting = append(waiting, s.Name)
		}
	}
	if len(waiting) > 0 {
		fmt.Fprintf(&b, "installed, not started yet: %s\n", strings.Join(waiting, ", "))
	}
	if b.Len() == 0 {
		return "no language server is installed for what this folder shows; `jcode doctor` lists what could be"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (s Status) word() string {
	if s.State == StateReady && s.Loading {
		return "reads the project"
	}
	return string(s.State)
}

// StatusLine returns a few words for the status line, or "".
func (m *Manager) StatusLine() string {
	if n := m.Errors(); n > 0 {
		return text.Count(n, "error")
	}
	return ""
}
