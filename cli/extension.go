package cli

import (
	"context"
	"errors"
	"strings"

	"jcode/agent"
	"jcode/remote"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/lsp"
)

// extension is a part that adds to what jcode can do while it runs. An app has a list of them and asks each;
// one that is switched off is not in the list.
type extension interface {
	// begin starts what watches, connects and runs in the background, once the first frame is
	// on its way.
	begin()
	// load starts at once whatever adds tools, and waits for the tools.
	load(ctx context.Context)
	// look registers what is on disk now; begin need not have been called.
	look()
	// refresh applies what plugins contain, after one of them has changed.
	refresh()
	// opened is called with each conversation that begins or continues; again says that it replaces another.
	opened(conv *agent.Conversation, again bool)

	// sections returns its parts of the system prompt of a session.
	sections(sessionID string, scope *tools.Scope) []string
	// own returns what it adds to the person's conversations, agents what it adds to those of sub-agents in the
	// same folder.
	own() agent.Extension
	agents() agent.Extension

	// inert lists what of the project stays off until the person trusts it.
	inert() []tools.TrustItem
	// wake puts into force what of it has just been trusted; items are those of all extensions.
	wake(items []tools.TrustItem) error
	// panels returns the lists that its slash commands show.
	panels() []command.Panel
	// status summarises its state, "" for nothing. It is called for each frame.
	status() string
}

// plain is an extension that adds nothing; others embed it and add what they have.
type plain struct{}

func (plain) begin()                                 {}
func (plain) load(context.Context)                   {}
func (plain) look()                                  {}
func (plain) refresh()                               {}
func (plain) opened(*agent.Conversation, bool)       {}
func (plain) sections(string, *tools.Scope) []string { return nil }
func (plain) own() agent.Extension                   { return agent.Extension{} }
func (plain) agents() agent.Extension                { return agent.Extension{} }
func (plain) inert() []tools.TrustItem               { return nil }
func (plain) wake([]tools.TrustItem) error           { return nil }
func (plain) panels() []command.Panel                { return nil }
func (plain) status() string                         { return "" }

// listExtensions puts the extensions in the order in which they are asked.
func (a *app) listExtensions() {
	life := newPluginLife(a)
	plugins := pluginExtension{life: life, actions: newPluginActions(a, life.look), once: a.flags.Print}
	a.list = extensionList{plugins, a.learning, newRoleExtension(a), boardExtension{board: &a.board}, losses{edits: a.store.Edits(), shown: func(path string) string { return a.workspace.Shown(path) }}}
	if !a.flags.NoLua {
		a.list = append(a.list, a.lua)
	}
	a.list = append(a.list, a.happenings, a.documents, a.memory, newCalendar(a.store.History().All, newWhereabouts(a)))
	if !a.flags.NoMCP {
		a.list = append(a.list, serverExtension{mcp: a.mcp, board: &a.board, waits: a.flags.Print, briefing: newBriefing(a.mcp), read: a.memory.read})
	}
	a.list = append(a.list, languageExtension{lsp: a.lsp, servers: func() ([]lsp.Server, []string) { return languageServers(a) }})
	if !isOff(a.config.Remote) && remote.Supported && a.originals == nil {
		a.list = append(a.list, newWindows(a), newRemotePage(a))
	}
	a.board.opened = func(conv *agent.Conversation, again bool) { a.list.opened(conv, again) }
}

// startExtensions starts watching files, and connects servers in the background. It is
// called once the first frame is on its way.
func (a *app) startExtensions() {
	for _, e := range a.list {
		e.begin()
	}
	a.snapshots.begin()
	close(a.started)
}

// extensionList asks its extensions in their order.
type extensionList []extension

func (l extensionList) load(ctx context.Context) {
	for _, e := range l {
		e.load(ctx)
	}
}

func (l extensionList) look() {
	for _, e := range l {
		e.look()
	}
}

func (l extensionList) refresh() {
	for _, e := range l {
		e.refresh()
	}
}

func (l extensionList) opened(conv *agent.Conversation, again bool) {
	for _, e := range l {
		e.opened(conv, again)
	}
}

// ready waits until what a first prompt needs is available.
func (l extensionList) ready(ctx context.Context) {
	for _, e := range l {
		if own := e.own(); own.Ready != nil {
			own.Ready(ctx)
		}
	}
}

