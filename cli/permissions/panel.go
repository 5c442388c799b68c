package permissionscli

import (
	"context"
	"errors"
	"fmt"

	"jcode/tools/command"
)

// Panel lists rules and grants; grants can be revoked.
func (a Actions) Panel() command.Panel {
	return command.Panel{
		Name: "permissions", Help: "rules, grants, rights of programs: what may run, and why", Title: "Permissions", Verbs: a.verbs(),
		Empty: "No rules and no grants: what may run is decided by the mode and by your answers.",
		Rows: func(ctx context.Context) ([]command.Row, error) {
			granted, err := a.Gate.Granted(ctx, a.Session())
			if err != nil {
				return nil, err
			}
			var rows []command.Row
			for _, g := range granted {
				rows = append(rows, command.Row{ID: fmt.Sprint(g.ID), Name: g.Rule, Info: "granted " + g.Created.Format("2006-01-02 15:04"), State: "always in this " + string(g.Scope)})
			}
			given, err := a.Rights.list(ctx)
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
				return a.Rights.revoke(ctx, row.ID)
			} else if err != nil {
				return "", errors.New("only grants and rights of programs can be revoked here: rules are in config.json or on the command line")
			}
			return "revoked " + row.Name, a.Gate.Revoke(ctx, id)
		}}},
	}
}
