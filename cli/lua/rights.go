package luacli

import (
	"context"
	"fmt"
	"strings"

	"jcode/cli/core"
	"jcode/internal/text"
	"jcode/tools"
)

// brought says how commands of scripts run, by who brought them. It implements lua.Options.Brought.
func (s *Scripts) brought(from string) *tools.Brought {
	item, ok := s.rightsItem(from)
	if !ok {
		return nil
	}
	has := func(kind tools.TrustKind) bool {
		ok, err := s.everywhere.Trusted(context.Background(), item.More(kind))
		return ok && err == nil
	}
	words := "/lua allow"
	if name, plugin := strings.CutPrefix(from, "plugin "); plugin {
		words += " " + text.Visible(name)
	}
	return &tools.Brought{Network: has(tools.TrustNetwork), Outside: has(tools.TrustOutside), Allow: words}
}

// rightsItem returns what further rights of scripts belong to; ok is false for the person's own scripts.
func (s *Scripts) rightsItem(from string) (item tools.TrustItem, ok bool) {
	if from == "project" {
		return s.room.Folder(nil), true
	}
	name, ok := strings.CutPrefix(from, "plugin ")
	if !ok {
		return tools.TrustItem{}, false
	}
	return s.plugin(name), true
}

// allow gives the commands of the project's scripts, or those of a plugin, a further right for good: it runs
// /lua allow.
func (s *Scripts) allow(ctx context.Context, words string) (string, error) {
	from, right := "project", strings.TrimSpace(words)
	if name, after, named := strings.Cut(right, " "); named {
		from, right = "plugin "+name, strings.TrimSpace(after)
	}
	kind, ok := core.MoreRight(right)
	if !ok {
		return "", fmt.Errorf("/lua allow network lets commands of the project's Lua use the network, /lua allow outside write outside this project; /lua allow PLUGIN network those of a plugin")
	}
	item, _ := s.rightsItem(from)
	if item.Hash == "" {
		return "", fmt.Errorf("no plugin in use is called %s", text.Visible(strings.TrimPrefix(from, "plugin ")))
	}
	if err := s.everywhere.Accept(ctx, []tools.TrustItem{item.More(kind)}, true); err != nil {
		return "", err
	}
	return "commands of " + text.Visible(item.Title()) + ": " + item.More(kind).Runs[0], nil
}
