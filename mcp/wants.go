package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/mcp/config"
)

// ErrNeedsApproval reports that a server of a project's file needs a person's approval.
var ErrNeedsApproval = errors.New("needs approval")

// needsApproval names the entry that waits, and what to do.
type needsApproval struct {
	name, file string
	fault      error // why kept approvals can't be read, nil when they can
}

func (e *needsApproval) Error() string {
	if e.fault != nil {
		return fmt.Sprintf("server %s of %s needs approval: %v", e.name, e.file, e.fault)
	}
	return fmt.Sprintf("server %s of %s needs approval: /mcp approve %s in jcode, or start it with --trust", e.name, e.file, e.name)
}
func (e *needsApproval) Unwrap() error { return ErrNeedsApproval }

// wants is the desired state: which servers exist and which of them should run. It consists of
// the configuration, the servers that were connected besides, and the claims of leases. Manager.mu
// guards it.
type wants struct {
	approvals  *approvals
	config     config.Config
	configured bool // config was read
	chosen     map[string]config.Chosen
	extra      map[string]config.Entry // connected by the agent or Lua, by name
	off        map[string]string       // disconnected explicitly: by whom
	forced     map[string]bool         // switched on for this session though disabled
	claims     map[*claim]struct{}
	base       *claim // the session's own, of configured servers
	own        *claim // the servers that the agent and Lua connected
	started    bool
}

// claim names servers that shall run: what a lease, or the session itself, asks for.
type claim struct {
	names map[string]bool
	// exclusive claims replace the session's own claim of configured servers.
	exclusive bool
}

func newWants(a *approvals) *wants {
	w := &wants{
		approvals: a, chosen: map[string]config.Chosen{}, extra: map[string]config.Entry{}, off: map[string]string{},
		forced: map[string]bool{}, claims: map[*claim]struct{}{},
	}
	w.base, w.own = w.claim(), w.claim()
	return w
}

// take replaces the configuration.
func (w *wants) take(c config.Config) {
	w.config, w.configured = c, true
	w.choose()
}

// choose picks the definition of each name.
func (w *wants) choose() { w.chosen = w.config.Choose(w.approvals.approved) }

// entry returns the definition of a name.
func (w *wants) entry(name string) (config.Entry, bool) {
	if c, ok := w.chosen[name]; ok {
		return c.Entry, true
	}
	e, ok := w.extra[name]
	return e, ok
}

