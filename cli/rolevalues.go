package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/agent"
	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/command"
)

// roleValues parses the values of --var.
func (f *flags) roleValues() (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range f.Var {
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
func (a roleStarts) givenValues() (map[string]string, error) {
	values, err := a.flags.roleValues()
	if err == nil && len(values) > 0 && a.flags.Role == "" {
		err = console.Usage("--var sets values for the role of --role: name one")
	}
	return values, err
}

// roleValues determines the values of a role's variables: those given and kept, and those that a
// form asks the person for.
func (a roleScopes) roleValues(ctx context.Context, r role.Role, want agent.RoleRequest) (map[string]string, error) {
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

// role runs /role outside the terminal's own form of it, and /role info and set in both.
func (p personCommands) role(ctx context.Context, args string) (command.Outcome, error) {
	conv := p.s.conv()
	if conv == nil {
		return command.Outcome{}, errors.New("not before the session is ready")
	}
	word, rest, _ := strings.Cut(args, " ")
	switch rest = strings.TrimSpace(rest); {
	case word == "" || word == "info" && rest == "":
		notice, err := roleInfo(conv.Role())
		return command.Outcome{Notice: notice}, err
	case word == "set":
		key, value, _ := strings.Cut(rest, " ")
		if key == "" {
			return command.Outcome{}, errors.New("say /role set NAME VALUE; without a value the default holds again")
		}
		err := conv.SetRoleValue(ctx, key, strings.TrimSpace(value))
		return command.Outcome{}, err
	case rest != "":
		return command.Outcome{}, errors.New("say /role NAME, off, info, or set NAME VALUE")
	case word == "off":
		word = ""
	}
	return command.Outcome{}, conv.SetRole(ctx, word)
}

// completeRole completes the words of /role that are not names of roles.
func (p personCommands) completeRole(_ context.Context, args string) []string {
	conv := p.s.conv()
	if conv == nil || conv.Role().Name == "" {
		return nil
	}
	words := []string{"off", "info"}
	if r, err := role.FromSnapshot(conv.Role().Snapshot); err == nil {
		for _, v := range r.Variables {
			words = append(words, "set "+v.Name)
		}
	}
	return slicex.WithPrefix(words, args)
}

// roleInfo describes the role that a session is in.
func roleInfo(in agent.Role) (string, error) {
	if in.Name == "" {
		return "The session is in no role: /role NAME enters one, /roles lists them.", nil
	}
	r, err := role.FromSnapshot(in.Snapshot)
	if err != nil {
		return "", err
	}
	head := "Role " + r.Name
	if r.Source != "" {
		head += " (" + string(r.Source) + ")"
	}
	if r.Description != "" {
		head += ": " + text.OneLine(r.Description)
	}
	lines := []string{head}
	for _, f := range []struct{ key, value string }{
		{"file", r.Path}, {"model", r.Model}, {"mode", r.Mode}, {"tools", strings.Join(r.Tools, ", ")}, {"MCP servers", strings.Join(in.Servers, ", ")},
	} {
		if f.value != "" {
			lines = append(lines, "  "+f.key+": "+f.value)
		}
	}
	for i, v := range r.Variables {
		if i == 0 {
			lines = append(lines, "  values, which /role set NAME VALUE changes:")
		}
		value, has := in.Values[v.Name]
		switch {
		case has:
		case v.Default != nil:
			value = *v.Default + " (default)"
		default:
			value = "(none)"
		}
		lines = append(lines, "    "+v.String()+" = "+text.Ellipsis(text.OneLine(value), 200))
	}
	return strings.Join(lines, "\n"), nil
}

// variableWords completes --var with the variables of the role that --role names before it.
func variableWords(ctx context.Context, words []string, std Streams) []candidate {
	name := ""
	for i, w := range words {
		if value, ok := strings.CutPrefix(w, "--role="); ok {
			name = value
		} else if w == "--role" && i+1 < len(words) {
			name = words[i+1]
		}
	}
	return keptNames(ctx, std, func(a nameLists, ctx context.Context) []candidate {
		r, err := a.roles().Get(ctx, name)
		if err != nil {
			return nil
		}
		var out []candidate
		for _, v := range r.Variables {
			for _, c := range v.Choices {
				out = append(out, candidate{v.Name + "=" + c, v.Description})
			}
			if v.Choices == nil {
				out = append(out, candidate{v.Name + "=", v.Description})
			}
		}
		return out
	})
}
