package switching_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/cli/config"
	"jcode/cli/switching"
	mcpconfig "jcode/mcp/config"
)

// setUp writes files below a home folder, and returns the options of a find there.
func setUp(t *testing.T, files map[string]string) switching.Options {
	t.Helper()
	home := t.TempDir()
	root, own := filepath.Join(home, "project"), filepath.Join(home, ".config", "jcode")
	for name, content := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return switching.Options{
		Home: home, Root: root, Paths: config.Paths{Home: home, Config: own},
		Servers: mcpconfig.Paths{Home: home, ProjectRoot: root, ConfigDir: own},
	}
}

// found returns what each item does, or why it can't be, by its ID.
func found(o switching.Options) map[string]string {
	out := map[string]string{}
	for _, i := range switching.Find(o) {
		out[i.ID] = i.Does
		if !i.Possible() {
			out[i.ID] = "NOT: " + i.Why
		}
	}
	return out
}

// expect checks that there are these items and no others. A value is a part of what an item says.
func expect(t *testing.T, got, want map[string]string) {
	t.Helper()
	for id, part := range want {
		if says, ok := got[id]; !ok || !strings.Contains(says, part) {
			t.Errorf("%s says %q, want %q", id, says, part)
		}
	}
	for id, says := range got {
		if _, ok := want[id]; !ok {
			t.Errorf("%s was not expected: %s", id, says)
		}
	}
}

// takeAll takes over what can be, and returns the faults.
func takeAll(t *testing.T, o switching.Options) (faults []string) {
	t.Helper()
	for _, i := range switching.Find(o) {
		if i.Possible() {
			if err := i.Take(t.Context()); err != nil {
				faults = append(faults, i.ID+": "+err.Error())
			}
		}
	}
	return faults
}

