package lua

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/lua/wire"
	"jcode/tools"
)

// Eight tests of controlling servers from Lua, with a manager that does what the manual says. The startup
// script is also the manual's.

const firstStartup = `-- sshwarma startup script
-- ~/.config/sshwarma/startup.lua

function startup()
    print("Running sshwarma startup script...")

    -- Add MCP connections (non-blocking)
    -- Connections will retry automatically if servers are down
    tools.mcp_add("holler", "http://localhost:8080/mcp")
    tools.mcp_add("otlp-mcp", "http://localhost:4380/mcp")

    print("Startup complete!")
    print("MCP connections will establish in background")
end
`

// manager is an MCPControl whose servers never answer unless a test says so.
type manager struct {
	mu      sync.Mutex
	servers map[string]*MCPStatus
	targets map[string]MCPTarget
	adds    int
	cancels int
}

func (m *manager) Add(name string, target MCPTarget) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.servers == nil {
		m.servers, m.targets = map[string]*MCPStatus{}, map[string]MCPTarget{}
	}
	if old, ok := m.targets[name]; ok && reflect.DeepEqual(old, target) {
		return nil
	}
	m.adds++
	m.targets[name] = target
	m.servers[name] = &MCPStatus{Name: name, State: "connecting"}
	return nil
}

func (m *manager) Remove(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	st, ok := m.servers[name]
	if ok && st.State == "connecting" {
		m.cancels++
	}
	delete(m.servers, name)
	delete(m.targets, name)
	return ok
}

func (m *manager) Restart(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	st, ok := m.servers[name]
	if ok {
		*st = MCPStatus{Name: name, State: "connecting"}
	}
	return ok
}

func (m *manager) Status(name string) (MCPStatus, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if st := m.servers[name]; st != nil {
		return *st, true
	}
	return MCPStatus{}, false
}

