package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/shorten"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/tools"
)

// conformanceVariable makes the test binary a client for the protocol's conformance suite: it
// uses the manager as a session does, with a browser that follows redirects by itself.
const conformanceVariable = "JCODE_MCP_CONFORMANCE"

// conformanceContext is the context that the suite passes to a client; it depends on the scenario.
type conformanceContext struct {
	Name         string            `json:"name"`
	ClientID     string            `json:"client_id"`
	ClientSecret string            `json:"client_secret"`
	PrivateKey   string            `json:"private_key_pem"`
	IDPClientID  string            `json:"idp_client_id"`
	IDPIssuer    string            `json:"idp_issuer"`
	IDToken      string            `json:"idp_id_token"`
	Assertion    string            `json:"valid_jwt"`
	Calls        []conformanceCall `json:"toolCalls"`
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
	case given.Assertion != "":
		oauth = map[string]any{"grant": "jwt_bearer", "client_id": given.ClientID, "assertion_env": "ASSERTION"}
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
		Env: append(os.Environ(), "CLIENT_SECRET="+given.ClientSecret, "PRIVATE_KEY="+given.PrivateKey, "ID_TOKEN="+given.IDToken, "ASSERTION="+given.Assertion), LogDir: dir,
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
	for _, call := range conformanceCalls(given, d.ToolList) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		visits := person.count()
		for range 2 {
			res := disp.Dispatch(ctx, tools.Call{ID: "c", Name: config.CanonicalName("s", call.Name), Arguments: call.Arguments}).Result
			fmt.Fprintln(os.Stderr, call.Name, res.Text)
			if !strings.Contains(res.Text, "more rights") {
				break
			}
			eventually.Holds(5*time.Second, func() bool { return person.count() != visits })
			if err := settledServer(m, person); err != nil {
				cancel()
				return err
			}
		}
		cancel()
	}
	return nil
}

// conformanceCall is one call that a scenario wants.
type conformanceCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// conformanceCalls returns the calls of a scenario: those of its context, or else one of each tool.
func conformanceCalls(given conformanceContext, list []schema.Tool) []conformanceCall {
	if len(given.Calls) > 0 {
		return given.Calls
	}
	var out []conformanceCall
	for _, tool := range list {
		args := `{}`
		switch tool.Name {
		case "add_numbers":
			args = `{"a":5,"b":3}`
		case "valid_tool":
			args = `{"region":"us-west1"}`
		case "json_schema_echo":
			for _, other := range list {
				if other.Name == "json_schema_2020_12_tool" {
					args = `{"schema":` + string(other.InputSchema) + `}`
				}
			}
		}
		out = append(out, conformanceCall{tool.Name, json.RawMessage(args)})
	}
	return out
}

// settledServer waits until the server is connected or has reached another final state.
func settledServer(m *Manager, person *follower) error {
	var failed error
	quiet := time.Now() // since when
	eventually.Holds(2*time.Minute, func() bool {
		d, err := m.Server("s")
		if failed = err; err != nil {
			return true
		}
		if len(m.asker.turn) > 0 || d.State == StateConnecting || d.State == StateNeedsSignIn && person.count() == 0 {
			quiet = time.Now()
		}
		so := time.Since(quiet)
		return so > 220*time.Millisecond || d.State == StateConnected && so > 60*time.Millisecond
	})
	return failed
}

// conformanceSuites are the parts of the suite: all scenarios of each dated revision of the protocol, and those
// of its extensions for signing in, but not those for skills over MCP, which jcode doesn't load. auth is how many
// scenarios of each are about signing in.
var conformanceSuites = []struct {
	args []string
	auth int
}{
	{[]string{"--suite", "all", "--spec-version", "2025-03-26"}, 2},
	{[]string{"--suite", "all", "--spec-version", "2025-06-18"}, 3},
	{[]string{"--suite", "all", "--spec-version", "2025-11-25"}, 14},
	{[]string{"--suite", "all", "--spec-version", "2026-07-28"}, 25},
	{[]string{"--suite", "extensions"}, 6},
}

// jcode passes the client scenarios of the protocol's own conformance suite, in every revision that they are
// written for. The suite runs the scenarios of a part all at once; one that fails in the crowd is run again
// alone, and has to pass then.
func TestConformance(t *testing.T) {
	t.Parallel()
	node, suite := conformanceSuite(t)
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	run := func(t *testing.T, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), node, append([]string{suite, "client", "--command", self, "--timeout", "120000"}, args...)...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), conformanceVariable+"="+cmd.Dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	outcome := regexp.MustCompile(`(?m)^([✓✗]) ([a-z]\S+): \d+ passed`)
	for _, part := range conformanceSuites {
		t.Run(strings.Join(part.args, " "), func(t *testing.T) { // one after another: each part is a crowd
			shorten.OneIn(t, 3)
			out, _ := run(t, append(part.args, "-o", "results")...) // its scenarios are looked at one by one
			auth := 0
			for _, m := range outcome.FindAllStringSubmatch(out, -1) {
				if strings.HasPrefix(m[2], "auth/") {
					auth++
				}
				if m[1] == "✓" {
					continue
				}
				args := []string{"--scenario", m[2], "--verbose"}
				if part.args[1] == "all" {
					args = append(args, part.args[2:]...)
				}
				if out, err := run(t, args...); err != nil {
					t.Errorf("%s: %v\n%s", m[2], err, out[max(0, len(out)-3000):])
				}
			}
			if auth != part.auth {
				t.Errorf("%d scenarios about signing in ran, not %d\n%s", auth, part.auth, out[max(0, len(out)-3000):])
			}
		})
	}
}

// conformanceSuite returns the node and the program of the conformance suite, and skips the test without them.
func conformanceSuite(t *testing.T) (node, suite string) {
	t.Helper()
	dir := os.Getenv(referenceServers)
	suite = filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(suite); dir == "" || err != nil {
		t.Skipf("the conformance suite is not installed: run scripts/install-mcp-servers and set %s", referenceServers)
	}
	node = filepath.Join(dir, "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			t.Skip("node is missing")
		}
	}
	if out, err := exec.CommandContext(t.Context(), node, "-p", "process.versions.node.split('.')[0]").Output(); err != nil || len(out) < 2 || string(out) < "22" {
		t.Skipf("the conformance suite needs node 22, this is %s", out)
	}
	return node, suite
}
