package memory

import (
	"context"
	"errors"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/ranking"
	"jcode/notes"
	"jcode/session"
	"jcode/tools"
)

// Options are the settings of New.
type Options struct {
	Notes *notes.Store
	// Sessions are the earlier ones; Project is the ID of their project.
	Sessions *session.Store
	Project  string
	// Open returns the open conversation, nil before the first.
	Open func() *agent.Conversation
	// Writes says that notes may be added; otherwise they are only read.
	Writes bool
	// Inside reports whether a resolved path is the project's, or jcode's own output; Trusted whether nothing of the
	// project waits for the person's trust.
	Inside  func(path string) bool
	Trusted func() bool
	// Foreign returns what a call of a tool that the plan says nothing about reads of others' texts, "" for nothing.
	Foreign func(name string) string
	// Ask sends a request to a model, for proposals; nil proposes nothing.
	Ask Ask
	// Drafts says that notes are proposed from long sessions.
	Drafts bool
	// Once reports whether something is offered to the person for the first time; nil offers nothing. Say tells them
	// something.
	Once func(what string) bool
	Say  func(line string)
}

// Memory is what an app knows of notes. It implements notes.Host, and is safe for concurrent use.
type Memory struct {
	opts  Options
	reads reads
	uses  uses
	told  told

	mu    sync.Mutex
	roles map[string]string // what roles say of notes, by name
	scope *tools.Scope      // of the open conversation
	// prompt is what the user said in the current turn of the open conversation.
	turn    int
	prompt  string
	prompts int // of the open conversation in this process

	ctx  context.Context
	end  context.CancelFunc
	work sync.WaitGroup
}

// New returns the memory of an app. It reads nothing.
func New(o Options) *Memory {
	m := &Memory{opts: o, roles: map[string]string{}}
	m.ctx, m.end = context.WithCancel(context.Background())
	return m
}

// Tools returns the tools that work with notes.
func (m *Memory) Tools() []tools.Tool {
	list := []tools.Tool{notes.Recall(m.opts.Notes, m)}
	if m.opts.Writes {
		list = append(list, notes.Remember(m.opts.Notes, m))
	}
	return list
}

// Extension returns what is added to the person's conversations.
func (m *Memory) Extension() agent.Extension {
	return agent.Extension{
		Before: m.before, Loaded: m.loaded, Compacted: m.compacted, TurnStarted: m.turnStarted, TurnEnded: m.turnEnded, Notes: m.used,
		Scoped: func(scope *tools.Scope) {
			m.mu.Lock()
			m.scope = scope
			m.mu.Unlock()
		},
	}
}

// Opened is called with each conversation that begins or continues.
func (m *Memory) Opened(*agent.Conversation) {
	m.mu.Lock()
	m.turn, m.prompt, m.prompts = 0, "", 0
	m.mu.Unlock()
	m.uses.begin("")
}

// turnStarted collects what the user says in a turn.
func (m *Memory) turnStarted(ev event.TurnStart) {
	m.mu.Lock()
	if ev.Turn != m.turn {
		m.turn, m.prompt = ev.Turn, ""
	}
	m.prompt += "\n" + ev.Prompt
	prompt := m.prompt
	m.mu.Unlock()
	m.uses.begin(prompt)
}

// The values of a role's key memory.
const (
	None    = "none"
	Project = "project"
	All     = "all"
)

// KnowRole records what a role that is about to be used says of notes.
func (m *Memory) KnowRole(name, choice string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.roles[name] = choice
}

// Books implements notes.Host.
func (m *Memory) Books(caller tools.Caller) []notes.About { return m.books(caller.Scope) }

func (m *Memory) books(scope *tools.Scope) []notes.About {
	choice := ""
	if scope != nil {
		m.mu.Lock()
		choice = m.roles[scope.Name]
		m.mu.Unlock()
	}
	switch choice {
	case None:
		return nil
	case Project:
		return []notes.About{notes.Project}
	}
	return []notes.About{notes.Project, notes.User}
}

