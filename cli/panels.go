package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"jcode/agent/model"
	"jcode/cli/board"
	shellcli "jcode/cli/shell"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// chatPanels returns the lists that slash commands show: those of the chat, and those of extensions.
func chatPanels(a *app) []command.Panel {
	list := append([]command.Panel{newToolViews(a).panel(), newPermissionActions(a).Panel(), shellcli.Jobs(a.shell), newAgentActions(a).Panel(), newTaskActions(a).Panel(), a.reviews.Panel()}, a.list.Panels()...)
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
