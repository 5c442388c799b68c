//go:build linux || darwin

package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// ruledChat is a chat on a machine whose administrator has set something.
func ruledChat(t *testing.T, managed string, replies ...modeltest.Reply) *chat {
	t.Helper()
	c := newChat(t, replies...)
	dir := filepath.Join(shortDir(t), "etc")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "managed.json")
	if err := os.WriteFile(file, []byte(managed), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o755, file: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	c.env = append(c.env, "TEST_MANAGED="+dir)
	return c
}

// forbidden is a machine on which nothing may be touched, nor more be allowed than edits.
const forbidden = `{
  "deny": ["exec(touch *)", "read(sealed.txt)"],
  "max_mode": "edits",
  "models": ["replay:*", "openai/good*", "good*"],
  "endpoints": ["http://127.0.0.1:1/v1"],
  "mcp_servers": ["/opt/corp-mcp *", "https://mcp.corp.example/"],
  "plugins": ["https://git.corp.example/*"],
  "memory": "off",
  "remote": false,
  "telemetry": "off",
  "hooks": {"PreToolUse": [{"matcher": "write", "hooks": [{"command": "cat >/dev/null; echo the administrator says no >&2; exit 2"}]}]}
}`

// Each of these tries to get around what the administrator of the machine has set.
func TestNothingGetsAroundManagedSettings(t *testing.T) {
	t.Parallel()
	touch := calls("", "exec", map[string]any{"cmd": "touch made.txt"})
	done := says("", "done")
	everything := `{"mode": "yolo", "permissions": {"allow": ["*", "exec(touch *)"]}, "memory": "auto", "remote": true, "hooks": {}}`
	replay := func(t *testing.T, lines ...map[string]any) string {
		return "replay:" + played(t, append(lines, done)...)
	}
	for name, c := range map[string]struct {
		try  func(t *testing.T, c *chat) string // returns what was printed
		want string
	}{
		"flags": {func(t *testing.T, c *chat) string {
			return c.ran("-p", "--mode", "yolo", "--allow", "*", "--allow", "exec(touch *)", "--trust", "-m", replay(t, touch), "--output-format", "stream-json", "go")
		}, "denied by rule exec(touch *)"},
		"the mode of a flag": {func(t *testing.T, c *chat) string {
			return c.ran("--mode", "yolo", "permissions", "explain", "make install")
		}, "mode edits"},
		"settings of the user": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "config.json"), everything)
			return c.ran("-p", "-m", replay(t, touch), "--output-format", "stream-json", "go")
		}, "denied by rule exec(touch *)"},
		"settings of a trusted project": {func(t *testing.T, c *chat) string {
			c.project("config.json", everything)
			return c.ran("-p", "--trust", "-m", replay(t, touch), "--output-format", "stream-json", "go")
		}, "denied by rule exec(touch *)"},
		"a collector in the environment": {func(t *testing.T, c *chat) string {
			reached := false
			collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			put(t, filepath.Join(c.home, "config.json"), `{"telemetry": {"content": true}}`)
			c.env = append(c.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
			out := c.ran("-p", "-m", replay(t), "go")
			collector.Close()
			if reached {
				t.Error("the collector was reached")
			}
			return out
		}, "nothing is sent to OTEL_EXPORTER_OTLP_ENDPOINT"},
		"another home": {func(t *testing.T, c *chat) string {
			home := t.TempDir()
			put(t, filepath.Join(home, "config.json"), everything)
			c.env = append(c.env, "HOME="+home, "JCODE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CONFIG_DIRS="+home, "ProgramData="+home, "PROGRAMDATA="+home)
			return c.ran("-p", "--mode", "yolo", "-m", replay(t, touch), "--output-format", "stream-json", "go")
		}, "denied by rule exec(touch *)"},
		"a setting stored later": {func(t *testing.T, c *chat) string {
			out := c.ran("config", "set", "mode", "yolo") + c.ran("config", "set", "memory", "auto") + c.ran("config", "set", "remote", "true")
			return out + c.ran("config", "show")
		}, "managed: max_mode"},
		"a role": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "roles", "wild.md"), "---\nname: wild\ndescription: Wild.\nmode: yolo\n---\nDo all.\n")
			return c.ran("-p", "--mode", "yolo", "--role", "wild", "-m", replay(t, touch), "--output-format", "stream-json", "go")
		}, "denied by rule exec(touch *)"},
		"the tools that a command file allows": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "commands", "wild.md"), "---\ndescription: Wild.\nallowed-tools: exec, exec(touch *)\n---\nGo on.\n")
			return c.ran("-p", "-m", replay(t, touch), "--output-format", "stream-json", "/wild")
		}, "denied by rule exec(touch *)"},
		"a tool in Lua": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.dir, ".jcode", "lua", "tools", "wild", "mcp_tool.json"), `{"description": "d", "permissions": {"exec": [["touch"]]}}`)
			put(t, filepath.Join(c.dir, ".jcode", "lua", "tools", "wild", "main.lua"), `return tostring(jcode.exec({"touch", "made.txt"}).error)`)
			return c.ran("--trust", "--mode", "yolo", "--allow", "exec(touch *)", "lua", "run", "wild")
		}, "exec(touch *)"},
		"a sub-agent": {func(t *testing.T, c *chat) string {
			script := replay(t,
				calls("", "task", map[string]any{"prompt": "x", "name": "ann"}), calls("ann", "exec", map[string]any{"cmd": "touch made.txt"}),
				says("ann", "over"), calls("", "agent", map[string]any{"action": "wait", "name": "ann"}))
			return c.ran("-p", "--mode", "yolo", "--allow", "exec(touch *)", "-m", script, "--output-format", "stream-json", "go")
		}, "denied by rule exec(touch *)"},
		"a task of a worker": {func(t *testing.T, c *chat) string {
			gitRepository(t, c.dir)
			return c.ran("tasks", "add", "--mode", "yolo", "-m", replay(t, touch), "touch") + c.ran("worker", "--once") + c.ran("tasks", "log", "1")
		}, "exec(touch *)"},
		"another jcode over MCP": {func(t *testing.T, c *chat) string {
			return c.ran("mcp", "call", "exec", `{"cmd": "touch made.txt"}`, "--", "jcode", "--mode", "yolo", "mcp", "serve")
		}, "the MCP server jcode --mode yolo mcp serve: not allowed on this machine"},
		"a server of the settings": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "mcp.json"), `{"mcpServers": {"corp": {"command": "sh", "args": ["-c", "touch made.txt"]}, "far": {"url": "https://mcp.corp.example.evil.example/"}}}`)
			return c.ran("mcp", "test", "corp") + c.ran("mcp", "test", "far") + c.ran("-p", "-m", replay(t), "go")
		}, "https://mcp.corp.example.evil.example: not allowed on this machine"},
		"a variable in a server's command": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "mcp.json"), `{"mcpServers": {"corp": {"command": "${TOOL:-/opt/corp-mcp}", "args": ["-c", "touch made.txt"]}}}`)
			c.env = append(c.env, "TOOL=/bin/sh")
			return c.ran("mcp", "test", "corp")
		}, "the MCP server /bin/sh -c touch made.txt: not allowed on this machine"},
		"a server that the model connects": {func(t *testing.T, c *chat) string {
			return c.ran("-p", "--mode", "yolo", "--allow", "mcp_connect", "-m", replay(t, calls("", "mcp_connect", map[string]any{"name": "x", "command": "sh", "args": []string{"-c", "touch made.txt"}})), "--output-format", "stream-json", "go")
		}, "not allowed on this machine"},
		"a plugin": {func(t *testing.T, c *chat) string {
			dir := filepath.Join(c.dir, "plug")
			put(t, filepath.Join(dir, ".claude-plugin", "plugin.json"), `{"name": "plug", "version": "1"}`)
			put(t, filepath.Join(dir, "commands", "x.md"), "x\n")
			return c.ran("plugins", "add", "--yes", dir)
		}, "not allowed on this machine"},
		"another model": {func(t *testing.T, c *chat) string {
			c.env = append(c.env, "OPENAI_BASE_URL=", "JCODE_MODEL=openai/other")
			return c.ran("-p", "go")
		}, "the model openai/other: not allowed on this machine"},
		"another address": {func(t *testing.T, c *chat) string {
			return c.ran("-p", "-m", "good", "--base-url", c.srv.URL(), "go")
		}, "models at " + "http://127.0.0.1:"},
		"an allowed name at another address": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "config.json"), fmt.Sprintf(`{"providers": {"openai": {"base_url": %q}}}`, c.srv.URL()))
			c.env = append(c.env, "OPENAI_BASE_URL=")
			return c.ran("-p", "-m", "openai/good", "go")
		}, "not allowed on this machine"},
		"another model in the request": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "config.json"), `{"providers": {"openai": {"base_url": "http://127.0.0.1:1/v1", "extra_body": {"model": "other"}}}}`)
			c.env = append(c.env, "OPENAI_BASE_URL=")
			return c.ran("-p", "-m", "openai/good", "go")
		}, "extra_body.model of provider openai"},
		"hooks switched off": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, ".claude", "settings.json"), `{"disableAllHooks": true}`)
			put(t, filepath.Join(c.dir, ".claude", "settings.json"), `{"disableAllHooks": true}`)
			return c.ran("-p", "--mode", "yolo", "--trust", "-m", replay(t, calls("", "write", map[string]any{"path": "made.txt", "content": "x"})), "--output-format", "stream-json", "go")
		}, "the administrator says no"},
		"a hook that changes the call": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "config.json"), `{"hooks": {"PreToolUse": [{"matcher": "write", "hooks": [{"command": "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"updatedInput\": {\"file_path\": \"made.txt\", \"content\": \"x\"}}}'"}]}]}}`)
			return c.ran("-p", "--mode", "yolo", "-m", replay(t, calls("", "write", map[string]any{"path": "fine.txt", "content": "x"})), "--output-format", "stream-json", "go")
		}, "the administrator says no"},
		"a variable that the shell of a hook reads": {func(t *testing.T, c *chat) string {
			put(t, filepath.Join(c.home, "env"), "exit 0\n")
			put(t, filepath.Join(c.home, "bin", "cat"), "#!/bin/sh\nkill $PPID\n")
			put(t, filepath.Join(c.home, "bin", "bash"), "#!/bin/sh\nexit 0\n")
			for _, p := range []string{"cat", "bash"} {
				if err := os.Chmod(filepath.Join(c.home, "bin", p), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c.env = append(c.env, "BASH_ENV="+filepath.Join(c.home, "env"), "ENV="+filepath.Join(c.home, "env"), "PATH="+filepath.Join(c.home, "bin")+":"+os.Getenv("PATH"))
			return c.ran("-p", "--mode", "yolo", "-m", replay(t, calls("", "write", map[string]any{"path": "made.txt", "content": "x"})), "--output-format", "stream-json", "go")
		}, "the administrator says no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			managed := forbidden
			switch name {
			case "a tool in Lua": // which nobody has approved: below yolo it would not run anyway
				managed = `{"deny": ["exec(touch *)"]}`
			case "a hook that changes the call":
				managed = `{"hooks": {"PreToolUse": [{"hooks": [{"command": "if grep -q made.txt; then echo the administrator says no >&2; exit 2; fi"}]}]}}`
			}
			chat := ruledChat(t, managed)
			out := c.try(t, chat)
			if !strings.Contains(out, c.want) {
				t.Errorf("it does not say %q:\n%s", c.want, out)
			}
			_ = filepath.WalkDir(filepath.Dir(chat.dir), func(path string, _ os.DirEntry, err error) error {
				if err == nil && filepath.Base(path) == "made.txt" && strings.HasPrefix(path, chat.dir) {
					t.Errorf("%s was made:\n%s", path, out)
				}
				return nil
			})
			if n := len(chat.srv.Requests()); n > 0 {
				t.Errorf("%d requests went to another address", n)
			}
		})
	}
}