// known lists all names, sorted.
func (w *wants) known() []string {
	names := slices.Collect(maps.Keys(w.chosen))
	for name := range w.extra {
		if _, ok := w.chosen[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// problems lists the files, entries and approvals that can't be used; with odd, also what is odd in the
// configuration.
func (w *wants) problems(odd bool) []string {
	var out []string
	if odd {
		out = slices.Clone(w.config.Warnings)
	}
	for _, f := range w.config.Files {
		if f.Error != "" {
			out = append(out, f.Error)
		}
	}
	for _, name := range w.known() {
		e, _ := w.entry(name)
		if odd {
			out = append(out, e.Warnings...)
		}
		if e.Err != nil {
			out = append(out, e.Err.Error())
		}
	}
	if err := w.approvals.fault(); err != nil {
		out = append(out, err.Error())
	}
	return out
}

// named returns the entry of a name, or an error that lists the known names.
func (w *wants) named(name string) (config.Entry, error) {
	e, ok := w.entry(name)
	if !ok {
		return e, config.UnknownServer(name, w.known())
	}
	return e, nil
}

// usable returns the entry of a name if it may start: it is known, valid and approved.
func (w *wants) usable(name string) (config.Entry, error) {
	e, err := w.named(name)
	switch {
	case err != nil:
		return e, err
	case e.Err != nil:
		return e, e.Err
	case !w.approvals.approved(e):
		return e, &needsApproval{name, e.Source.File, w.approvals.fault()}
	}
	return e, nil
}

// want adds a server to a claim; the next settle starts it. Every start of a server begins
// here: an entry that must not start is an error, and an explicit disconnect is undone. With a
// nil claim an existing claim of the server is enough, and without one the session's own takes
// it.
func (w *wants) want(name string, c *claim) (config.Entry, error) {
	e, err := w.usable(name)
	if err != nil {
		return e, err
	}
	delete(w.off, name)
	if !e.Enabled && (c == nil || c == w.own) {
		w.forced[name] = true
	}
	if c == nil && w.held()[name] == 0 {
		c = w.own
	}
	if c != nil {
		c.names[name] = true
	}
	return e, nil
}

// drop removes a server from all claims. by names who asked, as the status shows it.
func (w *wants) drop(name, by string) {
	for c := range w.claims {
		delete(c.names, name)
	}
	w.off[name] = by
	delete(w.forced, name)
}

// wantEnabled adds the servers that run without a request to the session's claim. One answer
// can approve several servers; the first caller adds all of them.
func (w *wants) wantEnabled() {
	for name, c := range w.chosen {
		if c.Entry.Err == nil && (c.Entry.Enabled || w.forced[name]) && w.approvals.approved(c.Entry) && w.off[name] == "" {
			w.base.names[name] = true
		}
	}
}

// retake updates the claims after the configuration was read again.
func (w *wants) retake() {
	clear(w.base.names)
	w.wantEnabled()
	for c := range w.claims {
		maps.DeleteFunc(c.names, func(name string, _ bool) bool { _, ok := w.entry(name); return !ok })
	}
}

// fits returns the entry of a target under a name: the known one if its target is equal, otherwise a new one.
// A new one may replace only a server that was connected in addition to the configuration.
func (w *wants) fits(name string, target config.Target, by config.Scope) (e config.Entry, known bool, err error) {
	if err := config.CheckServer(name, target); err != nil {
		return config.Entry{}, false, err
	}
	if w.extra[name].Source.Scope == config.ScopeProgram {
		return config.Entry{}, false, fmt.Errorf("the program that drives this run serves %q: choose another name", name)
	}
	if c, configured := w.chosen[name]; configured {
		if !c.Entry.Target.Equal(target) {
			return config.Entry{}, false, fmt.Errorf("a server %q is configured with another target (%s): choose another name", name, sourceText(c.Entry.Source))
		}
		return c.Entry, true, nil
	}
	if old, ok := w.extra[name]; ok && old.Target.Equal(target) {
		return old, true, nil
	}
	e = config.NewEntry(name)
	e.Target, e.Source = target, config.Source{Scope: by}
	return e, false, nil
}

// adopt adds a new target for a name if fits allows it.
func (w *wants) adopt(name string, target config.Target, by config.Scope) (e config.Entry, known bool, err error) {
	if e, known, err = w.fits(name, target, by); err == nil && !known {
		w.extra[name] = e
	}
	return e, known, err
}

// claim returns a new, empty claim.
func (w *wants) claim() *claim {
	c := &claim{names: map[string]bool{}}
	w.claims[c] = struct{}{}
	return c
}

// give ends a claim.
func (w *wants) give(c *claim) { delete(w.claims, c) }

// held counts the claims of each name.
func (w *wants) held() map[string]int {
	out := map[string]int{}
	suspended := false
	for c := range w.claims {
		suspended = suspended || c.exclusive
	}
	for c := range w.claims {
		if c == w.base && suspended {
			continue
		}
		for name := range c.names {
			out[name]++
		}
	}
	return out
}

// reason returns why a server does not run.
func (w *wants) reason(name string, e config.Entry) string {
	switch {
	case w.off[name] != "":
		return "disconnected by " + w.off[name]
	case !w.approvals.approved(e):
		return "needs approval"
	case !e.Enabled && !w.forced[name]:
		return "disabled"
	case w.started && w.held()[name] == 0:
		return w.leftOut()
	}
	return ""
}

// leftOut returns why a server that may run has no claim: a role names its own servers.
func (w *wants) leftOut() string {
	names, byRole := map[string]bool{}, false
	for c := range w.claims {
		if c.exclusive {
			byRole = true
			maps.Copy(names, c.names)
		}
	}
	switch {
	case !byRole:
		return "not started"
	case len(names) == 0:
		return "not in this role, which has no servers"
	}
	return "not in this role, whose mcp_servers are " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
