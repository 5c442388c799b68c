package lsp

import (
	"slices"
	"strings"
)

// Late returns what servers have found, since the last result, of the changes of a session: for the model's next
// step. It waits for nothing.
func (m *Manager) Late(session string) string {
	m.mu.Lock()
	list := m.running()
	for id, in := range m.fallen {
		if m.live[id] != in {
			list = append(list, in)
		}
	}
	m.mu.Unlock()
	var out []string
	for _, in := range list {
		if s := in.afterwards(session); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

// afterwards returns what the server has found since the last result.
func (in *instance) afterwards(session string) string {
	in.mu.Lock()
	debts := in.found.debts(session)
	if in.state == StateFailed {
		in.found.settle(debts)
		in.mu.Unlock()
		if len(debts) == 0 {
			return ""
		}
		return in.worded(told{}, outcomeEnded, "")
	}
	if in.state == StateReady {
		debts = slices.DeleteFunc(debts, func(path string) bool {
			if in.docs[path] == nil { // it was removed since
				in.found.settle([]string{path})
			}
			return in.docs[path] == nil
		})
	}
	paid := slices.DeleteFunc(slices.Clone(debts), func(path string) bool {
		return in.docs[path] == nil || in.working() || !in.found.answeredFor(in.docs, path)
	})
	if len(paid) < len(debts) || len(debts) == 0 && (in.session != session || !in.found.unread || in.working()) {
		in.mu.Unlock()
		return ""
	}
	settled := true
	owed := map[string]*debt{}
	for _, path := range paid {
		owed[path] = in.found.files[path].owed
		settled = settled && owed[path].settled
	}
	news := in.found.fresh(in.docs, paid, settled, func(path string, line int) bool { return owed[path].lines(path, line) })
	in.found.settle(paid)
	if len(paid) > 0 {
		in.answers = true
	}
	in.mu.Unlock()
	on := " on what was changed before"
	if len(paid) > 0 {
		shown := make([]string, len(paid))
		for i, path := range paid {
			shown[i] = in.around.shown(path)
		}
		on = " on the edit of " + strings.Join(shown[:min(len(shown), 5)], ", ")
	}
	if len(news.list) == 0 && len(paid) > 0 {
		return "[" + in.server.Name + on + ": nothing new]"
	}
	return in.worded(news, outcomeAnswered, on)
}