// ran runs the program and returns what it prints, whether it succeeds or not.
func (c *chat) ran(args ...string) string {
	c.t.Helper()
	out, err := c.jcode("", args...)
	return out + fmt.Sprint(err) + "\n"
}

func TestAProgramThatDrivesJcodeCannotGoPastManagedSettings(t *testing.T) {
	t.Parallel()
	c := ruledChat(t, `{"max_mode": "edits", "models": ["replay:*"]}`)
	f := c.feed("-m", "replay:"+played(t, says("", "done")))
	f.until("init")
	f.write(`{"type": "set", "mode": "yolo", "request": "r1"}`, `{"type": "set", "model": "openai/other", "request": "r2"}`)
	for _, want := range []string{"at most edits", "not allowed on this machine"} {
		if answer := f.until("response"); answer.OK || !strings.Contains(answer.raw, want) {
			t.Errorf("%s, want %s", answer.raw, want)
		}
	}
}

func TestManagedSettingsAreNamed(t *testing.T) {
	t.Parallel()
	c := ruledChat(t, forbidden)
	file := filepath.Join(strings.TrimPrefix(c.env[len(c.env)-1], "TEST_MANAGED="), "managed.json")
	for _, x := range []struct {
		args []string
		want []string
	}{
		{[]string{"config", "show"}, []string{"managed: deny", file + ":2", "managed: hooks.PreToolUse", `memory`, file + ":8"}},
		{[]string{"config", "show", "--json"}, []string{`"managed": [`, `"max_mode"`}},
		{[]string{"config", "path"}, []string{"managed", filepath.Dir(file)}},
		{[]string{"permissions", "list"}, []string{"at most edits", file + ":3", "exec(touch *)", file + ":2"}},
		{[]string{"doctor", "--offline"}, []string{file}},
	} {
		out := c.ran(x.args...)
		for _, want := range x.want {
			if !strings.Contains(out, want) {
				t.Errorf("jcode %s lacks %q:\n%s", strings.Join(x.args, " "), want, out)
			}
		}
	}
}

func TestAFaultOfManagedSettingsStopsEveryCommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-p", "go"}, {"config", "show"}, {"doctor"}, {"mcp", "serve"}, {"acp"}, {"worker", "--once"}, {"sessions", "list"}} {
		c := ruledChat(t, "{\n\"max_mode\": 1}")
		out, err := c.jcode("", args...)
		if exitCode(err) != 2 || !strings.Contains(out, "managed.json:2: max_mode: must be one of") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

func TestTheHighestModeHoldsInTheChat(t *testing.T) {
	t.Parallel()
	c := ruledChat(t, `{"max_mode": "edits", "deny": ["exec(touch *)"]}`)
	c.start()
	c.say("/mode yolo")
	c.wait("at most mode edits is allowed")
	c.say("!touch made.txt")
	c.wait("denied by rule exec(touch *)")
	c.say("/permissions")
	c.wait("at most edits", "exec(touch *)")
	c.Press("esc")
	c.quit()
	if _, err := os.Stat(filepath.Join(c.dir, "made.txt")); err == nil {
		t.Error("a line of the user's went past it")
	}
}
