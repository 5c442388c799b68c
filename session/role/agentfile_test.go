package role_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"jcode/session/role"
)

func TestDefinitionOfAnAgentIsReadAsARole(t *testing.T) {
	t.Parallel()
	r := role.ParseAgent("file", []byte(`---
name: test-runner
description: Use this agent when tests fail
tools: Read, Grep, Bash, mcp__github__list_issues, mcp__docs
disallowedTools: [Write]
model: inherit
permissionMode: acceptEdits
skills:
  - go-testing
mcpServers: [github]
maxTurns: 12
---
You run tests.
`))
	if err := r.Usable(); err != nil || len(r.Problems) > 0 {
		t.Fatalf("%v %v", err, r.Problems)
	}
	r.Text = ""
	want := role.Role{
		Name: "test-runner", Description: "Use this agent when tests fail", Body: "You run tests.",
		Tools: []string{"read", "grep", "exec", "mcp:github:list_issues", "mcp:docs:*"}, Disallowed: []string{"write"},
		Mode: "edits", Skills: []string{"go-testing"}, Servers: []string{"github"}, MaxSteps: 12,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

func TestWhatADefinitionSaysInVainIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, said string }{
		{"model: sonnet", `line 2: model: "sonnet" is a short name that only Claude Code knows`},
		{"permissionMode: bypassPermissions", `line 2: permissionMode: "bypassPermissions" has no meaning here`},
		{"tools: NotebookEdit", `line 2: tools: jcode has no tool "NotebookEdit"`},
		{"tools: [\"Bash(git *)\"]", `line 2: tools: "Bash(git *)" does not accept a pattern here`},
		{"mcpServers:\n  x: {command: evil}", "line 2: mcpServers: servers are not defined here"},
		{"mcpServers:\n  - x: {command: evil}", "line 2: mcpServers: a server is not defined here"},
		{"color: blue", `line 2: the key "color" has no meaning here`},
	} {
		r := role.ParseAgent("a", []byte("---\n"+c.line+"\n---\nx"))
		if err := r.Usable(); err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		if len(r.Problems) == 0 || !strings.HasPrefix(r.Problems[0].String(), c.said) {
			t.Errorf("%s: %v", c.line, r.Problems)
		}
		if r.Model != "" || r.Mode != "" || len(r.Tools) > 0 || len(r.Servers) > 0 {
			t.Errorf("%s has an effect: %+v", c.line, r)
		}
	}
	for text, said := range map[string]string{
		"You help.":                       "does not begin with front matter",
		"---\nmaxTurns: many\n---\n":      `"many" is not a count of requests`,
		"---\nname: ../../evil\n---\n":    "use letters, digits",
		"---\ndescription: x\nno closing": "never closed",
	} {
		if err := role.ParseAgent("a", []byte(text)).Usable(); err == nil {
			t.Errorf("%q is usable, want it to say %q", text, said)
		}
	}
	if r := role.ParseAgent("a", []byte("---\ntools: NotebookEdit\n---\n")); r.Tools == nil {
		t.Error("a role whose only tool is unknown gets all tools")
	}
}

