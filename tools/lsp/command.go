package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	How        string // it runs: "confined", "" for the usual way
	Refused    string // what of that it ran into
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
	s := Status{Name: in.server.Name, Root: in.root, State: in.state, Open: len(in.docs), Errors: in.found.errors(in.docs), Loading: in.working(), Complaint: in.complaint, How: in.permit.How}
	if in.err != nil {
		s.Err = text.OneLine(in.err.Error() + in.said())
	} else {
		s.Refused = in.refusal()
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
		Name: "lsp", Description: "language servers: state, log, restart, off, on, and what they may do", Hint: m.verbs().Hint(), Origin: "builtin",
		Run: m.run, Verbs: m.verbs(),
	}}
}

// verbs are the words of /lsp.
func (m *Manager) verbs() command.Verbs {
	names := func(context.Context, string) (out []string) {
		for _, s := range m.Servers() {
			out = append(out, s.Name)
		}
		return out
	}
	return command.Verbs{
		{Name: "log", Hint: "NAME", Help: "show what a server has said", Complete: names},
		{Name: "restart", Hint: "NAME", Help: "end a server, so that it starts again", Complete: names},
		{Name: "off", Hint: "NAME", Help: "switch a server off", Complete: names},
		{Name: "on", Hint: "NAME", Help: "switch a server on", Complete: names},
		{Name: "allow", Hint: "NAME network|outside", Help: "let a server use the network, or write outside the project", Complete: names},
	}
}

func (m *Manager) run(ctx context.Context, args string) (command.Outcome, error) {
	word, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	if word == "" {
		return command.Outcome{Page: "Language servers", Notice: m.overview()}, nil
	}
	if v, _ := m.verbs().Find(word); v == nil {
		return command.Outcome{}, m.verbs().Unknown("lsp", word)
	}
	if word == "allow" {
		return m.allow(ctx, name)
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
		return command.Outcome{Page: "Log of " + name, Notice: logOf(name, append(list, fallen...))}, nil
	}
	m.off[name] = word == "off"
	maps.DeleteFunc(m.deaths, func(id place, _ []time.Time) bool { return id.server == name })
	maps.DeleteFunc(m.refused, func(id place, _ string) bool { return id.server == name })
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

// allow gives a server a further right and restarts it.
func (m *Manager) allow(ctx context.Context, words string) (command.Outcome, error) {
	name, right, ok := strings.Cut(words, " ")
	if !ok || m.opts.Give == nil {
		return command.Outcome{}, fmt.Errorf("/lsp allow NAME network lets a server use the network, /lsp allow NAME outside write outside this project")
	}
	var start Start
	for _, in := range m.instances() {
		if in.server.Name == name {
			start = in.server.start(in.root, in.program)
		}
	}
	for _, s := range m.list() {
		if s.Name == name && start.Name == "" {
			start = s.start(m.opts.Root, m.finder.installed(s, m.opts.Root))
		}
	}
	if start.Program == "" {
		return command.Outcome{}, fmt.Errorf("no server %s is installed; /lsp alone lists them", text.Visible(name))
	}
	notice, err := m.opts.Give(ctx, start, strings.TrimSpace(right))
	if err != nil {
		return command.Outcome{}, err
	}
	if _, err := m.run(ctx, "restart "+name); err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Notice: notice}, nil
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
		fmt.Fprintf(&b, "%s  %s  %s", s.Name, s.word(), m.around.shown(s.Root))
		if s.Pid > 0 {
			fmt.Fprintf(&b, "  %s open, %s", text.Count(s.Open, "file"), text.Count(s.Errors, "error"))
		}
		if s.Memory > 0 {
			fmt.Fprintf(&b, ", %d MB", s.Memory>>20)
		}
		if s.How != "" {
			b.WriteString("  " + s.How)
		}
		if s.Err != "" {
			fmt.Fprintf(&b, "\n    %s", s.Err)
		}
		if s.Complaint != "" {
			fmt.Fprintf(&b, "\n    it reported an error: %s", s.Complaint)
		}
		if s.Refused != "" {
			fmt.Fprintf(&b, "\n    %s", s.Refused)
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