func TestEachAgentsSetUpIsOffered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ files, want map[string]string }{
		"claude": {
			map[string]string{
				".claude/settings.json":               `{"model":"claude-sonnet-4-5[1m]","theme":"dark-daltonized","permissions":{"allow":["Bash(npm test:*)","Frob(x)"],"deny":["Read(./.env)"],"defaultMode":"bypassPermissions"},"env":{"A":"b"}}`,
				"project/.claude/settings.local.json": `{"permissions":{"allow":["WebFetch(domain:example.com)"]}}`,
			},
			map[string]string{
				"claude:setting:model": "set model to anthropic/claude-sonnet-4-5", "claude:setting:theme": "set theme to dark", "claude:setting:mode": "NOT: bypassPermissions is not taken over",
				"claude:rules:allow": "allow without a question: exec(npm test *)", "claude:rules:allow-unknown": "NOT: of no tool here: Frob(x)", "claude:rules:deny": "refuse: read(./.env)",
				"claude:setting:env": "NOT: variables may be secrets", "claude:rules:allow@project": "fetch(domain:example.com)",
			},
		},
		"codex": {
			map[string]string{
				".codex/config.toml":         "model = \"gpt-5.2\"\napproval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"docs\"]\n[mcp_servers.far]\nurl = \"https://mcp.example.com\"\nbearer_token_env_var = \"FAR\"\n",
				".codex/hooks.json":          `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"check.sh --token hunter2-hunter2"}]}],"Odd":[]}}`,
				".codex/prompts/look.md":     "Review $1",
				".codex/prompts/named.md":    "Review $FILE",
				".codex/AGENTS.md":           "Be brief.",
				"project/.codex/config.toml": "[mcp_servers.here]\ncommand = \"here\"\n[mcp_servers.keyed]\ncommand = \"keyed\"\nenv = { TOKEN = \"sk-secret\" }\n",
			},
			map[string]string{
				"codex:setting:model": "set model to openai/gpt-5.2", "codex:setting:mode": "set mode to auto", "codex:server:docs": "add the server: npx docs", "codex:server:far": "add the server: https://mcp.example.com",
				"codex:hook:PreToolUse": "run at PreToolUse: check.sh --token ***", "codex:hook:Odd": "NOT: there is no event Odd", "codex:command:look": "add the command /look", "codex:command:named": "NOT: it asks for values by name ($FILE)",
				"codex:instructions": "@~/.codex/AGENTS.md", "codex:server:here@project": "add the server: here", "codex:server:keyed@project": "NOT: it has 1 value that may be secret in a file of the project",
			},
		},
		"gemini": {
			map[string]string{
				".gemini/settings.json":      `{"model":{"name":"gemini-3-pro"},"ui":{"theme":"GitHub Light"},"general":{"defaultApprovalMode":"auto_edit"},"mcpServers":{"gem":{"httpUrl":"https://g.example.com","headers":{"X-Key":"$G_KEY"},"trust":true}},"tools":{"allowed":["run_shell_command(git status)"],"exclude":["write_file"]}, "hooks":{}}`,
				".gemini/commands/plan.toml": "description = \"Plan it\"\nprompt = \"Plan {{args}} with !{git log -1} and @{a.txt}\"\n",
				"project/GEMINI.md":          "Use tabs.",
			},
			map[string]string{
				"gemini:setting:model": "set model to gemini/gemini-3-pro", "gemini:setting:theme": "light", "gemini:setting:mode": "edits", "gemini:server:gem": "https://g.example.com",
				"gemini:rules:allow": "exec(git status *)", "gemini:rules:deny": "refuse: write", "gemini:setting:hooks": "NOT: ", "gemini:command:plan": "asks once before its shell lines run", "gemini:instructions@project": "@GEMINI.md",
			},
		},
		"opencode": {
			map[string]string{
				".config/opencode/opencode.jsonc": `{
					// mine
					"model":"anthropic/claude-sonnet-4-5","theme":"tokyonight","permission":{"edit":"allow","bash":{"*":"ask","git status":"allow","git push *":"deny"},"webfetch":{"*":"deny","https://a":"allow"},"task":"deny"},
					"mcp":{"oc":{"type":"local","command":["oc-server","x"],"environment":{"A":"{env:A}"},"enabled":false},"web":{"type":"remote","url":"https://o.example.com","oauth":false},"off":{"enabled":false}}}`,
				".config/opencode/command/fix.md": "---\ndescription: Fix\n---\nFix $ARGUMENTS",
				".config/opencode/agent/plan.md":  "plan",
			},
			map[string]string{
				"opencode:setting:model": "anthropic/claude-sonnet-4-5", "opencode:setting:theme": "NOT: there is no theme tokyonight", "opencode:rules:allow": "exec(git status), edit", "opencode:rules:deny": "exec(git push *)",
				"opencode:rules:webfetch": "NOT: it refuses all and allows some", "opencode:rules:task": "NOT: ", "opencode:server:oc": "oc-server x (switched off)", "opencode:server:web": "https://o.example.com",
				"opencode:command:fix": "/fix", "opencode:agent:plan": "NOT: ",
			},
		},
		"crush": {
			map[string]string{
				".config/crush/crush.json": `{"models":{"large":{"provider":"openai","model":"gpt-5"}},"mcp":{"cr":{"type":"stdio","command":"cr","env":{"T":"$(pass x)"}},"ok":{"type":"http","url":"https://c.example.com","headers":{"X":"$KEY"}}},"permissions":{"allowed_tools":["view","bash","mcp_a_b"]}}`,
				"project/CRUSH.md":         "Use spaces.",
			},
			map[string]string{
				"crush:setting:model": "openai/gpt-5", "crush:server:cr": "NOT: it takes a value from a command", "crush:server:ok": "https://c.example.com", "crush:rules:allow": "read, exec (every command)",
				"crush:rules:allow-unknown": "NOT: of no tool here: mcp_a_b", "crush:instructions@project": "@CRUSH.md",
			},
		},
		"pi": {
			map[string]string{
				".pi/agent/settings.json": `{"defaultProvider":"nobody","defaultModel":"m","theme":"light"}`,
				".pi/agent/prompts/do.md": "Do $@ now",
			},
			map[string]string{"pi:setting:model": "NOT: the provider nobody of the model m is not known here", "pi:setting:theme": "light", "pi:command:do": "/do"},
		},
		"broken files": {
			map[string]string{".codex/config.toml": "model = ", ".gemini/settings.json": "{\n,"},
			map[string]string{"codex:setting:config.toml": "NOT: the file is not valid TOML", "gemini:setting:settings.json": "NOT: the file is not valid JSON: line 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := setUp(t, c.files)
			expect(t, found(o), c.want)
			if faults := takeAll(t, o); len(faults) > 0 {
				t.Error(faults)
			}
			for id, says := range found(o) {
				if !strings.HasPrefix(says, "NOT: ") {
					t.Errorf("%s is offered again: %s", id, says)
				}
			}
			for file, content := range c.files {
				if now, err := os.ReadFile(filepath.Join(o.Home, filepath.FromSlash(file))); err != nil || string(now) != content {
					t.Errorf("%s was changed: %v", file, err)
				}
			}
			for _, p := range config.Load(config.Options{Paths: o.Paths, Project: o.Root}).Problems {
				t.Errorf("what was written is not valid: %v", p)
			}
			for _, r := range mcpconfig.Load(o.Servers).Files {
				if r.Error != "" {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

func TestNothingIsTakenTwiceAndOwnSettingsStay(t *testing.T) {
	t.Parallel()
	o := setUp(t, map[string]string{
		".config/jcode/config.json":      `{"theme":"ansi16","permissions":{"allow":["exec(npm test *)"]}} // mine` + "\n",
		".config/jcode/mcp.json":         `{"mcpServers":{"docs":{"command":"mine"}}}`,
		".config/jcode/AGENTS.md":        "Mine.",
		".config/jcode/commands/look.md": "Mine.",
		".claude/settings.json":          `{"theme":"dark","permissions":{"allow":["Bash(npm test:*)","Bash(make:*)"]}}`,
		".codex/config.toml":             "model = \"gpt-5\"\n[mcp_servers.docs]\ncommand = \"theirs\"\n",
		".codex/prompts/look.md":         "Theirs.",
		".codex/AGENTS.md":               "Theirs.",
		".pi/agent/settings.json":        `{"defaultProvider":"openai","defaultModel":"gpt-4.1"}`,
	})
	expect(t, found(o), map[string]string{"claude:rules:allow": "question: exec(make *)", "codex:setting:model": "openai/gpt-5", "codex:instructions": "", "pi:setting:model": "openai/gpt-4.1"})
	if faults := takeAll(t, o); len(faults) != 1 || !strings.Contains(faults[0], "pi:setting:model: model is openai/gpt-5 already") {
		t.Error(faults)
	}
	expect(t, found(o), nil)
	for file, want := range map[string]string{"config.json": `"ansi16"`, "mcp.json": "mine", "AGENTS.md": "Mine.\n@~/.codex/AGENTS.md\n", "commands/look.md": "Mine."} {
		if raw, err := os.ReadFile(filepath.Join(o.Paths.Config, filepath.FromSlash(file))); err != nil || !strings.Contains(string(raw), want) || strings.Contains(string(raw), "theirs") {
			t.Errorf("%s: %s, %v", file, raw, err)
		}
	}
}

func TestCommandsComeInTheFormOfCommandsHere(t *testing.T) {
	t.Parallel()
	o := setUp(t, map[string]string{
		".gemini/commands/git/plan.toml": "description = \"Plan: it\"\nprompt = \"Plan {{args}} with !{git log -1} and @{a b.txt}\"\n",
		".pi/agent/prompts/do.md":        "Do $@ now",
	})
	if faults := takeAll(t, o); len(faults) > 0 {
		t.Fatal(faults)
	}
	for file, want := range map[string]string{
		"git/plan.md": "---\ndescription: 'Plan: it'\n---\nPlan $ARGUMENTS with !`git log -1` and @\"a b.txt\"",
		"do.md":       "Do $ARGUMENTS now",
	} {
		raw, err := os.ReadFile(filepath.Join(o.Paths.Config, "commands", filepath.FromSlash(file)))
		if err != nil || string(raw) != want {
			t.Errorf("%s:\n%s\nwant:\n%s\n%v", file, raw, want, err)
		}
	}
}

func TestNotesOfOthersAreOneItem(t *testing.T) {
	t.Parallel()
	o := setUp(t, nil)
	left := 3
	o.Memory = func() (int, []string) { return left, []string{"Codex"} }
	o.TakeMemory = func(context.Context) error { left = 0; return nil }
	expect(t, found(o), map[string]string{"memory": "make drafts of 3 notes"})
	if faults := takeAll(t, o); len(faults) > 0 {
		t.Error(faults)
	}
	expect(t, found(o), nil)
}
