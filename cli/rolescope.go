package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/internal/system"
	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/retrieval"
)

// readyWait bounds how long entering a role waits for tools that are still being loaded.
const readyWait = 10 * time.Second

// roleScopes applies roles to conversations: what their names mean, and which one holds.
type roleScopes struct{ *app }

// agentRole finds a role, determines the values of its variables, and resolves everything that it
// names. Unknown names are an error that lists all of them.
func (a roleScopes) agentRole(ctx context.Context, want agent.RoleRequest) (agent.Role, error) {
	r, err := a.roles().Get(ctx, want.Name)
	if err == nil {
		err = r.Usable()
	}
	if err != nil {
		return agent.Role{}, err
	}
	values, err := a.roleValues(ctx, r, want)
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
	lines := make([]string, len(list))
	for i, p := range list {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// resolveRole resolves a role for a conversation. unknown lists the names in it that do not
// exist; they allow nothing.
func (a roleScopes) resolveRole(ctx context.Context, r role.Role, values map[string]string) (out agent.Role, unknown []role.Problem, err error) {
	if err := r.Usable(); err != nil {
		return agent.Role{}, nil, err
	}
	snapshot := r.Snapshot()
	vars := a.roleVars()
	vars.Values = values
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
	a.documents.knowRole(r)
	out = agent.Role{
		Name: r.Name, Prompt: parts.System, Template: parts.Template, Model: r.Model, Temperature: r.Temperature, TopP: r.TopP,
		ReasoningEffort: r.ReasoningEffort, MaxOutputTokens: r.MaxOutputTokens, Scope: scope, MaxSteps: r.MaxSteps, Servers: r.Servers, Snapshot: snapshot, Values: values,
	}
	for _, s := range parts.Shots {
		out.FewShot = append(out.FewShot, model.Message{Role: model.RoleUser, Text: s.Input}, model.Message{Role: model.RoleAssistant, Text: s.Output})
	}
	return out, append(unknown, a.unknownNames(ctx, r)...), nil
}

// unknownNames returns the names in a role that do not exist. It waits for names that may appear
// in a moment, because a skill was just written or scripts are being loaded.
func (a roleScopes) unknownNames(ctx context.Context, r role.Role) []role.Problem {
	var out []role.Problem
	look := func(key, what string, names []string, known func() []string, later func()) {
		missing := notAmong(names, known)
		if missing != nil && later != nil {
			later()
			missing = notAmong(names, known)
		}
		for _, name := range missing {
			out = append(out, role.Problem{
				Line: r.Line(key), Text: fmt.Sprintf("%s: there is no %s %q", key, what, name), Cure: instead(name, known()),
			})
		}
	}
	look("tools", "tool", r.Tools, a.toolNames, func() { a.list.load(ctx) })
	look("disallowed_tools", "tool", r.Disallowed, a.toolNames, nil)
	if !a.flags.NoMCP {
		look("mcp_servers", "MCP server", r.Servers, a.mcp.Known, nil)
	}
	if !a.flags.NoSkills {
		look("skills", "skill", r.Skills, a.skillNames, func() { a.learning.skills.Reload() })
	}
	return out
}

// notAmong returns those of names that are not known. Patterns may match nothing, and the
// tools of a server are known only while it runs.
func notAmong(names []string, known func() []string) []string {
	var missing, all []string
	for _, name := range names {
		if strings.ContainsAny(name, "*?[") || strings.HasPrefix(name, "mcp:") {
			continue
		}
		if all == nil {
			all = known()
		}
		if !slices.Contains(all, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// instead says which name may be meant, or which there are.
func instead(name string, known []string) string {
	const most = 12
	switch near := text.Nearest(name, known); {
	case near != "":
		return "did you mean " + near + "?"
	case len(known) == 0:
		return "there is none"
	case len(known) > most:
		return "there are: " + strings.Join(known[:most], ", ") + " …"
	}
	return "there are: " + strings.Join(known, ", ")
}

// toolNames are the names of all tools, also of those that a flag has switched off: a role
// may name them all the same.
func (a roleScopes) toolNames() []string {
	var names []string
	if a.flags.NoSkills {
		names = append(names, "skill", "reload_skills")
	}
	if a.flags.NoMCP {
		names = append(names, "mcp_list", "mcp_connect", "mcp_disconnect", "mcp_reload")
	}
	for _, e := range a.registry.Snapshot(nil).All() {
		names = append(names, e.Spec.Name)
	}
	return names
}

// skillNames are those of all skills that were found: one that is switched off or broken
// is known all the same.
func (a roleScopes) skillNames() []string {
	var names []string
	for _, e := range a.learning.skills.Entries() {
		if !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

func (a roleScopes) roleVars() role.Vars {
	shell := filepath.Base(a.std.Getenv("SHELL"))
	if shell == "." {
		shell = system.ShellName()
	}
	return role.Vars{Cwd: a.cwd, OS: runtime.GOOS, Shell: shell, Date: time.Now().Format(time.DateOnly), Project: a.root}
}

// beginRole enters the role that --role names, else the one that a resumed session was in,
// as it was then.
func (a roleScopes) beginRole(ctx context.Context, conv *agent.Conversation, resumed string) error {
	given, err := a.givenValues()
	if err != nil {
		return err
	}
	if name := a.flags.Role; name != "" {
		a.flags.Role, a.flags.Var = "", nil // for the first conversation only
		return a.enterOrAsk(ctx, conv, name, given)
	}
	if resumed == "" {
		return a.preludeRole(ctx, conv)
	}
	row, err := a.store.Get(ctx, resumed)
	if err != nil || row.RoleName == "" {
		return err
	}
	kept, err := role.FromSnapshot(row.RoleSnapshot)
	if err != nil {
		return conv.SetRole(ctx, row.RoleName)
	}
	if err := a.enterKept(ctx, conv, kept); err != nil {
		a.board.say(agent.LevelWarn, "the session's role can't be entered: %v", err)
		return nil
	}
	if now, err := a.roles().Get(ctx, row.RoleName); err != nil || !now.SameAs(kept) {
		a.board.say(agent.LevelWarn, "role %s has changed since this session entered it; /role %s enters it again", row.RoleName, row.RoleName)
	}
	return nil
}

// roleToEnter is a role that asks for values before anybody could be shown a form.
type roleToEnter struct {
	name  string
	given map[string]string
}

// firstRole keeps the role that is entered once there is a screen, because it asks for values.
type firstRole struct {
	forms bool // there will be a screen that shows forms
	role  *roleToEnter
}

// take returns the role, once; nil for none.
func (f *firstRole) take() *roleToEnter {
	role := f.role
	f.role = nil
	return role
}

// enterOrAsk enters a role of the command line or the configuration. What it asks for is asked
// once there is a screen for the form; a run without a person ends.
func (a roleScopes) enterOrAsk(ctx context.Context, conv *agent.Conversation, name string, given map[string]string) error {
	err := conv.SetRoleWith(ctx, name, given)
	var missing *role.MissingError
	switch {
	case !errors.As(err, &missing):
		return err
	case a.firstRole.forms:
		a.firstRole.role = &roleToEnter{name, given}
		return nil
	}
	return fmt.Errorf("%w. Give each as --var NAME=VALUE", err)
}

// preludeRole enters the role that the configuration begins with. Nobody asked for it now,
// so a person is told if it can't be entered, and continues without; a run without one ends.
func (a roleScopes) preludeRole(ctx context.Context, conv *agent.Conversation) error {
	name := a.config.Prelude.Role
	if name == "" {
		return nil
	}
	err := a.enterOrAsk(ctx, conv, name, nil)
	if err == nil || a.flags.Print {
		return err
	}
	a.board.say(agent.LevelError, "the prelude's role is not entered: %v", err)
	return nil
}

// enterKept enters a role as a session kept it. The session must not be lost because a
// server, a tool or a skill is; the role narrows what there is all the same.
func (a roleScopes) enterKept(ctx context.Context, conv *agent.Conversation, kept role.Role) error {
	values, missing, err := kept.Values(conv.RoleValues(kept.Name), nil)
	if err == nil && missing != nil {
		err = missingValues(kept, missing)
	}
	if err != nil {
		return err
	}
	role, unknown, err := a.resolveRole(ctx, kept, values)
	if err != nil {
		return err
	}
	if unknown != nil {
		a.board.say(agent.LevelWarn, "the role %s of this session continues without what is gone: %s", kept.Name, problemText(unknown))
	}
	if err = conv.EnterRole(ctx, role); err == nil || role.Servers == nil {
		return err
	}
	a.board.say(agent.LevelWarn, "the role %s of this session continues without its servers: %v", kept.Name, err)
	role.Servers = nil
	return conv.EnterRole(ctx, role)
}
