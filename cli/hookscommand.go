package cli

import (
	"context"
	"fmt"
	"strings"

	"jcode/hooks"
	"jcode/internal/text"
	"jcode/tools/command"
)

// List implements command.Source.
func (h *happenings) List() []command.Command {
	return []command.Command{{Name: "hooks", Description: "the hooks that run here, and those that wait for trust", Run: h.show}}
}

// show lists the hooks in force with their sources, those that must not run now with the reason, and the
// files whose hooks wait for trust.
func (h *happenings) show(ctx context.Context, _ string) (command.Outcome, error) {
	h.reload()
	var lines []string
	for _, hook := range h.engine.List() {
		lines = append(lines, hookLine(hook))
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
		return command.Outcome{Notice: "No hooks. They are settings: hooks in config.json, or in .claude/settings.json."}, nil
	}
	return command.Outcome{Notice: strings.Join(lines, "\n")}, nil
}

func hookLine(h hooks.Hook) string {
	return fmt.Sprintf("%s (%s)", text.Visible(h.Line()), text.Visible(h.Source))
}
