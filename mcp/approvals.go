package mcp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/internal/secret"
	"jcode/internal/startfiles"
	"jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/tools"
)

// approvals decides what may start. An approval is bound to a pin: a hash of the target and
// of the project's files that it starts. It is safe for concurrent use.
type approvals struct {
	env     config.Environment
	project string      // its folder; empty: none
	trust   tools.Trust // nil: nothing is kept
	all     bool        // all entries of the project are approved

	confiner Confiner // may be nil

	mu       sync.Mutex
	session  map[string]bool   // approved for this session: name and pin
	accepted map[string]string // pinKey → the pin with which a target was last allowed to start
	begun    map[string]int    // pinKey → the mark of changes when a person last allowed it to start
	changes  Changes           // may be nil
	pins     map[string]pin    // cached for pinAge
	unread   error             // why the kept approvals could not be read last; nothing is approved then
}

func newApprovals(opt Options, env config.Environment) *approvals {
	return &approvals{
		env: env, project: opt.Paths.ProjectRoot, trust: opt.Trust, all: opt.TrustAll, confiner: opt.Confiner,
		session: map[string]bool{}, accepted: map[string]string{}, begun: map[string]int{}, changes: opt.Changes, pins: map[string]pin{},
	}
}

// pinAge is how long a computed pin is used for lists and status. A start always computes it
// again.
const pinAge = time.Second

// pin is a computed pin.
type pin struct {
	hash string
	at   time.Time
}

// pinKey distinguishes the targets that a name has had.
func pinKey(e config.Entry) string { return e.Name + " " + e.Target.Hash() }

// lines returns the command lines in which the files that a target starts are searched: as
// written, expanded, and with arguments relative to its own folder.
func (a *approvals) lines(e config.Entry) []string {
	t := e.Target
	if t.Type != config.Stdio {
		return nil
	}
	lines := []string{t.Line()}
	if r, err := a.env.Resolve(e); err == nil {
		lines = append(lines, strings.Join(append([]string{r.Program}, r.Args...), "\n"))
		if dir := r.Dir; dir != "" && dir != a.env.Root {
			for _, arg := range r.Args {
				lines = append(lines, filepath.Join(dir, arg))
			}
		}
	}
	return lines
}

// pin returns the hash to which an approval of an entry is bound.
func (a *approvals) pin(e config.Entry) string {
	if a.project == "" {
		return e.Target.Hash()
	}
	return startfiles.Pin(e.Target.Hash(), a.project, a.lines(e)...)
}

// recentPin is pin, not older than pinAge.
func (a *approvals) recentPin(e config.Entry) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := pinKey(e)
	if p, ok := a.pins[key]; ok && time.Since(p.at) < pinAge {
		return p.hash
	}
	p := pin{a.pin(e), time.Now()}
	a.pins[key] = p
	return p.hash
}

// trustItem returns an entry with this pin as an item to trust.
func trustItem(e config.Entry, hash string) tools.TrustItem {
	return tools.TrustItem{Kind: tools.TrustMCP, Name: e.Name, Hash: hash, File: e.Source.File}
}

// item returns an entry as it is now as an item to trust. A plugin's is trusted with the plugin.
func (a *approvals) item(e config.Entry) tools.TrustItem {
	item := trustItem(e, a.recentPin(e))
	item.Personal = e.Source.Plugin != ""
	return item
}

// has reports whether a person gave a further right.
func (a *approvals) has(item tools.TrustItem) bool {
	if a.trust == nil {
		return false
	}
	ok, err := a.trust.Trusted(context.Background(), item)
	return ok && err == nil
}

// forSession reports whether an entry was approved in this session.
func (a *approvals) forSession(e config.Entry) bool {
	hash := a.recentPin(e)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.session[e.Name+" "+hash]
}

// approved reports whether an entry may start without a question.
func (a *approvals) approved(e config.Entry) bool {
	if e.Source.Scope != config.ScopeProject || a.all {
		return true
	}
	hash := a.recentPin(e)
	a.mu.Lock()
	now := a.session[e.Name+" "+hash]
	a.mu.Unlock()
	if now || a.trust == nil {
		return now
	}
	ok, err := a.trust.Trusted(context.Background(), trustItem(e, hash))
	a.mu.Lock()
	a.unread = err
	a.mu.Unlock()
	return ok && err == nil
}

// fault returns why the kept approvals could not be read, nil when they could. What waits for
// approval may have it already.
func (a *approvals) fault() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unread == nil {
		return nil
	}
	return fmt.Errorf("servers of this project stay off, because their approvals can't be read: %w", a.unread)
}