func (m *manager) List() []MCPStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []MCPStatus
	for _, st := range m.servers {
		out = append(out, *st)
	}
	slices.SortFunc(out, func(a, b MCPStatus) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (m *manager) set(st MCPStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.servers[st.Name] = &st
}

func withManager(t *testing.T) (*house, *manager) {
	t.Helper()
	m := &manager{}
	return build(t, setup{opts: Options{MCP: m}}), m
}

// lua runs a startup environment's script and returns its JSON.
func (h *house) lua(source string) string {
	h.t.Helper()
	v, fail := h.eval(wire.EnvStartup, source, nil)
	if fail != nil {
		h.t.Fatalf("%s: %s", source, fail.Text)
	}
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := wire.EncodeJSON(v, true)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(raw)
}

func (h *house) wantLua(source, want string) {
	h.t.Helper()
	if got := h.lua(source); got != want {
		h.t.Errorf("%s = %s, want %s", source, got, want)
	}
}

func TestServersFromLua1_mcp_add_returns_without_waiting(t *testing.T) {
	t.Parallel()
	h, m := withManager(t)
	began := time.Now()
	h.wantLua(`return tools.mcp_add("holler", "http://localhost:8080/mcp")`, "true")
	if d := time.Since(began); d > late {
		t.Error(d)
	}
	if st, _ := m.Status("holler"); st.State != "connecting" {
		t.Errorf("%+v", st)
	}
	for src, want := range map[string]string{
		`local ok, why = tools.mcp_add("x", "ftp://x") return tostring(ok) .. ": " .. why`:       `false: "ftp://x" is not an http or https URL`,
		`local ok, why = tools.mcp_add("x", {}) return tostring(ok) .. ": " .. why`:              "false: the target needs a url or a command, not both",
		`local ok, why = tools.mcp_add("x", {cmd="x"}) return tostring(ok) .. ": " .. why`:       "false: unknown key target.cmd; known: command, args, env, cwd, url, headers",
		`return tools.mcp_add("files", {command="mcp-files", args={"a"}, env={A="b"}, cwd="/"})`: "true",
	} {
		h.wantLua(src, want)
	}
}

func TestServersFromLua2_same_name_and_target_is_a_no_op(t *testing.T) {
	t.Parallel()
	h, m := withManager(t)
	h.lua(`tools.mcp_add("a", "http://localhost:1/mcp")`)
	m.set(MCPStatus{Name: "a", State: "failed", Error: "gone"})
	h.lua(`tools.mcp_add("a", "http://localhost:1/mcp")`)
	if st, _ := m.Status("a"); m.adds != 1 || st.State != "failed" {
		t.Errorf("%d adds, %+v", m.adds, st)
	}
	h.lua(`tools.mcp_add("a", "http://localhost:2/mcp")`)
	if st, _ := m.Status("a"); m.adds != 2 || st.State != "connecting" {
		t.Errorf("%d adds, %+v", m.adds, st)
	}
}

func TestServersFromLua3_mcp_remove_cancels_a_pending_connection(t *testing.T) {
	t.Parallel()
	h, m := withManager(t)
	h.wantLua(`tools.mcp_add("a", "http://localhost:1/mcp")
local first, second = tools.mcp_remove("a"), tools.mcp_remove("a")
return tostring(first) .. tostring(second) .. tostring(tools.mcp_status("a"))`, "truefalsenil")
	if m.cancels != 1 {
		t.Errorf("%d cancelled", m.cancels)
	}
}

func TestServersFromLua4_mcp_status_gives_state_and_retries(t *testing.T) {
	t.Parallel()
	h, m := withManager(t)
	h.lua(`tools.mcp_add("holler", "http://localhost:8080/mcp")`)
	for want, st := range map[string]MCPStatus{
		`{"name":"holler","state":"connecting","tools":0}`:                                 {Name: "holler", State: "connecting", Tools: 3, Error: "old", Attempt: 2},
		`{"name":"holler","state":"connected","tools":47}`:                                 {Name: "holler", State: "connected", Tools: 47, Error: "old", Attempt: 2},
		`{"attempt":2,"error":"refused","name":"holler","state":"reconnecting","tools":0}`: {Name: "holler", State: "reconnecting", Error: "refused", Attempt: 2},
		`{"error":"no such command","name":"holler","state":"failed","tools":0}`:           {Name: "holler", State: "failed", Error: "no such command", Attempt: 9},
	} {
		m.set(st)
		h.wantLua(`return json.encode(tools.mcp_status("holler"))`, want)
	}
	h.wantLua(`return tostring(tools.mcp_status("nobody"))`, "nil")
	h.wantLua(`return tostring(tools.mcp_restart("holler")) .. tostring(tools.mcp_restart("nobody")) .. tools.mcp_status("holler").state`, "truefalseconnecting")
}

func TestServersFromLua5_mcp_list_gives_all_with_state(t *testing.T) {
	t.Parallel()
	h, m := withManager(t)
	h.wantLua(`return #tools.mcp_list()`, "0")
	h.lua(`tools.mcp_add("otlp-mcp", "http://localhost:2/mcp") tools.mcp_add("holler", "http://localhost:1/mcp")`)
	m.set(MCPStatus{Name: "otlp-mcp", State: "connected", Tools: 2})
	h.wantLua(`return json.encode(tools.mcp_list())`, `[{"name":"holler","state":"connecting","tools":0},{"name":"otlp-mcp","state":"connected","tools":2}]`)
	h.wantLua(`return json.encode(jcode.mcp_servers())`, `{"ok":true,"servers":[{"name":"otlp-mcp"}]}`)
}

func TestServersFromLua6_old_functions_are_absent(t *testing.T) {
	t.Parallel()
	h, _ := withManager(t)
	h.wantLua(`return tostring(tools.mcp_connect == nil and tools.mcp_disconnect == nil)`, "true")
}

func TestServersFromLua7_startup_does_not_delay_start(t *testing.T) {
	t.Parallel()
	started, ready := startBusy(t)
	for deadline := time.Now().Add(patience); started > time.Second; started, ready = startBusy(t) {
		if time.Now().After(deadline) { // a busy machine may delay one start, but not every one
			t.Fatalf("Start took %v", started)
		}
	}
	if ready < time.Second {
		t.Errorf("ready after %v: the loop did not run", ready)
	}
}

// startBusy starts a room whose startup script works for a second and a half, and returns when the
// start was over and when the script was.
func startBusy(t *testing.T) (started, ready time.Duration) {
	t.Helper()
	h := build(t, setup{})
	h.startupScript(`local till = jcode.time() + 1.5 while jcode.time() < till do end`)
	began := time.Now()
	if err := h.room.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	started = time.Since(began)
	if err := h.room.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return started, time.Since(began)
}

func TestServersFromLua8_starts_with_all_servers_down(t *testing.T) {
	t.Parallel()
	h, m := withManager(t)
	h.startupScript(firstStartup)
	h.start()
	if got := m.List(); len(got) != 2 || got[0].Name != "holler" || got[1].Name != "otlp-mcp" {
		t.Errorf("%+v", got)
	}
	lines := h.room.Log("startup")
	if len(lines) != 3 || lines[1].Text != "Startup complete!" {
		t.Errorf("%+v", lines)
	}
	if h.told.all() != "" {
		t.Error(h.told.all())
	}
}

func TestMCPAdminNeedsItsPermission(t *testing.T) {
	t.Parallel()
	h, m := withManager(t)
	h.asker.says(tools.AnswerProject)
	h.tool("t", simple, `local ok, why = tools.mcp_add("x", "http://localhost:1/") return tostring(ok) .. " " .. why`)
	h.plugin("p", `return {id = "p", init = function() print(tools.mcp_add("x", "http://localhost:1/")) end}`)
	h.plugin("q", `return {id = "q", permissions = {mcp_admin = true}, init = function() print(tools.mcp_add("y", "http://localhost:1/")) end}`)
	h.start()
	wantText(t, h.call("t", map[string]any{}), "false permission denied: tools.mcp_add is for startup.lua, and for plugins that declare permissions.mcp_admin; not for tools")
	eventually.True(t, "q has added", func() bool { return len(m.List()) == 1 })
	if l := h.room.Log("p"); len(l) == 0 || !strings.Contains(l[0].Text, "permission denied: declare permissions.mcp_admin") {
		t.Errorf("%+v", l)
	}
	if target := m.targets["y"]; !target.Ask || target.Owner != "plugin:q" {
		t.Errorf("%+v", target)
	}
}

func TestACallToAServerThatIsNotThereSaysItsState(t *testing.T) {
	t.Parallel()
	m := &manager{servers: map[string]*MCPStatus{
		"again": {Name: "again", State: "reconnecting", Attempt: 2, Error: "connection refused"},
		"given": {Name: "given", State: "failed", Error: "exit status 1"},
		"up":    {Name: "up", State: "connected", Tools: 1},
	}}
	h := build(t, setup{opts: Options{MCP: m}})
	h.mode = tools.ModeYolo
	must(t, h.reg.Register("mcp:up", tools.RankMCP, stub{spec: tools.Spec{Name: "mcp:up:look", Wire: "mcp__up__look", Description: "d", Group: tools.GroupMCP, Server: "up", ReadOnly: true}}))
	h.startupScript(`
jcode.register_intent({name = "try", description = "d", read_only = true, handler = function()
  local out = {}
  for _, r in ipairs({
    jcode.mcp_call("again", "t", {}), jcode.dispatch("mcp:again:t", {}), jcode.dispatch("mcp__again__t", {}),
    jcode.mcp_call("given", "t", {}), jcode.mcp_call("gone", "t", {}), jcode.dispatch("mcp:gone:t", {}), jcode.mcp_call("up", "other", {}),
  }) do out[#out + 1] = r.error_kind .. " " .. r.error end
  return table.concat(out, "\n")
end})`)
	h.start()
	again := "mcp MCP call failed: server again is reconnecting (attempt 2): connection refused; its tools come back when it is connected, call again then\n"
	wantText(t, h.call("try", none()), again+again+again+
		"mcp MCP call failed: server given is failed: exit status 1; it is not retried automatically: tools.mcp_restart, /mcp or mcp_connect does\n"+
		"mcp MCP call failed: server gone is not connected: it was disconnected or never added; tools.mcp_list() lists the servers that run\n"+
		"mcp MCP call failed: the server of gone:t is not connected: it was disconnected or never added; tools.mcp_list() lists the servers that run\n"+
		`unknown_intent unknown intent: server up has no tool "other"; it has: look`)
}
