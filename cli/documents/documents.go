package documentscli

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
	"jcode/session"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/builtin/web"
	"jcode/tools/retrieval"
)

// Documents connects the documents of roles and sessions with the conversation.
type Documents struct {
	room *retrieval.Room

	options Options

	mu    sync.Mutex
	roles map[string]retrieval.Collection // of roles that were resolved, by name
}

// Options are what the documents of a chat are made of.
type Options struct {
	Retrieval retrieval.Options // all but what is of the conversation
	Project   string
	Board     *board.Board
	Registry  *tools.Registry
	Judge     func(context.Context, tools.Call, tools.Spec, tools.Plan) tools.Decision
	Agent     string                   // how jcode calls itself
	Models    func() provider.Settings // all but Model
	Model     func() string            // the setting docs.embedding_model
	Getenv    func(string) string
}

// New creates the retrieval of documents. Nothing is read yet.
func New(o Options) *Documents {
	d := &Documents{options: o, roles: map[string]retrieval.Collection{}}
	room := o.Retrieval
	room.Fetch, room.Embedder, room.Offer = d.fetch, d.Embedder, d.offer
	room.Refuse = func() error {
		if conv := o.Board.Open(); conv != nil && conv.Private() {
			return session.ErrPrivateDocuments
		}
		return nil
	}
	room.Notify = func(level, text string) { o.Board.Say(event.Level(level), "%s", text) }
	d.room = retrieval.New(room)
	return d
}

// Room returns the room of the documents.
func (d *Documents) Room() *retrieval.Room { return d.room }

// Extension returns what it adds to jcode.
func (d *Documents) Extension() core.Extension {
	return core.Extension{Opened: d.opened, Own: d.own()}
}

// own is a point of the extension.
func (d *Documents) own() agent.Extension {
	return agent.Extension{Scoped: d.scoped, Before: d.before}
}

// offer registers the tool in place of the previous one; nil removes it.
func (d *Documents) offer(t tools.Tool) {
	var list []tools.Tool
	if t != nil {
		list = []tools.Tool{t}
	}
	for _, err := range d.options.Registry.Replace("documents", tools.RankBuiltin, list) {
		d.options.Board.Say(event.LevelWarn, "documents: %v", err)
	}
}

// fetch gets a page that is named by a person, or by a role that is theirs or trusted.
func (d *Documents) fetch(ctx context.Context, address string) (retrieval.Page, error) {
	call := tools.Call{ID: "documents", Name: "fetch", Arguments: []byte("{}"), Caller: tools.Caller{Origin: tools.OriginPerson}}
	body, kind, err := web.Get(ctx, web.FetchOptions{Judge: d.options.Judge, Agent: d.options.Agent}, call, address)
	return retrieval.Page{Body: body, Type: kind}, err
}

// Embedder returns a client for the configured embedding model; nil without one.
func (d *Documents) Embedder() (retrieval.Embedder, error) {
	name := d.options.Model()
	if name == "" {
		return nil, nil
	}
	// A provider's name takes precedence over an address that is set for the chat.
	settings := d.options.Models()
	settings.Model, settings.BaseURL = name, ""
	settings.Env = func(key string) string {
		if key == "OPENAI_BASE_URL" {
			return ""
		}
		return d.options.Getenv(key)
	}
	target, err := provider.Resolve(settings)
	if err != nil || target.Provider.Name == "" || !strings.HasPrefix(name, target.Provider.Name+"/") {
		settings = d.options.Models()
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

// OfRole returns the collection of a role.
func (d *Documents) OfRole(r role.Role) retrieval.Collection {
	return retrieval.Collection{Owner: session.RoleDocuments(d.options.Project, r.Name), Name: "role " + r.Name, Sources: r.Documents}
}

// KnowRole records the documents of a role that is about to be used, in this conversation or by one of its
// sub-agents.
func (d *Documents) KnowRole(r role.Role) {
	c := d.OfRole(r)
	d.mu.Lock()
	d.roles[r.Name] = c
	d.mu.Unlock()
	d.room.Also(c)
}

// scoped is called when a role comes into force.
func (d *Documents) scoped(scope *tools.Scope) {
	var c retrieval.Collection
	if scope != nil && scope.Name != "" {
		d.mu.Lock()
		c = d.roles[scope.Name]
		d.mu.Unlock()
	}
	d.room.UseRole(c)
}

// opened is a point of the extension.
func (d *Documents) opened(conv *agent.Conversation, _ bool) {
	sessionID := conv.ID()
	if sessionID == "" {
		d.room.NewSession()
		return
	}
	if err := d.room.UseSession(context.Background(), sessionID); err != nil {
		d.options.Board.Say(event.LevelWarn, "documents: %v", err)
	}
}

// before makes the documents of the session searchable from its next step on.
func (d *Documents) before(ctx context.Context, sessionID string) agent.Announcement {
	if err := d.room.UseSession(ctx, sessionID); err != nil {
		d.options.Board.Say(event.LevelWarn, "documents: %v", err)
	}
	d.room.Settle(ctx)
	return agent.Announcement{}
}
