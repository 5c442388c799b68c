package hookscli

import (
	"fmt"
	"slices"
	"sync"

	"jcode/hooks"
	"jcode/session/role"
	"jcode/tools"
)

// roleHooks are the hooks of roles that were entered, by the role's name. It is safe for concurrent use.
type roleHooks struct {
	mu sync.Mutex
	of map[string]roleHook
}

// roleHook is what a role brings in the version that was entered.
type roleHook struct {
	text  string
	item  tools.TrustItem
	hooks []hooks.Hook
}

// OfRole returns the hooks of a role, and what is wrong with them. They run while the role is in force.
func OfRole(r role.Role) (list []hooks.Hook, problems []string) {
	if r.Hooks == nil {
		return nil, nil
	}
	source := "role " + r.Name
	found, problems := hooks.Parse(r.Hooks, source)
	for _, h := range found {
		switch h.Event {
		case hooks.PreToolUse, hooks.PostToolUse, hooks.PostToolUseFailure, hooks.SubagentStop:
			list = append(list, h)
		case hooks.Stop: // in a sub-agent, its end is another event
			list = append(list, h)
			h.Event = hooks.SubagentStop
			list = append(list, h)
		case hooks.UserPromptSubmit, hooks.SessionStart, hooks.SessionEnd, hooks.PreCompact, hooks.Notification:
			problems = append(problems, fmt.Sprintf("%s: hooks: %s is no event of a role; write the hook in a settings file", source, h.Event))
		}
	}
	for i := range list {
		list[i].Theirs = r.Source.FromProject() || r.Source == role.UserAgents
	}
	return list, problems
}

// Know learns the hooks of a role that is entered. Those that a person has not accepted in this version refuse the
// calls that they guard; pin presents a role for the decision.
func (h *Hooks) Know(r role.Role, pin func(root string, r role.Role) tools.TrustItem) {
	h.roles.mu.Lock()
	was, had := h.roles.of[r.Name]
	h.roles.mu.Unlock()
	if r.Hooks == nil && !had || had && was.text == r.Text {
		return
	}
	list, problems := OfRole(r)
	h.say(problems)
	root := h.root
	if len(h.originals) > 0 {
		root = h.originals[0] // whose roles count
	}
	known := roleHook{text: r.Text, item: pin(root, r), hooks: list}
	for i := range list {
		hook := &list[i]
		if root != h.root {
			hook.Dir = root
		}
		changed := h.confinement.ChangedSince(root, hook.Shown(), hook.Theirs)
		hook.Refuse = func() string {
			if hook.Theirs && !h.trusted(h.ctx, known.item.Kind, known.item.Name, known.item.Hash) {
				return "the role's hooks wait for your trust: start jcode again to look at them"
			}
			return changed()
		}
	}
	h.roles.mu.Lock()
	defer h.roles.mu.Unlock()
	if h.roles.of == nil {
		h.roles.of = map[string]roleHook{}
	}
	h.roles.of[r.Name] = known
}

// ofRole returns the hooks of a role that was entered.
func (h *Hooks) ofRole(name string) []hooks.Hook {
	h.roles.mu.Lock()
	defer h.roles.mu.Unlock()
	return h.roles.of[name].hooks
}

// itemOfRole returns what is trusted of the role that a hook comes from.
func (h *Hooks) itemOfRole(source string) (item tools.TrustItem, ok bool) {
	h.roles.mu.Lock()
	defer h.roles.mu.Unlock()
	for name, r := range h.roles.of {
		if source == "role "+name {
			return r.item, true
		}
	}
	return item, false
}

// known returns the hooks of all roles that were entered, in a steady order.
func (r *roleHooks) known() (list []hooks.Hook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for name := range r.of {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, r.of[name].hooks...)
	}
	return list
}
