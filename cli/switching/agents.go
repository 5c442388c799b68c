package switching

import (
	"path/filepath"
	"strings"
)

// Where each agent keeps what it has set up. Of Claude Code jcode itself reads servers, hooks, commands, skills,
// instructions and sub-agents where they are.

func (f *finder) claude() {
	dir := f.folder("CLAUDE_CONFIG_DIR", ".claude")
	file := filepath.Join(dir, "settings.json")
	s := f.read(file)
	f.model("anthropic", strings.TrimSuffix(in[string](s, "model"), "[1m]"), file)
	theme, from := in[string](s, "theme"), file
	if theme == "" {
		from = filepath.Join(f.Home, ".claude.json")
		theme = in[string](f.read(from), "theme")
	}
	f.theme(theme, from)
	f.mode(in[string](s, "permissions", "defaultMode"), map[string]string{"default": "ask", "acceptEdits": "edits", "plan": "plan"}, file)
	f.claudeRules(s, file)
	f.others(file, s, "env", "apiKeyHelper", "statusLine", "outputStyle", "sandbox")
	f.project = true
	for _, name := range []string{"settings.json", "settings.local.json"} {
		file := filepath.Join(f.Root, ".claude", name)
		f.claudeRules(f.read(file), file)
	}
}

func (f *finder) claudeRules(s object, file string) {
	for _, list := range []string{"allow", "ask", "deny"} {
		f.rules(list, file, texts(in[[]any](s, "permissions", list)))
	}
}

func (f *finder) codex() {
	dir := f.folder("CODEX_HOME", ".codex")
	file := filepath.Join(dir, "config.toml")
	s := f.read(file)
	maker := in[string](s, "model_provider")
	if maker == "" {
		maker = "openai"
	}
	f.model(maker, in[string](s, "model"), file)
	policy := in[string](s, "approval_policy")
	if box := in[string](s, "sandbox_mode"); policy == "on-request" && box == "workspace-write" {
		policy = "sandboxed"
	}
	f.mode(policy, map[string]string{"untrusted": "ask", "on-request": "ask", "on-failure": "auto", "sandboxed": "auto"}, file)
	f.serverList(in[object](s, "mcp_servers"), file)
	f.others(file, s, "model_providers", "profiles", "notify", "model_reasoning_effort", "projects")
	f.hookFile(filepath.Join(dir, "hooks.json"))
	f.commandFolder(filepath.Join(dir, "prompts"))
	f.instructions(filepath.Join(dir, "AGENTS.md"))
	f.project = true
	file = filepath.Join(f.Root, ".codex", "config.toml")
	f.serverList(in[object](f.read(file), "mcp_servers"), file)
	f.hookFile(filepath.Join(f.Root, ".codex", "hooks.json"))
}

func (f *finder) gemini() {
	dir := filepath.Join(f.Home, ".gemini")
	file := filepath.Join(dir, "settings.json")
	s := f.read(file)
	f.model("gemini", in[string](s, "model", "name"), file)
	f.theme(in[string](s, "ui", "theme"), file)
	f.mode(in[string](s, "general", "defaultApprovalMode"), map[string]string{"default": "ask", "auto_edit": "edits", "plan": "plan"}, file)
	f.geminiFile(s, file)
	f.others(file, s, "hooks", "security", "telemetry", "context")
	f.commandFolder(filepath.Join(dir, "commands"))
	f.instructions(filepath.Join(dir, "GEMINI.md"))
	f.project = true
	file = filepath.Join(f.Root, ".gemini", "settings.json")
	f.geminiFile(f.read(file), file)
	f.commandFolder(filepath.Join(f.Root, ".gemini", "commands"))
	f.instructions(filepath.Join(f.Root, "GEMINI.md"))
}

func (f *finder) geminiFile(s object, file string) {
	f.serverList(in[object](s, "mcpServers"), file)
	f.rules("allow", file, slicesOf(texts(in[[]any](s, "tools", "allowed")), geminiRule))
	f.rules("ask", file, slicesOf(texts(in[[]any](s, "tools", "confirmationRequired")), geminiRule))
	f.rules("deny", file, slicesOf(texts(in[[]any](s, "tools", "exclude")), geminiRule))
}

