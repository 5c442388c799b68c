package hookscli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/cli/core"
	"jcode/hooks"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
)

// List implements command.Source.
func (h *Hooks) List() []command.Command {
	return []command.Command{{
		Name: "hooks", Description: "the hooks that run here, those that wait for trust, and what they may do", Hint: "[allow SOURCE network|outside]", Run: h.command,
		Verbs: command.Verbs{{Name: "allow", Hint: "SOURCE network|outside", Help: "let the hooks of a source use the network, or write outside the project", Complete: h.sources}},
	}}
}

// command lists the hooks, or gives those of a source a further right.
func (h *Hooks) command(ctx context.Context, args string) (command.Outcome, error) {
	words := strings.Fields(args)
	if len(words) == 0 {
		return h.show(ctx)
	}
	kind, ok := core.MoreRight(words[len(words)-1])
	if words[0] != "allow" || len(words) < 3 || !ok {
		return command.Outcome{}, fmt.Errorf("/hooks lists the hooks; /hooks allow SOURCE network lets those of a source use the network, /hooks allow SOURCE outside write outside this project")
	}
	source := strings.Join(words[1:len(words)-1], " ")
	h.reload()
	var names []string
	for _, hook := range h.all() {
		item := h.rights(ctx, hook).item
		if source != hook.Source && source != item.Title() && source != item.Name {
			names = append(names, hook.Source)
			continue
		}
		if err := h.trust.Accept(ctx, []tools.TrustItem{item.More(kind)}, true); err != nil {
			return command.Outcome{}, err
		}
		return command.Outcome{Notice: fmt.Sprintf("hooks of %s: %s", text.Visible(hook.Source), item.More(kind).Runs[0])}, nil
	}
	slices.Sort(names)
	return command.Outcome{}, fmt.Errorf("no hook is from %s; known: %s", source, strings.Join(slices.Compact(names), ", "))
}

// sources proposes where hooks are from.
func (h *Hooks) sources(context.Context, string) (out []string) {
	for _, hook := range h.all() {
		if !slices.Contains(out, hook.Source) {
			out = append(out, hook.Source)
		}
	}
	return out
}

// all returns the hooks for everything and those of the roles that were entered.
func (h *Hooks) all() []hooks.Hook {
	return append(slices.Clone(h.engine.List()), h.roles.known()...)
}

// show lists the hooks in force with their sources, those that must not run now with the reason, and the
// files whose hooks wait for trust.
func (h *Hooks) show(ctx context.Context) (command.Outcome, error) {
	h.reload()
	var lines []string
	for _, hook := range h.all() {
		lines = append(lines, hookLine(hook)+h.rights(ctx, hook).mark(h.confinement.Confined()))
		if hook.Refuse == nil {
			continue
		}
		if why := hook.Refuse(); why != "" {
			lines = append(lines, "  does not run: "+text.Visible(why))
		}
	}
	h.mu.Lock()
	files := h.files
	h.mu.Unlock()
	for _, f := range files {
		if h.trusted(ctx, f.item.Kind, f.item.Name, f.item.Hash) {
			continue
		}
		for _, hook := range f.hooks {
			lines = append(lines, "waits for trust: "+hookLine(hook))
		}
	}
	if lines == nil {
		return command.Outcome{Page: "Hooks", Notice: "No hooks. They are settings: hooks in config.json, or in .claude/settings.json."}, nil
	}
	return command.Outcome{Page: "Hooks", Notice: strings.Join(lines, "\n")}, nil
}

// mark says in a word how a hook runs, where that is not the usual way.
func (r rights) mark(confinable bool) string {
	switch {
	case r.free, r.old, r.confined && !confinable:
		return ", unconfined"
	case r.Network:
		return ", with the network"
	}
	return ""
}

func hookLine(h hooks.Hook) string {
	return fmt.Sprintf("%s (%s)", text.Visible(h.Line()), text.Visible(h.Source))
}
