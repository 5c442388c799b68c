package rolescli

import (
	"context"
	"slices"
	"strings"
	"time"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/internal/slicex"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/retrieval"
)

// readyWait bounds how long entering a role waits for tools that are still being loaded.
const readyWait = 10 * time.Second

// Scopes resolves roles for conversations: their values, their texts, and what they allow.
type Scopes struct {
	Layers func() *role.Layers
	Names  Names
	// Know is told of a role before it is entered, with what it allows.
	Know func(r role.Role, scope *tools.Scope)
	Vars role.Vars // all but the date and the role's values
}

// Role finds a role, determines the values of its variables, and resolves everything that it
// names. Unknown names are an error that lists all of them.
func (a Scopes) Role(ctx context.Context, want agent.RoleRequest) (agent.Role, error) {
	r, err := a.Layers().Get(ctx, want.Name)
	if err == nil {
		err = r.Usable()
	}
	if err != nil {
		return agent.Role{}, err
	}
	values, err := a.values(ctx, r, want)
	if err != nil {
		return agent.Role{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	role, unknown, err := a.resolveRole(ctx, r, values)
	if err == nil && unknown != nil {
		err = r.Fault(problemText(unknown))
	}
	return role, err
}

func problemText(list []role.Problem) string {
	return strings.Join(slicex.Map(list, role.Problem.String), "; ")
}

// resolveRole resolves a role for a conversation. unknown lists the names in it that do not
// exist; they allow nothing.
func (a Scopes) resolveRole(ctx context.Context, r role.Role, values map[string]string) (out agent.Role, unknown []role.Problem, err error) {
	if err := r.Usable(); err != nil {
		return agent.Role{}, nil, err
	}
	snapshot := r.Snapshot()
	vars := a.Vars
	vars.Date, vars.Values = time.Now().Format(time.DateOnly), values
	parts := r.Render(vars)
	r.Servers = parts.Servers
	scope := &tools.Scope{Name: r.Name, Tools: r.Tools, Without: r.Disallowed, Servers: r.Servers, Skills: r.Skills}
	if r.Mode != "" {
		if scope.ModeCeiling, err = tools.ParseMode(r.Mode); err != nil {
			return agent.Role{}, nil, r.Fault(err.Error())
		}
	}
	if r.Capabilities != nil {
		caps, err := tools.ParseCapabilities(r.Capabilities)
		if err != nil {
			unknown = append(unknown, role.Problem{Line: r.Line("capabilities"), Text: err.Error()})
		}
		scope.Capabilities = &caps
	}
	if len(r.Documents) > 0 && scope.Tools != nil {
		scope.Tools = append(slices.Clone(scope.Tools), retrieval.SearchTool)
	}
	a.Know(r, scope)
	out = agent.Role{
		Name: r.Name, Prompt: parts.System, Template: parts.Template, Model: r.Model, Temperature: r.Temperature, TopP: r.TopP,
		ReasoningEffort: r.ReasoningEffort, MaxOutputTokens: r.MaxOutputTokens, Scope: scope, MaxSteps: r.MaxSteps, Servers: r.Servers, Snapshot: snapshot, Values: values,
	}
	for _, s := range parts.Shots {
		out.FewShot = append(out.FewShot, model.Message{Role: model.RoleUser, Text: s.Input}, model.Message{Role: model.RoleAssistant, Text: s.Output})
	}
	return out, append(unknown, a.Names.unknown(ctx, r)...), nil
}