func TestDefinitionsOfAgentsRankBelowOurRoles(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	trusted := false
	layers := &role.Layers{
		ProjectDir: filepath.Join(project, "roles"), ProjectAgents: filepath.Join(project, "agents"),
		UserDir: filepath.Join(home, "roles"), UserAgents: filepath.Join(home, "agents"), PluginAgents: []role.PluginAgents{{Plugin: "kit", Paths: []string{filepath.Join(home, "plugin")}}},
		Trusted: func(role.Role) bool { return trusted },
	}
	write := func(dir, name, front string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		writeRole(t, dir, name, "---\ndescription: d\n"+front+"---\nx\n")
	}
	write(layers.UserDir, "mine", "")
	write(layers.UserAgents, "mine", "")
	write(layers.UserAgents, "reviewer", "")
	write(filepath.Join(layers.UserAgents, "team", "deep"), "nested", "")
	write(layers.PluginAgents[0].Paths[0], "nested", "")
	write(layers.PluginAgents[0].Paths[0], "plugged", "")
	write(layers.ProjectAgents, "narrow", "tools: Read\n")
	write(layers.ProjectAgents, "reaching", "model: evil/model\n")
	write(layers.ProjectAgents, "plugged", "")
	sources := func() map[string]role.Source {
		all, err := layers.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]role.Source{}
		for _, l := range all {
			if l.Counts() {
				out[l.Role.Name] = l.Role.Source
			}
		}
		for _, name := range []string{"coder", "explain", "planner", "shell"} {
			delete(out, name)
		}
		return out
	}
	want := map[string]role.Source{
		"mine": role.UserFile, "reviewer": role.UserAgents, "nested": role.UserAgents, "kit:nested": role.Plugin, "kit:plugged": role.Plugin, "plugged": role.ProjectAgents, "narrow": role.ProjectAgents,
	}
	if got := sources(); !reflect.DeepEqual(got, want) {
		t.Errorf("before trust %v\nwant %v", got, want)
	}
	trusted = true
	want["reaching"] = role.ProjectAgents
	if got := sources(); !reflect.DeepEqual(got, want) {
		t.Errorf("after trust %v\nwant %v", got, want)
	}
}

func TestAgentsOfPluginsAreFoundByTheirShortNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(plugin, name string) role.PluginAgents {
		t.Helper()
		path := filepath.Join(dir, plugin)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		writeRole(t, path, name, "---\ndescription: d\n---\nx\n")
		return role.PluginAgents{Plugin: plugin, Paths: []string{path}}
	}
	one, two := write("one", "look"), write("two", "look")
	layers := &role.Layers{PluginAgents: []role.PluginAgents{one}}
	for _, name := range []string{"look", "one:look"} {
		if r, err := layers.Get(t.Context(), name); err != nil || r.Name != "one:look" {
			t.Errorf("%s: %q %v", name, r.Name, err)
		}
	}
	layers.PluginAgents = append(layers.PluginAgents, two)
	if r, err := layers.Get(t.Context(), "look"); err == nil {
		t.Errorf("two plugins have that name, and %s is used", r.Name)
	}
	layers.UserAgents = write("mine", "look").Paths[0]
	if r, err := layers.Get(t.Context(), "look"); err != nil || r.Name != "look" {
		t.Errorf("%q %v", r.Name, err)
	}
}

func TestFoldersOfRolesMayBeLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	writeRole(t, real, "linked", "---\ndescription: d\n---\nx")
	link := filepath.Join(dir, "agents")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	r, err := (&role.Layers{UserAgents: link}).Get(t.Context(), "linked")
	if err != nil || r.Path != filepath.Join(link, "linked.md") {
		t.Errorf("%v at %q", err, r.Path)
	}
}

// The description of an agent may go on with examples that are not indented, as those of many public agents do;
// what limits the agent counts all the same, and what was probably meant to keeps it from being used.
func TestExamplesAfterTheDescriptionOfAnAgentAreText(t *testing.T) {
	t.Parallel()
	text := "---\nname: maker\ndescription: Use this agent to make things. Examples:\n\n<example>\nContext: a thing is missing\nuser: \"make one\"\n" +
		"assistant: \"I'll use the Task tool\"\n<commentary>\nSince it is asked for, use the tool.\n</commentary>\nassistant: \"done\"\n</example>\n\n%smodel: inherit\ntools: [\"Read\"]\n---\nYou make.\n"
	r := role.ParseAgent("maker", fmt.Appendf(nil, text, ""))
	if err := r.Usable(); err != nil || !strings.HasPrefix(r.Description, "Use this agent to make things. Examples:") || !slices.Equal(r.Tools, []string{"read"}) {
		t.Errorf("%v %q %q", err, r.Description, r.Tools)
	}
	for _, line := range []string{"tools Read\n", "disallowedTools = Bash\n", "tools: [\"Bash\"]\n"} {
		if err := role.ParseAgent("maker", fmt.Appendf(nil, text, line)).Usable(); err == nil {
			t.Errorf("%q does not keep it from being used", line)
		}
	}
}
