package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// readyWait bounds how long entering a role waits for tools that are still being loaded.
const readyWait = 10 * time.Second

// agentRole finds the role of a name and resolves everything that it names.
func (a *app) agentRole(name string) (agent.Role, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readyWait)
	defer cancel()
	r, err := a.roles().Get(ctx, name)
	if err != nil {
		return agent.Role{}, err
	}
	return a.resolveRole(ctx, r)
}

// resolveRole makes what a conversation puts in force of a role. Names that nothing goes
// by are an error, all of them at once.
func (a *app) resolveRole(ctx context.Context, r session.Role) (agent.Role, error) {
	if err := r.Usable(); err != nil {
		return agent.Role{}, err
	}
	scope := &tools.Scope{Name: r.Name, Tools: r.Tools, Servers: r.Servers, Skills: r.Skills}
	var errs []error
	if r.Mode != "" {
		var err error
		scope.ModeCeiling, err = tools.ParseMode(r.Mode)
		errs = append(errs, err)
	}
	if r.Capabilities != nil {
		caps, err := tools.ParseCapabilities(r.Capabilities)
		scope.Capabilities = &caps
		errs = append(errs, err)
	}
	unknown := a.unknownTools(r.Tools)
	if unknown != nil { // tools of scripts may still be on their way
		a.ready(ctx)
		unknown = a.unknownTools(r.Tools)
	}
	if unknown != nil {
		errs = append(errs, fmt.Errorf("there are no tools %s", strings.Join(unknown, ", ")))
	}
	if err := errors.Join(errs...); err != nil {
		return agent.Role{}, fmt.Errorf("role %s: %w", r.Name, err)
	}
	parts := r.Render(a.roleVars())
	out := agent.Role{
		Name: r.Name, Prompt: parts.System, Template: parts.Template, Model: r.Model, Temperature: r.Temperature, TopP: r.TopP,
		ReasoningEffort: r.ReasoningEffort, MaxOutputTokens: r.MaxOutputTokens, Scope: scope, Servers: r.Servers, Snapshot: r.Snapshot(),
	}
	for _, s := range parts.Shots {
		out.FewShot = append(out.FewShot, model.Message{Role: model.RoleUser, Text: s.Input}, model.Message{Role: model.RoleAssistant, Text: s.Output})
	}
	return out, nil
}

// unknownTools gives the plain names that no tool has. Patterns may match nothing, and the
// tools of a server are known only while it runs.
func (a *app) unknownTools(names []string) []string {
	snap := a.registry.Snapshot(nil)
	var unknown []string
	for _, name := range names {
		if strings.ContainsAny(name, "*?[") || strings.HasPrefix(name, "mcp:") {
			continue
		}
		if _, ok, _ := snap.Lookup(name); !ok {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func (a *app) roleVars() session.RoleVars {
	shell := filepath.Base(a.std.Getenv("SHELL"))
	if shell == "." {
		shell = map[bool]string{true: "powershell", false: "sh"}[runtime.GOOS == "windows"]
	}
	return session.RoleVars{Cwd: a.cwd, OS: runtime.GOOS, Shell: shell, Date: time.Now().Format(time.DateOnly), Project: a.root}
}

// beginRole enters the role that --role names, else the one that a resumed session was in,
// as it was then.
func (a *app) beginRole(ctx context.Context, conv *agent.Conversation, resumed string) error {
	if name := a.flags.Role; name != "" {
		a.flags.Role = "" // for the first conversation only
		return conv.SetRole(ctx, name)
	}
	if resumed == "" {
		if role := a.config.Prelude.Role; role != "" {
			return conv.SetRole(ctx, role)
		}
		return nil
	}
	row, err := a.store.Get(ctx, resumed)
	if err != nil || row.RoleName == "" {
		return err
	}
	kept, err := session.RoleFromSnapshot(row.RoleSnapshot)
	if err != nil {
		return conv.SetRole(ctx, row.RoleName)
	}
	role, err := a.resolveRole(ctx, kept)
	if err == nil {
		err = conv.EnterRole(ctx, role)
	}
	if err != nil {
		// A session must not be lost because a server or a tool is.
		a.board.say(agent.LevelWarn, "the session's role can't be entered: %v", err)
		return nil
	}
	if now, err := a.roles().Get(ctx, row.RoleName); err != nil || !now.SameAs(kept) {
		a.board.say(agent.LevelWarn, "role %s has changed since this session entered it; /role %s enters it anew", row.RoleName, row.RoleName)
	}
	return nil
}