func (f *finder) opencode() {
	dir := f.folder("", ".config/opencode")
	if f.Env != nil && f.Env("XDG_CONFIG_HOME") != "" {
		dir = filepath.Join(f.Env("XDG_CONFIG_HOME"), "opencode")
	}
	file := first(filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json"), filepath.Join(dir, "config.json"))
	if s := f.read(file); s != nil {
		maker, model, _ := strings.Cut(in[string](s, "model"), "/")
		f.model(maker, model, file)
		f.theme(in[string](s, "theme"), file)
		f.opencodeFile(s, file)
		f.others(file, s, "provider", "keybinds", "plugin", "formatter", "lsp", "instructions")
	}
	for _, name := range []string{"command", "commands"} {
		f.commandFolder(filepath.Join(dir, name))
	}
	f.agentFolder(filepath.Join(dir, "agent"))
	f.instructions(filepath.Join(dir, "AGENTS.md"))
	f.project = true
	for _, name := range []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"} {
		file := filepath.Join(f.Root, filepath.FromSlash(name))
		f.opencodeFile(f.read(file), file)
	}
	for _, name := range []string{"command", "commands"} {
		f.commandFolder(filepath.Join(f.Root, ".opencode", name))
	}
	f.agentFolder(filepath.Join(f.Root, ".opencode", "agent"))
}

func (f *finder) opencodeFile(s object, file string) {
	f.serverList(in[object](s, "mcp"), file)
	f.opencodeRules(s["permission"], file)
	for _, name := range sorted(in[object](s, "command")) {
		c := in[object](s, "command", name)
		f.command(name, file, front(in[string](c, "description"), "", in[string](c, "template")))
	}
}

func (f *finder) crush() {
	dir := f.folder("", ".config/crush")
	if f.Env != nil && f.Env("XDG_CONFIG_HOME") != "" {
		dir = filepath.Join(f.Env("XDG_CONFIG_HOME"), "crush")
	}
	file := filepath.Join(dir, "crush.json")
	s := f.read(file)
	chosen, from := in[object](s, "models", "large"), file
	if chosen == nil {
		from = filepath.Join(f.folder("", ".local/share/crush"), "crush.json")
		chosen = in[object](f.read(from), "models", "large")
	}
	f.model(in[string](chosen, "provider"), in[string](chosen, "model"), from)
	f.crushFile(s, file)
	f.others(file, s, "providers", "lsp", "hooks")
	f.commandFolder(filepath.Join(dir, "commands"))
	f.instructions(filepath.Join(dir, "CRUSH.md"))
	f.project = true
	for _, name := range []string{"crush.json", ".crush.json"} {
		file := filepath.Join(f.Root, name)
		f.crushFile(f.read(file), file)
	}
	f.commandFolder(filepath.Join(f.Root, ".crush", "commands"))
	f.instructions(filepath.Join(f.Root, "CRUSH.md"))
}

func (f *finder) crushFile(s object, file string) {
	f.serverList(in[object](s, "mcp"), file)
	f.rules("allow", file, slicesOf(texts(in[[]any](s, "permissions", "allowed_tools")), crushRule))
	f.rules("deny", file, slicesOf(texts(in[[]any](s, "options", "disabled_tools")), crushRule))
}

func (f *finder) pi() {
	dir := f.folder("PI_CODING_AGENT_DIR", ".pi/agent")
	file := filepath.Join(dir, "settings.json")
	s := f.read(file)
	f.model(in[string](s, "defaultProvider"), in[string](s, "defaultModel"), file)
	f.theme(in[string](s, "theme"), file)
	f.others(file, s, "extensions", "packages", "defaultThinkingLevel")
	f.commandFolder(filepath.Join(dir, "prompts"))
	f.instructions(filepath.Join(dir, "AGENTS.md"))
	f.project = true
	f.commandFolder(filepath.Join(f.Root, ".pi", "prompts"))
}

func slicesOf(list []string, convert func(string) string) []string {
	var out []string
	for _, s := range list {
		out = append(out, convert(s))
	}
	return out
}
