package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/internal/toolcard"
	"jcode/tools"
)

// offer takes the snapshot for a step and announces what was added and removed since the last one.
func (t *turn) offer(ctx context.Context) (tools.Snapshot, []tools.Entry, error) {
	if err := t.announceRole(context.WithoutCancel(ctx)); err != nil {
		return tools.Snapshot{}, nil, err
	}
	if err := t.tell(ctx, t.c.agents.News()); err != nil { // the person was told when it happened
		return tools.Snapshot{}, nil, err
	}
	for _, e := range t.c.opt.Extensions {
		if e.Before == nil {
			continue
		}
		if told := e.Before(ctx, t.c.record.row.ID); told.Text != "" {
			if err := t.appendNotice(context.WithoutCancel(ctx), told.Text); err != nil {
				return tools.Snapshot{}, nil, err
			}
			if !told.Silent {
				t.c.Notify(event.LevelInfo, "%s", cmp.Or(told.Shown, told.Text))
			}
		}
	}
	snap, kept, left := offerable(t.c)
	if told := t.c.out.listing.told(left); left > 0 && !told {
		t.c.Notify(event.LevelWarn, "%d Lua tools are not offered to the model: a request may have %d tools (mcp.maxTools, or max_tools of the provider)", left, t.c.opt.MaxTools)
	}
	names := make(map[string]bool, len(kept))
	for i := range kept {
		names[kept[i].Spec.Name] = true
	}
	before := t.c.out.offered
	t.c.out.offered = names
	t.c.out.listing.fresh(kept, t.c.out.history.Messages())
	listed := t.c.out.listing.arrange(kept, t.number, func(e tools.Entry) bool { return t.c.out.dropped[t.refusal(e.Spec.Wire)] })
	if before == nil {
		return snap, listed, nil
	}
	ev := event.ToolsChanged{Owner: owners(kept, before)}
	for _, e := range kept {
		if !before[e.Spec.Name] {
			ev.Added = append(ev.Added, e.Spec.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !names[name] {
			ev.Removed = append(ev.Removed, name)
		}
	}
	if len(ev.Added)+len(ev.Removed) == 0 {
		return snap, listed, nil
	}
	if err := t.appendChange(context.WithoutCancel(ctx), changeLine(ev, snap), t.c.out.listing.change(ev)); err != nil {
		return snap, nil, err
	}
	t.c.emit(ev)
	return snap, listed, nil
}

// offerable returns the tools that a request of the conversation offers now, and how many are left out because there
// are too many. It is called by the conversation's goroutine.
func offerable(c *Conversation) (snap tools.Snapshot, kept []tools.Entry, left int) {
	c.mu.Lock()
	scope, mode, m := c.settings.scope, c.settings.mode, c.settings.model
	c.mu.Unlock()
	snap = c.opt.Registry.Snapshot(scope)
	kept = slices.DeleteFunc(snap.Offer(&c.out.order, c.opt.Gate, mode.Under(scope.Ceiling())), func(e tools.Entry) bool {
		return c.out.dropped[refused{m.ID, e.Spec.Wire}] || slices.Contains(c.opt.Without, e.Spec.Name) || !m.knows(e)
	})
	kept, left = within(c.out.listing.onDemand(withoutReplaced(kept), c.out.history.Messages()), c.opt.MaxTools)
	return snap, kept, left
}

// Offered returns the names of the tools that the next request of a conversation offers. It waits for a running turn to end.
func Offered(ctx context.Context, c *Conversation) (names []string, err error) {
	err = c.do(ctx, func(context.Context) error {
		_, kept, _ := offerable(c)
		for _, e := range kept {
			names = append(names, e.Spec.Name)
		}
		return nil
	})
	return names, err
}

// withoutReplaced leaves out the tools in whose place another one is offered.
func withoutReplaced(offered []tools.Entry) []tools.Entry {
	var replaced []string
	for _, e := range offered {
		if e.Spec.Trained {
			replaced = append(replaced, toolcard.Of(e.Spec.Name).Instead...)
		}
	}
	if len(replaced) == 0 {
		return offered
	}
	return slices.DeleteFunc(offered, func(e tools.Entry) bool { return slices.Contains(replaced, e.Spec.Name) })
}

// owners names the owners of the tools that were added or removed, for the event.
func owners(now []tools.Entry, before map[string]bool) string {
	set := map[string]bool{}
	for _, e := range now {
		if !before[e.Spec.Name] {
			set[e.Owner] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ",")
}

// changeLine tells the model in one line what was added and removed.
func changeLine(ev event.ToolsChanged, snap tools.Snapshot) string {
	var parts []string
	if len(ev.Added) > 0 {
		parts = append(parts, "Tools now available: "+wireList(ev.Added, snap)+".")
	}
	if len(ev.Removed) > 0 {
		parts = append(parts, "No longer available: "+list(ev.Removed)+".")
	}
	return strings.Join(parts, " ")
}

func wireList(names []string, snap tools.Snapshot) string {
	wires := make([]string, len(names))
	for i, n := range names {
		wires[i] = n
		if e, ok, _ := snap.Lookup(n); ok {
			wires[i] = e.Spec.Wire
		}
	}
	return list(wires)
}

func list(names []string) string {
	const most = 30
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
