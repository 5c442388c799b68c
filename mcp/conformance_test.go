package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/mcp/config"
	"jcode/tools"
)

// conformanceVariable makes the test binary a client for the protocol's conformance suite: it
// uses the manager as a session does, with a browser that follows redirects by itself.
const conformanceVariable = "JCODE_MCP_CONFORMANCE"

// conformanceContext is the context that the suite passes to a client; it depends on the scenario.
type conformanceContext struct {
	Name         string `json:"name"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
	IDPClientID  string `json:"idp_client_id"`
	IDPIssuer    string `json:"idp_issuer"`
	IDToken      string `json:"idp_id_token"`
}

func conformanceMain() {
	dir := os.Getenv(conformanceVariable)
	if dir == "" {
		return
	}
	if err := conformanceClient(dir, os.Args[len(os.Args)-1], os.Getenv("MCP_CONFORMANCE_SCENARIO")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// conformanceClient connects, lists the tools and calls each once, and once more if a call needed
// more rights.
func conformanceClient(dir, url, scenario string) error {
	entry := map[string]any{"url": url}
	var given conformanceContext
	if raw := os.Getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		if err := json.Unmarshal([]byte(raw), &given); err != nil {
			return err
		}
	}
	oauth := map[string]any{"client_metadata_url": "https://conformance-test.local/client-metadata.json"}
	switch {
	case given.IDToken != "":
		oauth = map[string]any{
			"grant": "enterprise", "client_id": given.ClientID, "client_secret_env": "CLIENT_SECRET",
			"idp": map[string]any{"issuer": given.IDPIssuer, "client_id": given.IDPClientID, "id_token_env": "ID_TOKEN"},
		}
	case given.PrivateKey != "":
		oauth = map[string]any{"grant": "client_credentials", "client_id": given.ClientID, "private_key_env": "PRIVATE_KEY"}
	case given.ClientID != "":
		oauth = map[string]any{"client_id": given.ClientID, "client_secret_env": "CLIENT_SECRET"}
		if strings.Contains(scenario, "client-credentials") {
			oauth["grant"] = "client_credentials"
		}
	}
	entry["oauth"] = oauth
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": entry}})
	if err != nil {
		return err
	}
	if dir, err = os.MkdirTemp(dir, "run"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "mcp.json"), raw, 0o600); err != nil {
		return err
	}
	reg := tools.NewRegistry()
	person := &follower{}
	m := New(Options{
		Paths: config.Paths{ConfigDir: dir}, Registry: reg, Version: "test", Person: person, Elicitor: Unattended{AcceptDefaults: true},
		Env: append(os.Environ(), "CLIENT_SECRET="+given.ClientSecret, "PRIVATE_KEY="+given.PrivateKey, "ID_TOKEN="+given.IDToken), LogDir: dir,
		Notify: func(_, text string) { fmt.Fprintln(os.Stderr, text) },
	})
	defer m.Close()
	m.Start()
	if err := settledServer(m, person); err != nil {
		return err
	}
	d, err := m.Server("s")
	if err != nil {
		return err
	}
	if d.State != StateConnected {
		return fmt.Errorf("%s: %s", d.State, d.Error)
	}
	disp := &tools.Dispatcher{Registry: reg, Gate: &recordingGate{}}
	for _, tool := range d.ToolList {
		args := "{}"
		if tool.Name == "add_numbers" {
			args = `{"a":5,"b":3}`
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		visits := person.count()
		for range 2 {
			res := disp.Dispatch(ctx, tools.Call{ID: "c", Name: config.CanonicalName("s", tool.Name), Arguments: json.RawMessage(args)}).Result
			fmt.Fprintln(os.Stderr, tool.Name, res.Text)
			if !strings.Contains(res.Text, "more rights") {
				break
			}
			deadline := time.Now().Add(5 * time.Second)
			for person.count() == visits && time.Now().Before(deadline) {
				time.Sleep(10 * time.Millisecond)
			}
			if err := settledServer(m, person); err != nil {
				cancel()
				return err
			}
		}
		cancel()
	}
	return nil
}

// settledServer waits until the server is connected or has reached another final state.
func settledServer(m *Manager, person *follower) error {
	quiet := 0
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		d, err := m.Server("s")
		if err != nil {
			return err
		}
		busy := len(m.asker.turn) > 0 || d.State == StateConnecting || d.State == StateNeedsSignIn && person.count() == 0
		if busy {
			quiet = 0
		} else if quiet++; quiet > 10 || d.State == StateConnected && quiet > 2 {
			return nil
		}
	}
	return nil
}

// clientScenarios are the client scenarios of the suite: those of the dated revisions of the
// protocol, of its draft, and of its extensions.
var clientScenarios = []string{
	"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry",
	"auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3", "auth/basic-cimd",
	"auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined", "auth/scope-step-up", "auth/scope-retry-limit",
	"auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none", "auth/pre-registration",
	"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback",
	"auth/resource-mismatch", "auth/offline-access-scope", "auth/offline-access-not-supported", "auth/client-credentials-basic",
	"auth/client-credentials-jwt", "auth/cross-app-access-complete-flow",
}

// jcode passes the client scenarios of the protocol's own conformance suite.
func TestConformance(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(referenceServers)
	suite := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(suite); dir == "" || err != nil {
		t.Skipf("the conformance suite is not installed: run scripts/install-mcp-servers and set %s", referenceServers)
	}
	node := filepath.Join(dir, "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			t.Skip("node is missing")
		}
	}
	if out, err := exec.CommandContext(t.Context(), node, "-p", "process.versions.node.split('.')[0]").Output(); err != nil || len(out) < 2 || string(out) < "22" {
		t.Skipf("the conformance suite needs node 22, this is %s", out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	slots := make(chan struct{}, 2)
	for _, scenario := range clientScenarios {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			cmd := exec.CommandContext(t.Context(), node, suite, "client", "--command", self, "--scenario", scenario, "--timeout", "60000", "--verbose")
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), conformanceVariable+"="+cmd.Dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out[max(0, len(out)-3000):])
			}
		})
	}
}
