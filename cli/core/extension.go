package core

import (
	"context"
	"errors"
	"strings"

	"jcode/agent"
	"jcode/tools"
	"jcode/tools/command"
)

// Extension is what one part adds to what jcode can do while it runs: functions that are called at points of jcode's
// life, and those of its conversations. Each may be nil.
type Extension struct {
	// Begin starts what watches, connects and runs in the background, once the first frame is
	// on its way.
	Begin func()
	// Load starts at once whatever adds tools, and waits for the tools.
	Load func(ctx context.Context)
	// Look registers what is on disk now; Begin need not have been called.
	Look func()
	// Refresh applies what plugins contain, after one of them has changed.
	Refresh func()
	// Opened is called with each conversation that begins or continues; again says that it replaces another.
	Opened func(conv *agent.Conversation, again bool)

	// Sections returns its parts of the system prompt of a session.
	Sections func(sessionID string, scope *tools.Scope) []string
	// Own is what it adds to the person's conversations, Agents what it adds to those of sub-agents in the
	// same folder.
	Own, Agents agent.Extension

	// Inert lists what of the project stays off until the person trusts it.
	Inert func() []tools.TrustItem
	// Wake puts into force what of it has just been trusted; items are those of all extensions.
	Wake func(items []tools.TrustItem) error
	// Panels returns the lists that its slash commands show.
	Panels func() []command.Panel
	// Status summarises its state, "" for nothing. It is called for each frame.
	Status func() string
}

// Extensions asks its extensions in their order. One that is switched off is not in the list.
type Extensions []Extension

// Begin starts what runs in the background.
func (l Extensions) Begin() {
	for begin := range agent.Each(l, func(e Extension) func() { return e.Begin }) {
		begin()
	}
}

// Load starts whatever adds tools, and waits for the tools.
func (l Extensions) Load(ctx context.Context) {
	for load := range agent.Each(l, func(e Extension) func(context.Context) { return e.Load }) {
		load(ctx)
	}
}

// Look registers what is on disk now.
func (l Extensions) Look() {
	for look := range agent.Each(l, func(e Extension) func() { return e.Look }) {
		look()
	}
}

// Refresh applies what plugins contain.
func (l Extensions) Refresh() {
	for refresh := range agent.Each(l, func(e Extension) func() { return e.Refresh }) {
		refresh()
	}
}

// Opened tells of a conversation that begins or continues.
func (l Extensions) Opened(conv *agent.Conversation, again bool) {
	for opened := range agent.Each(l, func(e Extension) func(*agent.Conversation, bool) { return e.Opened }) {
		opened(conv, again)
	}
}

// Ready waits until what a first prompt needs is available.
func (l Extensions) Ready(ctx context.Context) {
	for ready := range agent.Each(l, func(e Extension) func(context.Context) { return e.Own.Ready }) {
		ready(ctx)
	}
}

// Sections returns the parts of the system prompt that extensions add.
func (l Extensions) Sections(sessionID string, scope *tools.Scope) (out []string) {
	for sections := range agent.Each(l, func(e Extension) func(string, *tools.Scope) []string { return e.Sections }) {
		out = append(out, sections(sessionID, scope)...)
	}
	return out
}

// Conversations lists what the extensions add to conversations.
func (l Extensions) Conversations() (own, agents agent.Extensions) {
	for _, e := range l {
		own, agents = append(own, e.Own), append(agents, e.Agents)
	}
	return own, agents
}

// Inert lists what of the project stays off until the person trusts it.
func (l Extensions) Inert() (items []tools.TrustItem) {
	for inert := range agent.Each(l, func(e Extension) func() []tools.TrustItem { return e.Inert }) {
		items = append(items, inert()...)
	}
	return items
}

// Wake puts into force what has just been trusted.
func (l Extensions) Wake(items []tools.TrustItem) error {
	var errs []error
	for wake := range agent.Each(l, func(e Extension) func([]tools.TrustItem) error { return e.Wake }) {
		errs = append(errs, wake(items))
	}
	return errors.Join(errs...)
}

// Panels returns the lists that slash commands of extensions show.
func (l Extensions) Panels() (list []command.Panel) {
	for panels := range agent.Each(l, func(e Extension) func() []command.Panel { return e.Panels }) {
		list = append(list, panels()...)
	}
	return list
}

// Status summarises the state of the extensions.
func (l Extensions) Status() string {
	var parts []string
	for status := range agent.Each(l, func(e Extension) func() string { return e.Status }) {
		if s := status(); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " · ")
}
