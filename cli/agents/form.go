package agentscli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jcode/agent"
	rolescli "jcode/cli/roles"
	"jcode/session/role"
	"jcode/tools"
)

// define asks the person for the definition of an agent and writes it as a role file. If
// it can't be written, the form is shown again with what was filled in.
func (a Definitions) define(ctx context.Context, conv *agent.Conversation, name string) (string, error) {
	form := a.form(name)
	for {
		answer, err := conv.Person().AskForm(ctx, form)
		if err != nil {
			return "", err
		}
		if answer.Action != tools.FormAccept {
			return "no agent was defined", nil
		}
		path, err := a.write(ctx, answer.Values)
		if err == nil {
			name, _ := answer.Values["name"].(string)
			return fmt.Sprintf("written to %s. Ask for an agent in the role %s; /agents edit %s opens it in your editor", path, name, name), nil
		}
		form.Text = "This was not written: " + err.Error()
		for i, f := range form.Fields {
			form.Fields[i].Default = answer.Values[f.Name]
		}
	}
}

// The values of the field where.
const (
	forProject = "project"
	forPerson  = "person"
)

// form returns the form that defines an agent.
func (a Definitions) form(name string) tools.Form {
	var offered []string
	for _, t := range a.Registry.Snapshot(nil).List() {
		if g := t.Spec.Group; (g == tools.GroupCore || g == tools.GroupBuiltin) && !strings.HasPrefix(t.Spec.Name, "mcp_") && !t.Spec.Hidden {
			offered = append(offered, t.Spec.Name)
		}
	}
	least := 1.0
	form := tools.Form{From: "/agents new", Text: "Define an agent: the model starts one by its description.", Fields: []tools.FormField{
		{Name: "name", Kind: tools.FieldText, Required: true, Description: "letters, digits and hyphens, such as test-writer"},
		{Name: "description", Kind: tools.FieldText, Required: true, Description: "when to use it"},
		{Name: "prompt", Title: "instructions", Kind: tools.FieldText, Required: true, Description: "what it is told about its work"},
		{Name: "tools", Kind: tools.FieldChoices, Options: offered, Description: "none chosen means all"},
		{Name: "model", Kind: tools.FieldText, Description: "as after /model; empty keeps the current one"},
		{Name: "mode", Kind: tools.FieldChoice, Options: role.Modes(), Description: "the most permissive approval mode it may use"},
		{Name: "max_steps", Title: "steps", Kind: tools.FieldInteger, Min: &least, Description: "model requests at most"},
		{
			Name: "where", Kind: tools.FieldChoice, Options: []string{forPerson, forProject}, Default: forPerson, Description: "who has it",
			Labels: []string{"you, in all projects", "this project (.jcode/roles)"},
		},
	}}
	if name != "" {
		form.Fields[0].Default = name
	}
	return form
}

// write writes the values of a form to a role file.
func (a Definitions) write(ctx context.Context, values map[string]any) (string, error) {
	text := func(name string) string {
		s, _ := values[name].(string)
		return strings.TrimSpace(s)
	}
	steps, _ := values["max_steps"].(float64)
	r := role.Role{
		Name: text("name"), Description: text("description"), Model: text("model"), Mode: text("mode"), MaxSteps: int(steps),
		Body: text("prompt") + "\n",
	}
	if chosen, _ := values["tools"].([]string); len(chosen) > 0 {
		r.Tools = chosen
	}
	_, err := a.Roles.Layers().Get(ctx, r.Name)
	if err == nil {
		return "", fmt.Errorf("%s already exists: choose another name, or cancel and change it with /agents edit %s", r.Name, r.Name)
	}
	if !errors.Is(err, role.ErrUnknown) {
		return "", err
	}
	dir := filepath.Join(a.Roles.Paths.Config, "roles")
	if text("where") == forProject {
		dir = a.Roles.Layers().ProjectDir
	}
	file := filepath.Join(dir, r.Name+".md")
	if _, err := os.Lstat(file); err == nil { // even a dangling link
		return "", fmt.Errorf("%s already exists and is not a role", file)
	}
	return rolescli.Write(dir, r.Name, role.Format(r))
}
