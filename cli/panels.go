package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/cli/board"
	"jcode/internal/paths"
	"jcode/internal/picture"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// maxImage bounds a picture that is attached to a prompt.
const maxImage = 10 << 20

// chatPanels returns the lists that slash commands show: those of the chat, and those of extensions.
func chatPanels(a *app) []command.Panel {
	list := append([]command.Panel{newToolViews(a).panel(), newPermissionActions(a).panel(), jobsPanel(a.shell), newAgentActions(a).panel(), newTaskActions(a).panel(), a.reviews.panel()}, a.list.Panels()...)
	place := func(p command.Panel) int { return slices.Index(panelNames(), p.Name) }
	slices.SortStableFunc(list, func(x, y command.Panel) int { return place(x) - place(y) })
	return list
}

// toolViews shows the tools.
type toolViews struct {
	registry *tools.Registry
	gate     *permission.Gate
	board    *board.Board
	start    func() tools.Mode // before there is a conversation
}

func newToolViews(a *app) toolViews {
	return toolViews{a.registry, a.gate, &a.board, func() tools.Mode { return a.mode }}
}

// panel shows every tool with its source and why it is off.
func (a toolViews) panel() command.Panel {
	return command.Panel{
		Name: "tools", Help: "every tool: on or off, and why", Title: "Tools",
		Rows: func(context.Context) ([]command.Row, error) {
			mode, scope := a.start(), (*tools.Scope)(nil)
			if conv := a.board.Open(); conv != nil {
				mode, scope = conv.State().Mode, conv.Scope()
			}
			snap := a.registry.Snapshot(scope)
			var order tools.Order
			var rows []command.Row
			for _, e := range order.Arrange(snap.All()) {
				def := model.Tool{Name: e.Spec.Wire, Description: e.Spec.Description, Parameters: e.Spec.Parameters}
				why := snap.Reason(e, a.gate, mode)
				rows = append(rows, command.Row{
					ID: e.Spec.Name, Name: e.Spec.Name, Info: text.Headline(e.Spec.Description), State: cmp.Or(why, "on"), Bad: why != "",
					Detail: fmt.Sprintf("%s\nfrom %s, about %d tokens\n%s", e.Spec.Description, e.Owner, model.EstimateTool(&def), e.Spec.Parameters),
				})
			}
			return rows, nil
		},
	}
}

// panel lists rules and grants; grants can be revoked.
func (a permissionActions) panel() command.Panel {
	return command.Panel{
		Name: "permissions", Help: "rules, grants, rights of programs: revoke, allow RULE, deny RULE, explain LINE", Title: "Permissions",
		Words: a.words, Shows: command.Showing("explain"),
		Empty: "No rules and no grants: what may run is decided by the mode and by your answers.",
		Rows: func(ctx context.Context) ([]command.Row, error) {
			granted, err := a.gate.Granted(ctx, a.board.Session())
			if err != nil {
				return nil, err
			}
			var rows []command.Row
			for _, g := range granted {
				rows = append(rows, command.Row{ID: fmt.Sprint(g.ID), Name: g.Rule, Info: "granted " + g.Created.Format("2006-01-02 15:04"), State: "always in this " + string(g.Scope)})
			}
			given, err := a.rights.list(ctx)
			if err != nil {
				return nil, err
			}
			for _, r := range given {
				rows = append(rows, command.Row{ID: r.String(), Name: r.String(), Info: r.from(), State: "allow"})
			}
			for _, l := range a.ruleLines() {
				rows = append(rows, command.Row{Name: l.Rule, Info: l.From, State: l.Effect, Keys: []string{}})
			}
			return rows, nil
		},
		Actions: []command.Action{{Key: "ctrl+d", Label: "revoke", Confirm: true, Run: func(ctx context.Context, row command.Row) (string, error) {
			var id int64
			if _, err := fmt.Sscan(row.ID, &id); err != nil && row.ID != "" {
				return a.rights.revoke(ctx, row.ID)
			} else if err != nil {
				return "", errors.New("only grants and rights of programs can be revoked here: rules are in config.json or on the command line")
			}
			return "revoked " + row.Name, a.gate.Revoke(ctx, id)
		}}},
	}
}

// pictures reads pictures for prompts.
type pictures struct{ home, cwd string }

// read reads a picture for a prompt; its content decides the type.
func (a pictures) read(path string) (string, []byte, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(a.home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(a.cwd, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	if info.Size() > maxImage {
		return "", nil, fmt.Errorf("%s is larger than %d MB", path, maxImage>>20)
	}
	data, err := paths.ReadFile(path, maxImage)
	if err != nil {
		return "", nil, err
	}
	if kind := http.DetectContentType(data); !strings.HasPrefix(kind, "image/") {
		return "", nil, fmt.Errorf("%s is not a picture but %s", path, kind)
	}
	kind, err := picture.Check(data)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	data, _ = picture.Fit(data, kind)
	return kind, data, nil
}