// approve approves an entry with this pin: permanently with keep, otherwise for this session.
func (a *approvals) approve(e config.Entry, hash string, keep bool) error {
	if keep && a.trust != nil {
		if err := a.trust.Accept(context.Background(), []tools.TrustItem{trustItem(e, hash)}, true); err != nil {
			return fmt.Errorf("keep the approval of %s: %w", e.Name, err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session[e.Name+" "+hash] = true
	return nil
}

// accept makes the next start of a server accept its files as they are then. It is called only
// after a person has asked for it.
func (a *approvals) accept(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.accepted, func(key, _ string) bool { return strings.HasPrefix(key, name+" ") })
	for key := range a.begun {
		if strings.HasPrefix(key, name+" ") {
			delete(a.begun, key)
		}
	}
	clear(a.pins)
}

// changedSince reports whether the files that an entry starts differ from when it was last
// started in this session.
func (a *approvals) changedSince(e config.Entry) bool {
	now := a.pin(e)
	a.mu.Lock()
	was, ok := a.accepted[pinKey(e)]
	a.mu.Unlock()
	return ok && was != now || len(a.agentsChanged(e)) > 0
}

// mayStart is called before each start of a process, including automatic restarts, so that
// nothing runs that has changed since a person allowed it.
func (a *approvals) mayStart(e config.Entry) error {
	now := a.pin(e)
	a.mu.Lock()
	clear(a.pins)
	a.mu.Unlock()
	if files := a.agentsChanged(e); len(files) > 0 {
		return wire.Permanentf("files that may belong to it were changed in this session since the user last approved or started it (%s): connect it again with mcp_connect, which asks, or restart it in /mcp", some(files))
	}
	if !a.approved(e) {
		if err := a.fault(); err != nil {
			return wire.Permanentf("%v: %v", ErrNeedsApproval, err)
		}
		return wire.Permanentf("%v: what it starts has changed since it was approved (%s): /mcp approve %s", ErrNeedsApproval, a.filesText(e), e.Name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if was, ok := a.accepted[pinKey(e)]; ok && was != now {
		return wire.Permanentf("what it starts has changed since the user last approved or started it (%s): connect it again with mcp_connect, which asks, or restart it in /mcp", a.filesText(e))
	}
	a.accepted[pinKey(e)] = now
	if _, started := a.begun[pinKey(e)]; !started {
		a.begun[pinKey(e)] = a.mark()
	}
	return nil
}

// mark returns how many changes of files are known now.
func (a *approvals) mark() int {
	if a.changes == nil {
		return 0
	}
	return a.changes.Count()
}

// agentsChanged lists the files of a kind that runs which this session's agents changed below the project's root
// since a person last allowed the entry to start.
func (a *approvals) agentsChanged(e config.Entry) []string {
	if a.changes == nil || e.Source.Scope != config.ScopeProject || e.Target.Type != config.Stdio {
		return nil
	}
	a.mu.Lock()
	since, started := a.begun[pinKey(e)]
	a.mu.Unlock()
	if !started {
		return nil
	}
	return a.changes.Since(since, startfiles.Files(a.project, a.lines(e)...))
}

// some joins the first of many names.
func some(files []string) string {
	const most = 5
	if len(files) > most {
		files = append(files[:most:most], fmt.Sprintf("and %d more", len(files)-most))
	}
	return strings.Join(files, ", ")
}

// filesText names the project's files that an entry starts.
func (a *approvals) filesText(e config.Entry) string {
	return some(startfiles.Files(a.project, a.lines(e)...))
}

// access describes a start for the gate. A grant is bound to the started files, too.
func (a *approvals) access(e config.Entry) tools.Access {
	out := tools.Access{Kind: tools.AccessConnect, Target: e.Name, Hash: a.pin(e)}
	if e.Target.Type == config.Stdio {
		out.Command = e.Target.Line()
	} else {
		out.URL = e.Target.URL
	}
	return out
}

// pending describes an entry that waits for approval.
func (a *approvals) pending(e config.Entry, replaces bool) *Pending {
	p := &Pending{Name: e.Name, Line: e.Target.Line(), Notes: a.notes(e), File: e.Source.File, Hash: a.recentPin(e), Needs: needs(e)}
	if e.Target.Type == config.Stdio {
		p.Notes = append(p.Notes, a.confinedNote())
	}
	if replaces {
		p.Notes = append(p.Notes, "it replaces your own server "+e.Name)
	}
	return p
}

// confinedNote says how the programs of a project run.
func (a *approvals) confinedNote() string {
	if a.confiner == nil || !a.confiner.Available() {
		return "runs with all your rights: this machine can't confine it"
	}
	return "runs confined: it writes this project only, reads no keys, and has no network unless a row here says so"
}

// notes returns what a question about a start must show besides its command line.
func (a *approvals) notes(e config.Entry) []string {
	t, from := e.Target, e.Source.Scope
	var notes []string
	if t.Type == config.Stdio {
		notes = append(notes, "program: "+a.env.ProgramPath(e))
		if dir := t.Cwd; dir != "" {
			notes = append(notes, "folder: "+dir)
		}
		if len(t.Env) > 0 {
			notes = append(notes, "environment: "+joinNames(t.Env))
		}
		if len(t.Roots) > 0 {
			notes = append(notes, "roots: "+strings.Join(t.Roots, ", "))
		}
	} else if t.Remote() {
		notes = append(notes, urlNotes(t)...)
	}
	for _, name := range config.Variables(t) {
		if !from.Expands() {
			notes = append(notes, "${"+name+"} stays as it is written: variables are expanded in configuration files only")
			continue
		}
		note := "reads the variable " + name
		if secret.Name(name) {
			note += " (a key or token)"
		}
		notes = append(notes, note)
	}
	return notes
}

func urlNotes(t config.Target) []string {
	notes := []string{"connects to " + t.URL}
	if len(t.Headers) > 0 {
		notes = append(notes, "headers: "+joinNames(t.Headers))
	}
	if len(t.HeadersHelper) > 0 {
		notes = append(notes, "runs for its headers: "+config.Target{Type: config.Stdio, Command: t.HeadersHelper[0], Args: t.HeadersHelper[1:]}.Line())
	}
	if t.OAuth != nil && len(t.OAuth.Scopes) > 0 {
		notes = append(notes, "signs in with the rights: "+strings.Join(t.OAuth.Scopes, ", "))
	}
	if t.OAuth != nil && t.OAuth.IDP != nil {
		notes = append(notes, "uses your sign-in to "+t.OAuth.IDP.Issuer)
	}
	return notes
}
