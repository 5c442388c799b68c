package mcp

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/startfiles"
	"jcode/mcp/config"
	"jcode/mcp/wire"
)

// pinAge is how long a computed pin serves for lists and status. A start always looks anew.
const pinAge = time.Second

// pin is a computed pin.
type pin struct {
	hash string
	at   time.Time
}

// pinLines are the lines in which the files that a target starts are looked for: as it is
// written, expanded, and from its own folder.
func (m *Manager) pinLines(e config.Entry) []string {
	t := e.Target
	if t.Type != config.Stdio {
		return nil
	}
	lines := []string{t.Line()}
	if r, err := m.env.Resolve(e); err == nil {
		lines = append(lines, strings.Join(append([]string{r.Program}, r.Args...), "\n"))
		if dir := r.Dir; dir != "" && dir != m.env.Root {
			for _, a := range r.Args {
				lines = append(lines, filepath.Join(dir, a))
			}
		}
	}
	return lines
}

// pinOf is what an approval of an entry is bound to: its target, and the content of the
// project's files that it starts.
func (m *Manager) pinOf(e config.Entry) string {
	if m.opt.Paths.ProjectRoot == "" {
		return e.Target.Hash()
	}
	return startfiles.Pin(e.Target.Hash(), m.opt.Paths.ProjectRoot, m.pinLines(e)...)
}

// pinKey tells the targets of a name apart.
func pinKey(e config.Entry) string { return e.Name + " " + e.Target.Hash() }

// pinNow is pinOf, not older than pinAge. The caller holds mu.
func (m *Manager) pinNow(e config.Entry) string {
	key := pinKey(e)
	if p, ok := m.pins[key]; ok && time.Since(p.at) < pinAge {
		return p.hash
	}
	p := pin{m.pinOf(e), time.Now()}
	m.pins[key] = p
	return p.hash
}

// accept lets the next start of a server take the files that it starts as they are then.
// The caller holds mu.
func (m *Manager) accept(name string) {
	maps.DeleteFunc(m.accepted, func(key, _ string) bool { return strings.HasPrefix(key, name+" ") })
	clear(m.pins)
}

// changedSince reports whether the files that an entry starts differ from when it was last
// started in this session. The caller holds mu.
func (m *Manager) changedSince(e config.Entry) bool {
	was, ok := m.accepted[pinKey(e)]
	return ok && was != m.pinOf(e)
}

// mayStart is asked before each start of a process, also when a server that ended is
// started again by itself: nothing runs that has changed since a person let it.
func (m *Manager) mayStart(e config.Entry) error {
	now := m.pinOf(e)
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.pins)
	if e.Source.Scope == config.ScopeProject && !m.isApproved(e) {
		return wire.Permanentf("%v: what it starts has changed since it was approved (%s): /mcp approve %s", ErrNeedsApproval, m.startsText(e), e.Name)
	}
	if was, ok := m.accepted[pinKey(e)]; ok && was != now {
		return wire.Permanentf("what it starts has changed since it was last approved or started by a person (%s): connect it again with mcp_connect, which asks, or restart it in /mcp", m.startsText(e))
	}
	m.accepted[pinKey(e)] = now
	return nil
}

// startsText names the project's files that an entry starts.
func (m *Manager) startsText(e config.Entry) string {
	const most = 5
	files := startfiles.Files(m.opt.Paths.ProjectRoot, m.pinLines(e)...)
	if len(files) > most {
		files = append(files[:most:most], fmt.Sprintf("and %d more", len(files)-most))
	}
	return strings.Join(files, ", ")
}
