package responses

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Which item an event is about: servers number items from 1, give all of them the same number, or leave items
// out of the complete answer at the end; gateways give one item another ID in each event. So an item is known
// by its ID, then by the ID of its call, and by its place only where neither speaks against it.

// take records what names an item.
func (it *item) take(o *output) {
	it.id = cmp.Or(o.ID, it.id)
	it.callID = cmp.Or(o.CallID, it.callID)
	it.name = cmp.Or(o.Name, it.name)
	it.phase = cmp.Or(o.Phase, it.phase)
	it.status = cmp.Or(o.Status, it.status)
}

// named returns the item with one of the IDs of o, or nil.
func (a *answer) named(o *output) *item {
	for _, same := range []func(*item) bool{
		func(it *item) bool { return o.ID != "" && it.id == o.ID && !it.otherCall(o) },
		func(it *item) bool { return o.CallID != "" && it.callID == o.CallID },
	} {
		fits := func(it *item) bool { return it.kind == o.Type && same(it) }
		if i := slices.IndexFunc(a.items, fits); i >= 0 {
			return a.items[i]
		}
	}
	return nil
}

// numbered returns the newest item with an index, or nil.
func (a *answer) numbered(index int) *item {
	for i := len(a.items) - 1; i >= 0; i-- {
		if a.items[i].index == index {
			return a.items[i]
		}
	}
	return nil
}

// add inserts an item behind all of the same or a lower index.
func (a *answer) add(index int, kind string) *item {
	it := &item{index: index, kind: kind}
	if isCall(kind) {
		it.call = a.calls
		a.calls++
	}
	at := len(a.items)
	for at > 0 && a.items[at-1].index > index {
		at--
	}
	a.items = slices.Insert(a.items, at, it)
	return it
}

// at returns the item that a delta belongs to; one whose start did not arrive gets the given kind.
func (a *answer) at(ev *event, kind string) *item {
	it := a.numbered(ev.Index)
	if it == nil || ev.ItemID != "" && it.id != ev.ItemID {
		if by := a.named(&output{ID: ev.ItemID, Type: kind}); by != nil {
			return by
		}
	}
	if it == nil {
		it = a.add(ev.Index, kind)
		it.id = ev.ItemID
	}
	return it
}

// begun returns the item whose start arrived.
func (a *answer) begun(index int, o *output) *item {
	if it := a.named(o); it != nil {
		return it
	}
	if it := a.numbered(index); it != nil && !it.another(o) {
		return it
	}
	return a.add(index, o.Type)
}

// finished returns the item whose complete form arrived.
func (a *answer) finished(index int, o *output) *item {
	if it := a.named(o); it != nil {
		return it
	}
	if it := a.numbered(index); it != nil && (!it.done && !it.otherCall(o) && (it.kind == o.Type || it.empty()) || it.done && it.equal(o)) {
		return it
	}
	return a.add(index, o.Type)
}

func (it *item) empty() bool { return it.text.Len()+it.thought.Len() == 0 }

// otherCall reports whether both have the ID of a call, and not the same one.
func (it *item) otherCall(o *output) bool {
	return it.callID != "" && o.CallID != "" && it.callID != o.CallID
}

// another reports whether the start of an item cannot be that of this one, although both have the same index.
func (it *item) another(o *output) bool {
	if it.otherCall(o) || it.done {
		return true
	}
	return it.id != "" && o.ID != "" && it.kind != o.Type
}

// equal reports whether an item says the same as a complete form.
func (it *item) equal(o *output) bool {
	if it.kind != o.Type {
		return false
	}
	switch o.Type {
	case "message":
		text, _ := o.said()
		return it.text.String() == text
	case "function_call":
		return it.name == o.Name && it.text.String() == o.Arguments
	case "custom_tool_call":
		return it.name == o.Name && it.text.String() == o.Input
	case "reasoning":
		said := ""
		for i, s := range o.Summary {
			if i > 0 {
				said += "\n\n"
			}
			said += s.Text
		}
		return it.thought.String() == said
	}
	return false
}

// final takes the items of the complete answer. Each is one that streamed, unless nothing says so: by its IDs,
// else by what it holds, else the first of its kind whose end did not arrive. What is new stands where it
// stands in the answer.
func (a *answer) final(list []json.RawMessage) {
	outs := make([]output, len(list))
	found := make([]*item, len(list))
	taken := map[*item]bool{}
	pass := func(fits func(*item, *output) bool) {
		for i := range outs {
			for _, it := range a.items {
				if found[i] == nil && outs[i].Type != "" && !taken[it] && fits(it, &outs[i]) {
					found[i], taken[it] = it, true
				}
			}
		}
	}
	for i := range list {
		outs[i] = outputOf(list[i])
		if it := a.named(&outs[i]); it != nil && outs[i].Type != "" {
			found[i], taken[it] = it, true
		}
	}
	pass((*item).equal)
	pass(func(it *item, o *output) bool { return it.kind == o.Type && !it.done && !it.otherCall(o) })
	pass(func(it *item, o *output) bool { // another call, or another message, has other IDs than this one
		return it.kind == o.Type && (it.id == "" || o.ID == "") && !it.otherCall(o)
	})
	at := -1
	if len(a.items) > 0 {
		at = a.items[0].index - 1
	}
	for i := range outs {
		switch {
		case outs[i].Type == "":
			continue
		case found[i] == nil:
			found[i] = a.add(at, outs[i].Type)
		}
		at = found[i].index
		a.complete(found[i], &outs[i], list[i])
	}
}
