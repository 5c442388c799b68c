package anthropic

import "jcode/agent/model"

// changes are the tools that are added and removed within a conversation. They are declared where they were
// added, so that the beginning of the request, to which the cache and the signatures of thinking are bound,
// does not change.
type changes struct {
	inline   map[string]bool // declared within the conversation
	declared map[string]bool // declared at the beginning
	said     map[string]bool // the inline tools declared so far
	gone     map[string]bool
}

func changesOf(req *model.Request, f *features) *changes {
	c := &changes{inline: map[string]bool{}, declared: map[string]bool{}, said: map[string]bool{}, gone: map[string]bool{}}
	if !f.inlineTools || !f.betas {
		return c
	}
	seen := map[string]bool{}
	for i := range req.Messages {
		m := &req.Messages[i]
		for _, name := range m.ToolsRemoved {
			seen[name] = true
		}
		for k := range m.ToolsAdded {
			if name := m.ToolsAdded[k].Name; !seen[name] { // first mentioned when it was added
				seen[name], c.inline[name] = true, true
			}
		}
	}
	for i := range req.Tools {
		if name := req.Tools[i].Name; !c.inline[name] {
			c.declared[name] = true
		}
	}
	return c
}

// blocks returns the changes that a message announces.
func (c *changes) blocks(m *model.Message) (out []block) {
	for _, name := range m.ToolsRemoved {
		if (c.said[name] || c.declared[name]) && !c.gone[name] {
			c.gone[name] = true
			out = append(out, block{removed: name})
		}
	}
	for i := range m.ToolsAdded {
		t := &m.ToolsAdded[i]
		switch {
		case c.inline[t.Name] && !c.said[t.Name]:
			c.said[t.Name] = true
			out = append(out, block{added: t})
		case c.gone[t.Name]:
			delete(c.gone, t.Name)
			out = append(out, block{again: t.Name})
		}
	}
	return out
}
