package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tui"
)

// delegatesMax bounds the part of the system prompt that lists definitions of agents, in bytes.
const delegatesMax = 4 << 10

// definition marks the row of a definition in the list of agents.
const definition = "definition:"

// agentDefinitions are the roles that agents can be started in: all but those inside jcode.
func (a *app) agentDefinitions(ctx context.Context) []role.Listing {
	all, _ := a.roles().List(ctx) // /roles says what can't be read
	return slices.DeleteFunc(all, func(l role.Listing) bool { return l.Source == role.Builtin && l.Untrusted == nil })
}

// delegates is the part of the system prompt that says which roles agents can be started in. "" where it can't start agents.
func (a *app) delegates(scope *tools.Scope) string {
	if _, ok, why := a.registry.Snapshot(scope).Lookup("task"); !ok || why != "" {
		return ""
	}
	var b strings.Builder
	for _, l := range a.agentDefinitions(context.Background()) {
		if l.Counts() && l.Usable() == nil && l.Description != "" && b.Len() < delegatesMax {
			fmt.Fprintf(&b, "- %s: %s\n", l.Role.Name, text.Truncate(text.OneLine(l.Description), 300, "…"))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Agents\nThe tool task starts one of these by `role`:\n" + b.String()
}

// definitionRows are the definitions as the list of agents shows them.
func (a *app) definitionRows(ctx context.Context) []tui.Row {
	var rows []tui.Row
	for _, l := range a.agentDefinitions(ctx) {
		line := listRole(l)
		row := tui.Row{ID: definition + line.Name, Name: line.Name, Info: line.Description, State: "definition, " + line.Source, Bad: !line.Usable}
		if line.Waiting != "" {
			row.State = "definition, waits until you trust this project"
		}
		row.Detail = strings.Join(append(line.Problems, roleDetail(line)...), "\n")
		rows = append(rows, row)
	}
	return rows
}

// atWork returns an error for the row of a definition, with which nothing can be done that is
// done with an agent.
func atWork(row tui.Row) error {
	if name, ok := strings.CutPrefix(row.ID, definition); ok {
		return fmt.Errorf("%s is a definition, no agent at work: ask for an agent in this role, or /role %s works in it yourself", name, name)
	}
	return nil
}

// definitionToEdit and definitionEdited open the file of a definition in the person's editor.
func (a *app) definitionToEdit(row tui.Row) (string, error) {
	name, ok := strings.CutPrefix(row.ID, definition)
	if !ok {
		return "", fmt.Errorf("%s is at work: only definitions are edited", row.Name)
	}
	return a.roleToEdit(tui.Row{ID: name})
}

func (a *app) definitionEdited(ctx context.Context, row tui.Row, file string) (string, error) {
	return a.roleEdited(ctx, tui.Row{ID: strings.TrimPrefix(row.ID, definition)}, file)
}

// newAgent is what the editor shows for a definition that does not exist yet.
const newAgent = `---
description: Use this agent when …
# tools: [read, grep, glob, ls]   a missing key gives all
# disallowed_tools: [exec]
# model: provider/model           a missing key keeps the current one
# mode: plan                      the least careful approval mode
# max_steps: 50
---
You …
`

// definitionToOpen finds the definition of /agents edit NAME and /agents new NAME, which makes one.
func (a *app) definitionToOpen(ctx context.Context, words string) (row tui.Row, ok bool, err error) {
	fields := strings.Fields(words)
	switch {
	case len(fields) == 1 && fields[0] == "new":
		return row, true, errors.New("name it: /agents new NAME writes the definition of an agent and opens it in your editor")
	case len(fields) != 2 || fields[0] != "new" && fields[0] != "edit":
		return row, false, nil
	}
	name := fields[1]
	row.ID = definition + name
	_, err = a.roles().Get(ctx, name)
	switch missing := errors.Is(err, role.ErrUnknown); {
	case fields[0] == "new" && err == nil:
		err = fmt.Errorf("%s is there already: /agents edit %s", name, name)
	case fields[0] == "edit" && missing:
		err = fmt.Errorf("%w; /agents new %s makes it", err, name)
	case missing:
		_, err = a.writeRole(name, newAgent)
	}
	return row, true, err
}