// private reports whether nothing of the open conversation may be kept.
func (m *Memory) private() bool {
	conv := m.opts.Open()
	return conv != nil && conv.Private()
}

var errPrivate = errors.New("nothing of a private conversation is kept: /save keeps it first")

// Refuse implements notes.Host.
func (m *Memory) Refuse(tools.Caller) error {
	if m.private() {
		return errPrivate
	}
	return nil
}

// Judge implements notes.Host.
func (m *Memory) Judge(caller tools.Caller, note string) notes.Judgement {
	m.mu.Lock()
	turn, prompt := m.turn, m.prompt
	m.mu.Unlock()
	own := saysSo(prompt, note)
	out := notes.Judgement{By: notes.ByAgent, From: notes.Origin{Session: caller.Session, Message: int64(caller.Turn)}}
	if own && caller.Root == "" {
		out.By = notes.ByUser
	}
	if caller.Root != "" {
		out.Ask = append(out.Ask, strings.TrimSpace("a sub-agent wants to keep it: "+caller.Label))
	}
	switch caller.Origin {
	case tools.OriginScript:
		out.Ask = append(out.Ask, "a script wants to keep it: "+caller.Owner)
	case tools.OriginClient:
		out.Ask = append(out.Ask, "another program wants to keep it")
	case tools.OriginModel, tools.OriginPerson:
	}
	now, before := m.reads.of(root(caller), turn)
	if conv := m.opts.Open(); conv != nil && conv.Usage().Total.Searches > 0 {
		now = append(now, "the web, which the provider searched")
	}
	switch {
	case len(now) > 0:
		out.Ask = append(out.Ask, "this turn has read what others wrote: "+listed(now))
	case len(before) > 0 && !own:
		out.Ask = append(out.Ask, "earlier in this session was read what others wrote: "+listed(before))
	}
	return out
}

// root returns the session of the main conversation that a caller works for.
func root(caller tools.Caller) string {
	if caller.Root != "" {
		return caller.Root
	}
	return caller.Session
}

// ownShare is how many of a note's words the user must have said for it to be theirs.
const ownShare = 0.8

// saysSo reports whether a prompt has nearly all words of a note.
func saysSo(prompt, note string) bool {
	said := map[string]bool{}
	for _, w := range ranking.Terms(prompt) {
		said[w] = true
	}
	words, had := ranking.Terms(note), 0
	for _, w := range words {
		if said[w] {
			had++
		}
	}
	return had > 0 && float64(had) >= ownShare*float64(len(words))
}

// Said implements notes.Host.
func (m *Memory) Said(ctx context.Context, caller tools.Caller, question string, limit int) ([]notes.Said, error) {
	return earlier(ctx, m.opts.Sessions, m.opts.Project, question, limit, caller.Session, caller.Root)
}

// earlier searches earlier sessions of a project, except some.
func earlier(ctx context.Context, sessions *session.Store, project, question string, limit int, except ...string) ([]notes.Said, error) {
	hits, err := sessions.Recall(ctx, question, project, limit, except...)
	out := make([]notes.Said, 0, len(hits))
	for _, h := range hits {
		out = append(out, notes.Said{Session: h.Session.ID, Title: h.Session.Title, At: h.Session.Updated, Message: h.Seq, Role: h.Role, Text: h.Snippet})
	}
	return out, err
}

// Found implements notes.Host.
func (m *Memory) Found(ctx context.Context, caller tools.Caller, found []notes.Note) {
	m.uses.found(found)
	if m.opts.Writes && !m.private() {
		ids := make([]string, len(found))
		for i, n := range found {
			ids[i] = n.ID
		}
		_ = m.opts.Notes.Used(ctx, ids...) // then it fades earlier
	}
}

// Kept implements notes.Host: the session that adds a note needs not be told of it.
func (m *Memory) Kept(n notes.Note) { m.told.knows(n.ID) }
