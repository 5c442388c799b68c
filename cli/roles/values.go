package rolescli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/agent"
	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools"
)

// parse parses the values of --var.
func (f Flags) parse() (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range *f.Values {
		key, value, ok := strings.Cut(pair, "=")
		switch _, twice := values[key]; {
		case !ok || key == "":
			return nil, console.Usage("--var %s: write NAME=VALUE", text.Ellipsis(pair, 60))
		case twice:
			return nil, console.Usage("--var %s is given twice", key)
		}
		values[key] = value
	}
	return values, nil
}

// givenValues returns the values of --var, for the role of --role. Without a role they are an error.
func (a Starts) givenValues() (map[string]string, error) {
	values, err := a.Flags.parse()
	if err == nil && len(values) > 0 && *a.Flags.Role == "" {
		err = console.Usage("--var sets values for the role of --role: name one")
	}
	return values, err
}

// values determines the values of a role's variables: those given and kept, and those that a
// form asks the person for.
func (a Scopes) values(ctx context.Context, r role.Role, want agent.RoleRequest) (map[string]string, error) {
	if err := chosenServers(r, want); err != nil {
		return nil, err
	}
	kept := maps.Clone(want.Kept)
	if want.Unset != "" {
		if _, err := r.Variable(want.Unset); err != nil {
			return nil, err
		}
		delete(kept, want.Unset)
	}
	values, missing, err := r.Values(kept, want.Given)
	switch {
	case err != nil || missing == nil:
		return values, err
	case want.Ask == nil && want.Agent:
		return nil, fmt.Errorf("%w. Give them in the argument variables", missingValues(r, missing))
	case want.Ask == nil:
		return nil, missingValues(r, missing)
	}
	return askValues(ctx, r, values, want.Ask)
}

func missingValues(r role.Role, missing []role.Variable) error {
	return &role.MissingError{Role: r.Name, Path: r.Path, Missing: missing}
}

// chosenServers refuses values from the model for a variable that names an MCP server, unless the role lists
// the choices.
func chosenServers(r role.Role, want agent.RoleRequest) error {
	if !want.Agent {
		return nil
	}
	for _, v := range r.Variables {
		if _, given := want.Given[v.Name]; !given || v.Choices != nil || v.Allows(want.Given[v.Name]) != nil {
			continue
		}
		if slices.ContainsFunc(r.Servers, v.In) {
			return r.Fault(fmt.Sprintf("variable %s names an MCP server and has no choices: only the user can set its value, with /role %s", v.Name, r.Name))
		}
	}
	return nil
}

// askValues shows a form for the variables without a value, until the answer is valid.
func askValues(ctx context.Context, r role.Role, values map[string]string, ask func(context.Context, tools.Form) (tools.FormAnswer, error)) (map[string]string, error) {
	form := tools.Form{From: "role " + r.Name, Person: true, Text: strings.TrimSpace(r.Description + "\n\nThese values are put into the role's text.")}
	for _, v := range r.Variables {
		if _, has := values[v.Name]; !has {
			form.Fields = append(form.Fields, valueField(v))
		}
	}
	intro := form.Text
	for {
		answer, err := ask(ctx, form)
		_, missing, _ := r.Values(values, nil)
		switch {
		case errors.Is(err, agent.ErrNoPerson):
			return nil, missingValues(r, missing)
		case err != nil:
			return nil, err
		case answer.Action == tools.FormCancel:
			return nil, agent.ErrNotEntered
		case answer.Action != tools.FormAccept:
			return nil, missingValues(r, missing)
		}
		given := map[string]string{}
		for i, f := range form.Fields {
			said, has := answer.Values[f.Name].(string)
			if form.Fields[i].Default = nil; has {
				form.Fields[i].Default = said
			}
			if v, _ := r.Variable(f.Name); has && (v.Default == nil || *v.Default != said) {
				given[f.Name] = said
			}
		}
		next, missing, err := r.Values(values, given)
		if err == nil && missing == nil {
			return next, nil
		}
		if err == nil {
			err = missingValues(r, missing)
		}
		form.Text = err.Error() + "\n\n" + intro
	}
}

// valueField shows a variable as a field of a form. A default that refers to other variables can't be shown
// before they are known: it applies if nothing is entered.
func valueField(v role.Variable) tools.FormField {
	f := tools.FormField{Name: v.Name, Description: v.Description, Kind: tools.FieldText, Required: v.Required && v.Default == nil, Options: v.Choices}
	if v.Choices != nil {
		f.Kind = tools.FieldChoice
	}
	switch {
	case v.Default == nil || *v.Default == "":
	case v.Refers():
		f.Description = strings.TrimSpace(f.Description + " (left empty: " + *v.Default + ")")
	default:
		f.Default = *v.Default
	}
	return f
}
