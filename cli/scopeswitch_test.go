//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// offers reports whether a request offers tools of a server.
func offers(r modeltest.Request, name string) bool {
	var body struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if json.Unmarshal(r.Raw, &body) != nil {
		return false
	}
	return slices.ContainsFunc(body.Tools, func(t struct{ Function struct{ Name string } }) bool {
		return strings.HasPrefix(t.Function.Name, "mcp__"+name+"__")
	})
}

func TestSwitchOfRolesSharesServers(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t, modeltest.Text("One."), modeltest.Text("Two."), modeltest.Text("Three."), modeltest.Text("Four.")),
		map[string]string{"github": "ok", "slack": "ok", "jira-": "ok", "broken-": "exit1"})
	s.role("talk", "---\nmcp_servers: [github, slack]\n---\nTalk.\n")
	s.role("plan", "---\nmcp_servers: [github, jira]\n---\nPlan.\n")
	s.role("fail", "---\nmcp_servers: [jira, broken]\n---\nFail.\n")
	s.start()
	github := s.counted("github", 1, 0)
	s.counted("slack", 1, 0)

	s.say("/role talk")
	s.wait("test-model  talk")
	s.say("first")
	s.wait("One.")
	if r := s.request(0); !offers(r, "github") || !offers(r, "slack") || offers(r, "jira") || !strings.Contains(r.System(), "Talk.") {
		t.Errorf("role talk sent %.1500s", r.Raw)
	}

	// github stays, slack ends, jira starts.
	s.say("/role plan")
	s.wait("test-model  plan")
	s.counted("jira", 1, 0)
	s.counted("slack", 1, 1)
	s.say("second")
	s.wait("Two.")
	if r := s.request(1); !offers(r, "github") || offers(r, "slack") || !offers(r, "jira") || !strings.Contains(r.System(), "Plan.") {
		t.Errorf("role plan sent %.1500s", r.Raw)
	}

	// A role whose server fails leaves everything as it was; the error names the server.
	s.say("/role fail")
	s.wait("broken")
	s.say("third")
	s.wait("Three.")
	if r := s.request(2); !offers(r, "github") || !offers(r, "jira") || !strings.Contains(r.System(), "Plan.") {
		t.Errorf("after the failure was sent %.1500s", r.Raw)
	}
	s.counted("jira", 1, 0)

	// Leaving the role restores the session's own servers; the shared one keeps running.
	s.say("/role off")
	s.counted("slack", 2, 1)
	s.counted("jira", 1, 1)
	s.wait("ask for something")
	s.say("fourth")
	s.wait("Four.")
	if r := s.request(3); !offers(r, "github") || offers(r, "jira") || strings.Contains(r.System(), "Plan.") {
		t.Errorf("without a role was sent %.1500s", r.Raw)
	}
	if now := s.counted("github", 1, 0); now[0] != github[0] {
		t.Errorf("github ran as %v, now as %v", github, now)
	}
	s.quit()
	s.counted("github", 1, 1)
}

func TestSwitchDuringACallLetsTheCallEnd(t *testing.T) {
	t.Parallel()
	enough := filepath.Join(t.TempDir(), "enough")
	s := withServers(newChat(t,
		modeltest.Calls(tool("c1", "mcp__slack__sleep", map[string]any{"ms": 1, "until": enough})), modeltest.Text("It slept."), modeltest.Text("As planned."),
	), map[string]string{"github": "ok", "slack": "ok", "jira-": "ok"})
	s.role("talk", "---\nmcp_servers: [github, slack]\n---\nTalk.\n")
	s.role("plan", "---\nmcp_servers: [github, jira]\n---\nPlan.\n")
	s.start("--mode", "yolo")
	s.counted("github", 1, 0)
	s.counted("slack", 1, 0)
	s.say("/role talk")
	s.wait("test-model  talk")
	s.say("sleep a little")
	received(t, s.logs["slack"], "tools/call", 1)
	s.interject("/role plan")
	s.wait("test-model  plan")
	put(t, enough, "")
	s.wait("It slept.")
	r := s.request(1)
	if m, ok := r.Result("c1"); !ok || !strings.Contains(m.Content, "slept 1") {
		t.Errorf("the result of the running call is %q", m.Content)
	}
	// A removed tool stays listed until the end of the turn, so that the model's reasoning stays valid.
	if !offers(r, "jira") || !strings.Contains(r.System(), "Plan.") {
		t.Errorf("the next step offers jira: %v; its system prompt is %.200q", offers(r, "jira"), r.System())
	}
	s.say("and now")
	s.wait("As planned.")
	if r := s.request(2); offers(r, "slack") || !offers(r, "jira") {
		t.Errorf("the next turn offers slack: %v, jira: %v", offers(r, "slack"), offers(r, "jira"))
	}
	s.counted("slack", 1, 1)
	s.counted("github", 1, 0)
	s.quit()
}

func TestRoleThatNamesWhatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t, modeltest.Text("Still here.")), map[string]string{"github": "ok"})
	s.role("odd", "---\nmcp_servers: [github, nosuchserver]\n---\nOdd.\n")
	s.role("odder", "---\ntools: [read, telepathy]\n---\nOdder.\n")
	s.role("oddest", "---\ndescription: x\nskills: [greting, lua-*, skill-writer]\n---\nOddest.\n")
	s.role("fine", "---\nskills: [late]\n---\nFine.\n")
	s.project(".jcode/skills/greeting/SKILL.md", "---\nname: greeting\ndescription: Greets people.\n---\nSay hello.\n")
	s.start()
	s.say("/role odd")
	s.wait("role odd", `"nosuchserver"`)
	s.say("/role odder")
	s.wait("role odder", `"telepathy"`)
	s.say("/role oddest")
	s.wait("role oddest", `"greting"`, "greeting?")
	s.say("hello")
	s.wait("Still here.")
	if r := s.request(0); strings.Contains(r.System(), "Odd") {
		t.Errorf("sent %.1500s", r.Raw)
	}
	// A name that was written a moment ago is known.
	s.project(".jcode/skills/late/SKILL.md", "---\nname: late\ndescription: Came late.\n---\nSay hello.\n")
	s.say("/role fine")
	s.wait("test-model  fine")
	s.quit()
}

func TestStartInARoleStartsItsServersAndNoOthers(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t, modeltest.Text("Hello.")), map[string]string{"github": "ok", "slack": "ok", "jira-": "ok"})
	s.role("plan", "---\nmcp_servers: [github, jira]\n---\nPlan.\n")
	s.start("--role", "plan")
	s.wait("test-model  plan", "mcp 2/2")
	s.counted("github", 1, 0)
	s.counted("jira", 1, 0)
	s.say("first")
	s.wait("Hello.")
	if r := s.request(0); !offers(r, "github") || !offers(r, "jira") || offers(r, "slack") {
		t.Errorf("sent %.1500s", r.Raw)
	}
	s.say("/role off")
	s.counted("slack", 1, 0)
	s.counted("jira", 1, 1)
	s.counted("github", 1, 0)
	s.quit()
}
