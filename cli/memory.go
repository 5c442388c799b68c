package cli

import (
	"context"
	"path/filepath"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/cli/core"
	"jcode/cli/memory"
	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/internal/toolcard"
	"jcode/notes"
	"jcode/session"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/command"
)

// The values of the setting memory.
const (
	memoryOff  = "off"
	memoryAuto = "auto"
)

// remembering connects the notes from earlier sessions with the conversation. Without notes it adds nothing.
type remembering struct {
	store   *notes.Store
	memory  *memory.Memory // nil where notes are off
	folder  string         // of all notes, resolved
	actions memory.Actions
}

// openNotes returns the notes of this folder's project, and of the user. Nothing is read.
func openNotes(a *app) *notes.Store {
	return notes.Open(notes.Options{
		Folder: filepath.Join(a.paths.Data, "memory"), Project: session.RepositoryKey(a.root), Root: a.root,
		Locks: filelock.Paths{Dir: a.store.LockFolder()}, Embedder: func() (notes.Embedder, error) {
			if a.documents == nil {
				return nil, nil
			}
			e, err := a.documents.Embedder()
			if e == nil || err != nil { // a nil client is no embedder
				return nil, err
			}
			return e, nil
		},
	})
}

// usesNotes reports whether notes are read, and whether they may be added. A single run does neither unless it is
// told to: scripts must repeat.
func usesNotes(a *app) (reads, writes bool) {
	switch {
	case a.flags.NoMemory || a.config.Memory == memoryOff || a.tour != nil:
		return false, false
	case a.flags.Memory != "":
		return true, a.flags.Memory == "write"
	}
	return !a.flags.Print, !a.flags.Print
}

// openMemory registers the tools for notes.
func openMemory(a *app) error {
	r := &remembering{store: openNotes(a)}
	a.memory = r
	r.actions = notesActions(a)
	reads, writes := usesNotes(a)
	if !reads {
		return nil
	}
	r.folder = paths.Real(filepath.Join(a.paths.Data, "memory"))
	r.memory = memory.New(memory.Options{
		Notes: r.store, Sessions: a.store, Project: a.project, Open: a.board.Open, Writes: writes,
		Inside: func(path string) bool { return a.workspace.Contains(path) || a.outputs.Holds(path) || r.holds(path) },
		Drafts: config.IsOn(a.config.MemoryDrafts), Once: once(a), Say: func(line string) { a.board.Say(event.LevelInfo, "%s", line) },
		Ask: func(ctx context.Context, system, text string) (string, error) {
			conv := a.board.Open()
			if conv == nil {
				return "", core.ErrNoMessages
			}
			return agent.AskAside(ctx, conv, system, text)
		},
		Trusted: trustsProject(a), Foreign: foreignTools(a.registry),
	})
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, r.memory)
	for _, t := range r.memory.Tools() {
		if err := a.registry.Register(tools.OwnerBuiltin, tools.RankBuiltin, t); err != nil {
			return err
		}
	}
	a.commands.Sources = append(a.commands.Sources, r.memory)
	a.onClose(r.memory.Close)
	return nil
}

// notesActions are what the person does with notes.
func notesActions(a *app) memory.Actions {
	store := openNotes(a)
	if a.memory != nil {
		store = a.memory.store
	}
	return memory.Actions{Notes: store, Sessions: a.store, Project: a.project, Home: a.paths.Home, Root: a.root}
}

// once reports whether something is offered for the first time to this person, and records that it was.
func once(a *app) func(what string) bool {
	if a.flags.Print {
		return nil
	}
	return func(what string) bool {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		drafts := a.store.Drafts()
		was, err := drafts.Get(ctx, "offered notes: "+what)
		return err == nil && was == "" && drafts.Set(ctx, "offered notes: "+what, "yes") == nil
	}
}

// trustsProject reports whether nothing of the project waits for the person's trust.
func trustsProject(a *app) func() bool {
	inert := newUntrusted(a).Items
	return func() bool {
		waits, err := a.trust.Notice(context.Background(), inert())
		return err == nil && waits == ""
	}
}

// foreignTools says what tools read of others' texts that their plan does not name.
func foreignTools(registry *tools.Registry) func(name string) string {
	return func(name string) string {
		if toolcard.Of(name).Kind == toolcard.Fetch && name != "fetch" {
			return "results of " + name
		}
		e, ok, _ := registry.Snapshot(nil).Lookup(name)
		if ok && e.Spec.Group == tools.GroupLua && e.Spec.Needs&(tools.CapHTTP|tools.CapMCP) != 0 {
			return "the Lua tool " + name
		}
		return ""
	}
}

// on reports whether notes are used.
func (r *remembering) on() bool { return r != nil && r.memory != nil }

// holds reports whether a resolved path is a file of notes, which a session that uses them may read.
func (r *remembering) holds(path string) bool {
	return r != nil && r.folder != "" && path != r.folder && paths.Within(r.folder, path)
}

// read records what a conversation has read that others wrote.
func (r *remembering) read(what string) {
	if r.on() {
		r.memory.Read(what)
	}
}

// extension returns what it adds to jcode.
func (r *remembering) extension() core.Extension {
	return core.Extension{Begin: r.begin, Opened: r.opened, Own: r.own(), Panels: r.panels}
}

// own is a point of the extension.
func (r *remembering) own() agent.Extension {
	if !r.on() {
		return agent.Extension{}
	}
	return r.memory.Extension()
}

// begin is a point of the extension.
func (r *remembering) begin() {
	if r.on() {
		r.memory.Offer(r.actions)
	}
}

// opened is a point of the extension.
func (r *remembering) opened(conv *agent.Conversation, _ bool) {
	if r.on() {
		r.memory.Opened(conv)
	}
}

// panels is a point of the extension.
func (r *remembering) panels() []command.Panel {
	if !r.on() {
		return nil
	}
	return []command.Panel{r.memory.Panel(r.actions)}
}

// knowRole applies what a role says of notes to what it may use.
func (r *remembering) knowRole(of role.Role, scope *tools.Scope) {
	if !r.on() {
		return
	}
	r.memory.KnowRole(of.Name, of.Memory)
	switch both := []string{notes.RecallTool, notes.RememberTool}; {
	case of.Memory == memory.None:
		scope.Without = append(append([]string(nil), scope.Without...), both...)
	case of.Memory != "" && scope.Tools != nil:
		scope.Tools = append(append([]string(nil), scope.Tools...), both...)
	}
}
