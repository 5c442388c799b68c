package mcp

import (
	"context"
	"errors"
	"slices"
	"time"

	"jcode/mcp/schema"
	"jcode/mcp/wire"
)

// listChanged records that a list changed. The lists are read again after a short delay, one
// reading at a time.
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
	a.listing, a.listingSince = true, a.env.now()
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

// relistEvery is how often the tools of a server that can't announce changes are read.
const relistEvery = time.Minute

// recheck reads the tools again when the server can't announce changes, and reports whether it
// does so.
func (a *actor) recheck() (begun bool) {
	a.ask(func() {
		begun = a.session != nil && !a.session.link.Notifies() && a.env.now().Sub(a.listed) >= relistEvery
		if begun {
			a.listChanged(a.gen, listTools)
		}
	})
	return begun
}

// relisted is the result of reading the lists again.
type relisted struct {
	tools      []schema.Tool
	skipped    []schema.Skipped
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
		a.relistedTools(gen, got)
	}
	if got.hasPrompts {
		if got.promptsErr != nil {
			a.log.Note("list prompts: %v", got.promptsErr)
		} else {
			a.prompts = got.prompts
		}
	}
	a.publish(got.hasTools)
	if a.changed != [3]bool{} {
		a.debounce = time.AfterFunc(changeDebounce, func() { a.do(func() { a.relist(gen) }) })
	}
}

// settleWait is how long a result is delayed for a list that is being read again.
const settleWait = time.Second

// settled waits until no list is being read again, so that the next request includes a change
// that happened during a call. It waits at most settleWait for a slow server.
func (a *actor) settled(ctx context.Context) {
	for {
		busy := make(chan bool, 1)
		look := func() {
			busy <- a.debounce != nil || a.listing && a.env.now().Sub(a.listingSince) < settleWait
		}
		if !a.box.put(look) || !<-busy {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// relistedTools takes over tools that were read again. When only part of the list could be
// read, tools that were known before are kept.
func (a *actor) relistedTools(gen uint64, got relisted) {
	partial, inPart := errors.AsType[*partialError](got.toolsErr)
	switch {
	case got.toolsErr == nil:
		a.tools, a.skipped, a.partial, a.relists = got.tools, got.skipped, nil, 0
	case inPart:
		for _, t := range a.tools {
			if !slices.ContainsFunc(got.tools, func(n schema.Tool) bool { return n.Name == t.Name }) {
				got.tools = append(got.tools, t)
			}
		}
		a.tools, a.skipped = got.tools, got.skipped
		a.listedInPart(gen, partial)
	default:
		a.log.Note("list tools again: %v", got.toolsErr)
	}
}

// relistTimes is how often the missing pages of a list are requested again.
const relistTimes = 5

// listedInPart records that pages of the list of tools are missing and schedules another
// reading. A nil partial means that the list is complete.
func (a *actor) listedInPart(gen uint64, partial *partialError) {
	if partial == nil {
		a.partial = nil
		return
	}
	a.partial = partial
	a.log.Note("list tools: %v", partial)
	if a.relists++; a.relists > relistTimes {
		return
	}
	delay, _ := retryPlan{}.next(wire.RetryLost, a.relists)
	time.AfterFunc(a.env.delay(delay), func() { a.do(func() { a.listChanged(gen, listTools) }) })
}
