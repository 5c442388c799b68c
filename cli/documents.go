package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
	"jcode/cli/board"
	"jcode/cli/core"
	modelscli "jcode/cli/models"
	"jcode/session"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/retrieval"
)

// documents connects the documents of roles and sessions with the conversation.
type documents struct {
	room *retrieval.Room

	project    string
	board      *board.Board
	registry   *tools.Registry
	dispatcher *tools.Dispatcher
	models     *modelscli.Clients
	model      func() string // the setting docs.embedding_model
	getenv     func(string) string

	mu    sync.Mutex
	roles map[string]retrieval.Collection // of roles that were resolved, by name
}

// openDocuments creates the retrieval of documents. Nothing is read yet.
func (a *app) openDocuments() {
	d := &documents{
		project: a.project, board: &a.board, registry: a.registry, dispatcher: a.dispatcher, models: a.models,
		model: func() string { return a.config.Docs.EmbeddingModel }, getenv: a.std.Getenv,
		roles: map[string]retrieval.Collection{},
	}
	d.room = retrieval.New(retrieval.Options{
		Index: a.store.Documents(), Root: a.root, Home: a.paths.Home, Watch: !a.flags.Print,
		Inside: a.workspace.Contains,
		Denied: func(path string) string { return a.gate.Denied(tools.AccessRead, path) },
		Fetch:  d.fetch,
		Refuse: func() error {
			if conv := a.board.Open(); conv != nil && conv.Private() {
				return session.ErrPrivateDocuments
			}
			return nil
		},
		Embedder: d.embedder,
		Notify:   func(level, text string) { a.board.Say(event.Level(level), "%s", text) },
		Offer:    d.offer,
	})
	a.documents = d
	a.onClose(d.room.Close)
	a.commands.Sources = append(a.commands.Sources, d.room)
}

// extension returns what it adds to jcode.
func (d *documents) extension() core.Extension {
	return core.Extension{Opened: d.opened, Own: d.own()}
}

// own is a point of the extension.
func (d *documents) own() agent.Extension {
	return agent.Extension{Scoped: d.scoped, Before: d.before}
}

// offer registers the tool in place of the previous one; nil removes it.
func (d *documents) offer(t tools.Tool) {
	var list []tools.Tool
	if t != nil {
		list = []tools.Tool{t}
	}
	for _, err := range d.registry.Replace("documents", tools.RankBuiltin, list) {
		d.board.Say(event.LevelWarn, "documents: %v", err)
	}
}

// fetch gets a page that is named by a person, or by a role that is theirs or trusted.
func (d *documents) fetch(ctx context.Context, address string) (retrieval.Page, error) {
	call := tools.Call{ID: "documents", Name: "fetch", Arguments: []byte("{}"), Caller: tools.Caller{Origin: tools.OriginPerson}}
	body, kind, err := builtin.Get(ctx, builtin.FetchOptions{Judge: d.dispatcher.JudgeCall, Agent: "jcode/" + Version()}, call, address)
	return retrieval.Page{Body: body, Type: kind}, err
}

// embedder returns a client for the configured embedding model; nil without one.
func (d *documents) embedder() (retrieval.Embedder, error) {
	name := d.model()
	if name == "" {
		return nil, nil
	}
	// A provider's name takes precedence over an address that is set for the chat.
	settings := d.models.Settings()
	settings.Model, settings.BaseURL = name, ""
	settings.Env = func(key string) string {
		if key == "OPENAI_BASE_URL" {
			return ""
		}
		return d.getenv(key)
	}
	target, err := provider.Resolve(settings)
	if err != nil || target.Provider.Name == "" || !strings.HasPrefix(name, target.Provider.Name+"/") {
		settings = d.models.Settings()
		settings.Model = name
		target, err = provider.Resolve(settings)
	}
	if err == nil && (target.Replay != "" || target.Model == "") {
		err = errors.New("name it as provider/ID")
	}
	if err != nil {
		return nil, fmt.Errorf("docs.embedding_model %q: %w", name, err)
	}
	e, err := chat.NewEmbedder(target.Provider, target.Model)
	if err != nil {
		return nil, fmt.Errorf("docs.embedding_model %q: %w", name, err)
	}
	return e, nil
}

// ofRole returns the collection of a role.
func (d *documents) ofRole(r role.Role) retrieval.Collection {
	return retrieval.Collection{Owner: session.RoleDocuments(d.project, r.Name), Name: "role " + r.Name, Sources: r.Documents}
}

// knowRole records the documents of a role that is about to be used, in this conversation or by one of its
// sub-agents.
func (d *documents) knowRole(r role.Role) {
	c := d.ofRole(r)
	d.mu.Lock()
	d.roles[r.Name] = c
	d.mu.Unlock()
	d.room.Also(c)
}

// scoped is called when a role comes into force.
func (d *documents) scoped(scope *tools.Scope) {
	var c retrieval.Collection
	if scope != nil && scope.Name != "" {
		d.mu.Lock()
		c = d.roles[scope.Name]
		d.mu.Unlock()
	}
	d.room.UseRole(c)
}

// opened is a point of the extension.
func (d *documents) opened(conv *agent.Conversation, _ bool) {
	sessionID := conv.ID()
	if sessionID == "" {
		d.room.NewSession()
		return
	}
	if err := d.room.UseSession(context.Background(), sessionID); err != nil {
		d.board.Say(event.LevelWarn, "documents: %v", err)
	}
}

// before makes the documents of the session searchable from its next step on.
func (d *documents) before(ctx context.Context, sessionID string) agent.Announcement {
	if err := d.room.UseSession(ctx, sessionID); err != nil {
		d.board.Say(event.LevelWarn, "documents: %v", err)
	}
	d.room.Settle(ctx)
	return agent.Announcement{}
}