// sections returns the parts of the system prompt that extensions add.
func (l extensionList) sections(sessionID string, scope *tools.Scope) []string {
	var out []string
	for _, e := range l {
		out = append(out, e.sections(sessionID, scope)...)
	}
	return out
}

// conversations lists what the extensions add to conversations.
func (l extensionList) conversations() (own, agents agent.Extensions) {
	for _, e := range l {
		own, agents = append(own, e.own()), append(agents, e.agents())
	}
	return own, agents
}

func (l extensionList) inert() []tools.TrustItem {
	var items []tools.TrustItem
	for _, e := range l {
		items = append(items, e.inert()...)
	}
	return items
}

func (l extensionList) wake(items []tools.TrustItem) error {
	var errs []error
	for _, e := range l {
		errs = append(errs, e.wake(items))
	}
	return errors.Join(errs...)
}

func (l extensionList) panels() []command.Panel {
	var list []command.Panel
	for _, e := range l {
		list = append(list, e.panels()...)
	}
	return list
}

// status summarises the state of the extensions.
func (l extensionList) status() string {
	var parts []string
	for _, e := range l {
		if s := e.status(); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " · ")
}

// pluginExtension applies changes of plugins.
type pluginExtension struct {
	plain
	life    pluginLife
	actions pluginActions
	once    bool // a single run watches nothing
}

func (e pluginExtension) begin() {
	if !e.once {
		e.life.watch()
	}
}

func (e pluginExtension) own() agent.Extension {
	return agent.Extension{Before: e.life.before}
}

func (e pluginExtension) inert() []tools.TrustItem { return e.life.bundles.changed() }

func (e pluginExtension) wake(items []tools.TrustItem) error {
	var errs []error
	for _, item := range ofKind(items, tools.TrustBundle) {
		errs = append(errs, e.life.bundles.store.Accept(item.Name, item.Hash))
		e.life.look()
	}
	return errors.Join(errs...)
}

func (e pluginExtension) panels() []command.Panel {
	return []command.Panel{e.actions.panel()}
}

// boardExtension tells a conversation's model what the other parts of jcode have to say.
type boardExtension struct {
	plain
	board *board
}

func (e boardExtension) own() agent.Extension { return agent.Extension{Before: e.board.take} }

// roleExtension watches role files, and tells the model which agents it can start.
type roleExtension struct {
	plain
	watch       roleWatch
	once        bool            // a single run watches nothing
	again       chan<- struct{} // requests a reread of the roles
	definitions definitionActions
	roles       roleActions
	reaching    func() []tools.TrustItem
}

func newRoleExtension(a *app) roleExtension {
	return roleExtension{
		watch: newRoleWatch(a), once: a.flags.Print, again: a.rolesAgain,
		definitions: newDefinitionActions(a), roles: newRoleActions(a), reaching: newRoleFiles(a).reaching,
	}
}

func (e roleExtension) begin() {
	if !e.once {
		e.watch.begin()
	}
}

func (e roleExtension) refresh() {
	select {
	case e.again <- struct{}{}:
	default: // the roles are not watched, or a reread is already requested
	}
}

func (e roleExtension) sections(_ string, scope *tools.Scope) []string {
	return []string{e.definitions.delegates(scope)}
}

func (e roleExtension) inert() []tools.TrustItem { return e.reaching() }
func (e roleExtension) panels() []command.Panel  { return []command.Panel{e.roles.panel()} }

// languageExtension starts language servers.
type languageExtension struct {
	plain
	lsp     *lsp.Manager
	servers func() (list []lsp.Server, disabled []string) // in force now, by settings and plugins
}

func (e languageExtension) own() agent.Extension    { return agent.Extension{Before: e.late} }
func (e languageExtension) agents() agent.Extension { return agent.Extension{Before: e.late} }

// late tells the model what language servers found of its changes after their results were committed.
func (e languageExtension) late(_ context.Context, sessionID string) agent.Announcement {
	return agent.Announcement{Text: e.lsp.Late(sessionID)}
}

func (e languageExtension) begin()         { e.lsp.Look() }
func (e languageExtension) refresh()       { e.lsp.SetServers(e.servers()) }
func (e languageExtension) status() string { return e.lsp.StatusLine() }
