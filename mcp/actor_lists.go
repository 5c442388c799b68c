package mcp

import (
	"context"
	"time"
)

// listChanged notes that a list changed; the lists are read again after a moment, and
// not twice at once.
func (a *actor) listChanged(gen uint64, kind listKind) {
	if gen != a.gen {
		return
	}
	a.changed[kind] = true
	if a.debounce == nil && !a.listing {
		a.debounce = time.AfterFunc(changeDebounce, func() { a.do(func() { a.relist(gen) }) })
	}
}

func (a *actor) relist(gen uint64) {
	a.debounce = nil
	if gen != a.gen || a.session == nil || a.listing {
		return
	}
	s, changed := a.session, a.changed
	if changed[listTools] {
		a.listed = a.env.now()
	}
	a.changed = [3]bool{}
	a.listing = true
	limit := a.spec.entry.ConnectTimeout
	a.closing.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, limit)
		defer cancel()
		var got relisted
		if changed[listTools] {
			got.tools, got.skipped, got.toolsErr = s.listTools(ctx, a.name, a.http)
			got.hasTools = true
		}
		if changed[listPrompts] && s.info.prompts {
			got.prompts, got.promptsErr = s.listPrompts(ctx)
			got.hasPrompts = true
		}
		a.do(func() { a.relisted(gen, got) })
	})
}

// relistEvery is how often the tools of a server that can't tell of changes are read.
const relistEvery = time.Minute

// recheck reads the tools again when the server could not have told of a change, and
// reports whether it does.
func (a *actor) recheck() (begun bool) {
	a.ask(func() {
		begun = a.session != nil && !a.session.link.notifies() && a.env.now().Sub(a.listed) >= relistEvery
		if begun {
			a.listChanged(a.gen, listTools)
		}
	})
	return begun
}

// relisted is what a new reading of lists gave.
type relisted struct {
	tools      []ToolInfo
	skipped    []Skipped
	toolsErr   error
	hasTools   bool
	prompts    []PromptInfo
	promptsErr error
	hasPrompts bool
}

func (a *actor) relisted(gen uint64, got relisted) {
	if gen != a.gen {
		return
	}
	a.listing = false
	if got.hasTools {
		if got.toolsErr != nil {
			a.log.note("list tools again: %v", got.toolsErr)
		} else {
			a.tools, a.skipped = got.tools, got.skipped
		}
	}
	if got.hasPrompts {
		if got.promptsErr != nil {
			a.log.note("list prompts: %v", got.promptsErr)
		} else {
			a.prompts = got.prompts
		}
	}
	a.publish(got.hasTools)
	if a.changed != [3]bool{} {
		a.debounce = time.AfterFunc(changeDebounce, func() { a.do(func() { a.relist(gen) }) })
	}
}

// settled waits until no list is being read again, so that a change that came during a
// call is in the next request.
func (a *actor) settled(ctx context.Context) {
	for {
		busy := make(chan bool, 1)
		if !a.box.put(func() { busy <- a.listing || a.debounce != nil }) || !<-busy {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
