package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/agent"
	"jcode/mcp"
	"jcode/skills"
	"jcode/skills/instructions"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// printWait is how long a headless run waits for configured MCP servers.
const printWait = 5 * time.Second

// extensions are the rooms that add to what jcode can do while it runs. Their fields are
// nil where a flag switches them off.
type extensions struct {
	skills       *skills.Registry
	files        *skills.CommandFiles
	instructions *instructions.Set
	mcp          *mcp.Manager
	commands     command.Set
	turnRules    turnRules
}

// openExtensions makes the rooms and registers their tools. Nothing is read, started or
// connected yet: see startExtensions.
func (a *app) openExtensions(context.Context) error {
	a.instructions = instructions.New(instructions.Options{Config: a.paths.Config, Home: a.paths.Home, Root: a.root, Cwd: a.cwd})
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, touched{a})
	a.turnRules.allow = a.allow
	if !a.flags.NoSkills {
		if err := a.openSkills(); err != nil {
			return err
		}
	}
	if !a.flags.NoMCP {
		return a.openMCP()
	}
	return nil
}

func (a *app) openSkills() error {
	places := skills.Places{Config: a.paths.Config, Home: a.paths.Home, Folders: a.config.Skills.Folders, Project: a.root}
	trust := skillTrust{a}
	a.skills = skills.New(skills.Options{
		Places: places, Disabled: a.config.Skills.Disabled, Cache: filepath.Join(a.paths.Data, "skills"),
		Trust: trust, Grants: &a.turnRules,
		Changed: func(c skills.Change) {
			if !c.Empty() {
				a.board.say(agent.LevelInfo, "skills: %s", c)
			}
		},
		Notice: func(text string) { a.board.say(agent.LevelWarn, "%s", text) },
	})
	a.files = skills.NewCommandFiles(places, trust, personHost{a})
	a.commands.Sources = append(a.commands.Sources, a.skills.Commands(personHost{a}), a.files)
	for _, t := range a.skills.Tools() {
		if err := a.registry.Register(tools.OwnerBuiltin, tools.RankBuiltin, t); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) openMCP() error {
	threshold := ""
	if t := a.config.MCP.DeferThreshold; t.Share > 0 {
		threshold = fmt.Sprintf("%g%%", t.Share*100)
	} else if t.Tokens > 0 {
		threshold = fmt.Sprint(t.Tokens)
	}
	a.mcp = mcp.New(mcp.Options{
		Paths: mcp.ConfigPaths{
			Run: a.flags.MCPConfig, ProjectRoot: a.root, ConfigDir: a.paths.Config, Home: a.paths.Home,
			NoImport: a.config.MCP.ImportClaude != nil && !*a.config.MCP.ImportClaude,
		},
		Registry: a.registry, Trust: mcpTrust{a}, TrustAll: a.flags.Trust,
		LogDir: filepath.Join(a.paths.Data, "logs", "mcp"), FileDir: filepath.Join(a.paths.Data, "files"),
		Roots: append([]string{a.root}, a.flags.AddDir...), Version: Version(),
		Tools: a.config.MCP.Tools, DeferThreshold: threshold, MaxTools: a.config.MCP.MaxTools,
		Window: a.board.window,
		Notify: func(level, text string) { a.board.say(agent.Level(level), "%s", text) },
	})
	a.onClose(a.mcp.Close)
	a.mcp.SetDispatcher(a.dispatcher)
	return a.mcp.RegisterTools()
}

// startExtensions reads files, starts watching them, and connects servers in the
// background. It is called once the first frame is on its way.
func (a *app) startExtensions() {
	if a.skills != nil {
		a.skills.Reload()
		a.files.Reload()
		a.onClose(skills.Watch(a.skills, a.files, func(c skills.Change) { a.board.say(agent.LevelInfo, "commands: %s", c) }))
	}
	if a.mcp != nil {
		a.mcp.Start()
	}
}

// ready waits until what a first prompt needs is there.
func (a *app) ready(ctx context.Context) {
	if a.mcp == nil || !a.flags.Print {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, printWait)
	defer cancel()
	if missing := a.mcp.WaitReady(ctx); len(missing) > 0 {
		a.board.say(agent.LevelWarn, "going on without MCP servers that are not connected: %s", strings.Join(missing, ", "))
	}
}

// sections are the parts of the system prompt that extensions give.
func (a *app) sections(sessionID string, scope *tools.Scope) []string {
	var out []string
	if a.instructions != nil {
		out = append(out, a.instructions.Prompt())
		for _, n := range a.instructions.Notices() {
			a.board.say(agent.LevelWarn, "%s", n)
		}
	}
	if a.skills != nil {
		out = append(out, a.skills.Session(sessionID).Prompt(scope))
	}
	if a.mcp != nil {
		out = append(out, a.mcp.Instructions())
	}
	return out
}

// changes is what the model is told before a step of what changed in skills and
// instructions.
func (a *app) changes(_ context.Context, sessionID string) agent.Announcement {
	var out []string
	if a.instructions != nil {
		out = append(out, a.instructions.Changes())
	}
	if a.skills != nil {
		out = append(out, a.skills.Session(sessionID).Changes())
	}
	return agent.Announcement{Text: strings.TrimSpace(strings.Join(out, "\n"))}
}

// touched gives the instructions of a folder when a tool first works in it.
type touched struct{ a *app }

// BeforeCall changes nothing.
func (touched) BeforeCall(context.Context, tools.Call) (args json.RawMessage, refuse, by string) {
	return nil, "", ""
}

// AfterCall looks at the paths that a call touched.
func (t touched) AfterCall(call tools.Call, out tools.Outcome) {
	if !out.Ran || call.Caller.Session == "" {
		return
	}
	for _, access := range out.Call.Plan.Accesses {
		if access.Path == "" {
			continue
		}
		if text, ok := t.a.instructions.Touch(access.Path); ok {
			t.a.board.tell(text)
		}
	}
}

// skillTrust keeps the approval of what skills and commands may run.
type skillTrust struct{ a *app }

func (skillTrust) item(p skills.Pin) permission.TrustItem {
	kind := permission.TrustSkill
	if p.Kind == "command" {
		kind = permission.TrustCommand
	}
	return permission.TrustItem{Kind: kind, Name: p.Name, Hash: p.Hash, File: p.File, Runs: append(p.Rules, p.Shell...)}
}

// Approved reports whether exactly this pin was approved.
func (s skillTrust) Approved(ctx context.Context, p skills.Pin) (bool, error) {
	return s.a.trust.Trusted(ctx, s.item(p))
}

// Approve keeps that it was.
func (s skillTrust) Approve(ctx context.Context, p skills.Pin) error {
	return s.a.trust.Accept(ctx, []permission.Pending{{TrustItem: s.item(p)}}, true)
}

// mcpTrust keeps the approval of a project's MCP entries.
type mcpTrust struct{ a *app }

func (mcpTrust) item(server, hash string) permission.TrustItem {
	return permission.TrustItem{Kind: permission.TrustMCP, Name: server, Hash: hash}
}

// Trusted reports whether a server was approved in exactly this form.
func (m mcpTrust) Trusted(_, server, hash string) bool {
	ok, err := m.a.trust.Trusted(context.Background(), m.item(server, hash))
	return err == nil && ok
}

// Trust keeps an approval.
func (m mcpTrust) Trust(_, server, hash string) error {
	return m.a.trust.Accept(context.Background(), []permission.Pending{{TrustItem: m.item(server, hash)}}, true)
}

// turnRules holds the rules that skills put in force until the end of a turn.
type turnRules struct {
	allow func(sessionID string, rules []string) (release func(), err error)

	mu       sync.Mutex
	releases map[string][]func() // by session
}

// Allow adds allow rules that end with the turn.
func (t *turnRules) Allow(sessionID string, _ int, _ string, rules []string) {
	release, err := t.allow(sessionID, rules)
	if err != nil {
		return // the skill's own check has named the bad rule
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.releases == nil {
		t.releases = map[string][]func(){}
	}
	t.releases[sessionID] = append(t.releases[sessionID], release)
}

// end takes a session's rules back.
func (t *turnRules) end(sessionID string) {
	t.mu.Lock()
	list := t.releases[sessionID]
	delete(t.releases, sessionID)
	t.mu.Unlock()
	for _, release := range list {
		release()
	}
}
