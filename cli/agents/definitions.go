package agentscli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	rolescli "jcode/cli/roles"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/command"
)

// delegatesMax bounds the part of the system prompt that lists definitions of agents, in bytes.
const delegatesMax = 4 << 10

// definition marks the row of a definition in the list of agents.
const definition = "definition:"

// Definitions are the actions of a person on definitions of agents.
type Definitions struct {
	Roles    rolescli.Actions
	Registry *tools.Registry
}

// list are the roles that agents can be started in: all but those inside jcode.
func (a Definitions) list(ctx context.Context) []role.Listing {
	all, _ := a.Roles.Layers().List(ctx) // /roles reports what can't be read
	return slices.DeleteFunc(all, func(l role.Listing) bool { return l.Source == role.Builtin && l.Untrusted == nil })
}

// Delegates returns the part of the system prompt that lists the roles in which agents can be started; "" if
// the scope has no tool for that.
func (a Definitions) Delegates(scope *tools.Scope) string {
	if _, ok, why := a.Registry.Snapshot(scope).Lookup("task"); !ok || why != "" {
		return ""
	}
	var b strings.Builder
	for _, l := range a.list(context.Background()) {
		if l.Counts() && l.Usable() == nil && l.Description != "" && b.Len() < delegatesMax {
			fmt.Fprintf(&b, "- %s: %s%s\n", l.Role.Name, text.Truncate(text.OneLine(l.Description), 300, "…"), variableNames(l.Role))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Agents\nThe tool task starts one of these by `role`:\n" + b.String()
}

// variableNames lists the values that a role takes, "" for none.
func variableNames(r role.Role) string {
	if len(r.Variables) == 0 {
		return ""
	}
	list := slicex.Map(r.Variables, func(v role.Variable) string {
		if v.Default != nil || !v.Required {
			return v.String() + "?"
		}
		return v.String()
	})
	return text.Truncate(" [variables: "+strings.Join(list, ", ")+"]", 500, "…]")
}

// rows returns the definitions as the list of agents shows them.
func (a Definitions) rows(ctx context.Context) []command.Row {
	return slicex.Map(a.list(ctx), func(l role.Listing) command.Row {
		line := rolescli.LineOf(l)
		row := command.Row{ID: definition + line.Name, Name: line.Name, Info: line.Description, State: "definition, " + line.Source, Bad: !line.Usable, Keys: []string{"edit"}, Detail: rolescli.Detail(line)}
		if line.Waiting != "" {
			row.State = "definition, waits until you trust this project"
		}
		return row
	})
}

// toEdit and definitionEdited open the file of a definition in the person's editor.
func (a Definitions) toEdit(row command.Row) (string, error) {
	name, ok := strings.CutPrefix(row.ID, definition)
	if !ok {
		return "", fmt.Errorf("%s is at work: only definitions can be edited", row.Name)
	}
	return a.Roles.ToEdit(command.Row{ID: name})
}

func (a Definitions) edited(ctx context.Context, row command.Row, file string) (string, error) {
	return a.Roles.Edited(ctx, command.Row{ID: strings.TrimPrefix(row.ID, definition)}, file)
}

// toOpen finds the definition of /agents edit NAME.
func (a Definitions) toOpen(ctx context.Context, name string) (command.Row, error) {
	_, err := a.Roles.Layers().Get(ctx, name)
	if errors.Is(err, role.ErrUnknown) {
		err = fmt.Errorf("%w; /agents new %s makes it", err, name)
	}
	return command.Row{ID: definition + name}, err
}

// names proposes definitions.
func (a Definitions) names(ctx context.Context, _ string) []string {
	return slicex.Map(a.list(ctx), func(l role.Listing) string { return l.Role.Name })
}
