package skills

import (
	"context"
	_ "embed" // the descriptions of the tools
	"encoding/json"
	"fmt"
	"strings"

	"jcode/tools"
)

//go:embed skill.md
var skillText string

//go:embed reload_skills.md
var reloadText string

// Tools returns the `skill` and `reload_skills` tools.
func (r *Registry) Tools() []tools.Tool { return []tools.Tool{skillTool{r}, reloadTool{r}} }

// skillTool returns a skill's text.
type skillTool struct{ r *Registry }

// Spec describes the tool.
func (t skillTool) Spec() tools.Spec {
	return tools.Spec{
		Name:        "skill",
		Description: strings.TrimSpace(skillText),
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"name":{"type":"string"},` +
			`"again":{"type":"boolean","description":"give it again"}},"required":["name"]}`),
		Aliases:   map[string]string{"skill": "name", "skill_name": "name"},
		ReadOnly:  true,
		Trusted:   true,
		Needs:     tools.CapRead,
		Group:     tools.GroupBuiltin,
		MaxOutput: maxBody + 16<<10,
	}
}

// Run returns the text, and grants the skill's approved rights to the session for this turn.
func (t skillTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var args struct {
		Name  string `json:"name"`
		Again bool   `json:"again"`
	}
	if err := call.Decode(&args); err != nil {
		return tools.Result{}, err
	}
	l, err := t.r.Load(args.Name)
	if err != nil {
		return tools.Result{}, err
	}
	sk := l.Skill
	if !call.Caller.Scope.AllowsSkill(sk.Name) {
		return tools.Result{}, tools.Errorf(tools.KindPermission, "permission denied: the role %s does not include the skill %s",
			call.Caller.Scope.Name, sk.Name)
	}
	if sk.ManualOnly && call.Caller.Origin == tools.OriginModel {
		return tools.Result{}, tools.Errorf(tools.KindPermission, "the skill %s is for the user alone: only /%s starts it", sk.Name, sk.Name)
	}
	session := t.r.Session(call.Caller.Session)
	note := t.r.grant(ctx, session, call.Caller, sk)
	res := tools.Result{
		Text: l.Text,
		Data: map[string]any{"name": sk.Name, "folder": sk.Dir, "body": l.Body, "files": l.Files},
	}
	res.Display = tools.Display{Summary: "skill " + sk.Name + " loaded", Path: sk.File}
	if call.Caller.Origin == tools.OriginModel {
		if session.has(sk.Name, sk.Hash) && !args.Again {
			res.Text = fmt.Sprintf("The skill %s is loaded already and has not changed: its text is above. Folder: %s\n", sk.Name, sk.Dir)
			res.Display.Summary = "skill " + sk.Name + " was loaded before"
		}
		session.mark(sk.Name, sk.Hash)
	}
	res.Text += note
	return res, nil
}

// grant hands the skill's allowed-tools to the session, once a person has approved them,
// and says what became of it.
func (r *Registry) grant(ctx context.Context, session *Session, caller tools.Caller, sk Skill) (note string) {
	if len(sk.Rules) == 0 || r.opts.Grants == nil {
		return ""
	}
	session.mu.Lock()
	refused := session.refused[sk.Hash]
	session.mu.Unlock()
	asker := caller.Asker
	if refused {
		asker = nil
	}
	ok, err := approved(ctx, r.opts.Trust, asker, sk.Pin())
	switch {
	case err != nil:
		return fmt.Sprintf("Its allowed-tools do not apply: the approval could not be looked up or kept: %v\n", err)
	case !ok:
		session.mu.Lock()
		session.refused[sk.Hash] = asker != nil || refused
		session.mu.Unlock()
		return "Its allowed-tools were not approved: the calls ask as usual.\n"
	}
	r.opts.Grants.Allow(caller.Session, caller.Turn, "skill "+sk.Name, sk.Rules)
	return ""
}

// reloadTool searches all folders again.
type reloadTool struct{ r *Registry }

// Spec describes the tool.
func (t reloadTool) Spec() tools.Spec {
	return tools.Spec{
		Name:        "reload_skills",
		Description: strings.TrimSpace(reloadText),
		Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
		ReadOnly:    true,
		Trusted:     true,
		Needs:       tools.CapRead,
		Group:       tools.GroupBuiltin,
	}
}

// Run reloads and reports.
func (t reloadTool) Run(_ context.Context, call tools.Call) (tools.Result, error) {
	c := t.r.Reload()
	report := t.r.Report(c, call.Caller.Scope)
	t.r.Session(call.Caller.Session).Told()
	return tools.Result{
		Text:    report,
		Data:    c,
		Display: tools.Display{Summary: c.String()},
	}, nil
}

// Report tells a reload's outcome and every skill that the scope may use.
func (r *Registry) Report(c Change, scope *tools.Scope) string {
	var b strings.Builder
	list := func(verb string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", verb, strings.Join(names, ", "))
		}
	}
	list("added", c.Added)
	list("changed", c.Changed)
	list("removed", c.Removed)
	var active []string
	var broken []string
	for _, e := range r.Entries() {
		switch {
		case e.State == Broken:
			broken = append(broken, firstOf(e.Diagnostics, e.File).String())
		case e.State == Active && scope.AllowsSkill(e.Name):
			active = append(active, e.Name)
		}
	}
	if b.Len() == 0 {
		b.WriteString("nothing added, changed or removed\n")
	}
	for _, text := range broken {
		b.WriteString("broken: " + text + "\n")
	}
	fmt.Fprintf(&b, "skills in use: %d", len(active))
	if len(active) > 0 {
		b.WriteString(" (" + strings.Join(active, ", ") + ")")
	}
	b.WriteString("\n")
	return b.String()
}
