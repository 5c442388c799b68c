package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// A model that may name a variable could send any of them to a program of its choice.
func TestVariablesInArgumentsOfTheModelAreText(t *testing.T) {
	r := newManagerRig(t, nil, func(o *Options) {
		o.Env = []string{"PATH=/usr/bin:/bin", "PRIVATE=canary-private", "OPENAI_API_KEY=canary-key"}
		o.Withheld = []string{"OPENAI_API_KEY"}
	})
	given := map[string]any{}
	if err := json.Unmarshal([]byte(r.connectArgs("s", "ok", nil)), &given); err != nil {
		t.Fatal(err)
	}
	env := given["env"].(map[string]any)
	env["A"], env["B"], env["C"] = "${PRIVATE}", "${OPENAI_API_KEY}", "${env:PRIVATE}"
	raw, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if res := r.call("mcp_connect", string(raw)); res.Failed {
		t.Fatalf("%+v", res)
	}
	if notes := strings.Join(r.gate.plan[0].Notes, "\n"); !strings.Contains(notes, "${PRIVATE} stays as it is written") || strings.Contains(notes, "reads the variable") {
		t.Errorf("notes %s", notes)
	}
	res := r.call("mcp:s:env", `{}`)
	if res.Failed || strings.Contains(res.Text, "canary") || !strings.Contains(res.Text, "A=${PRIVATE}") {
		t.Errorf("the server has %s", res.Text)
	}
	given["persist"] = true
	given["name"] = "kept"
	if raw, err = json.Marshal(given); err != nil {
		t.Fatal(err)
	}
	if res := r.call("mcp_connect", string(raw)); !res.Failed || !strings.Contains(res.Text, "persist does not take ${...}") {
		t.Errorf("a model's variable reached a file that expands it: %+v", res)
	}
}

func TestEveryFieldOfAModelsServerIsText(t *testing.T) {
	env := environment{base: []string{"PRIVATE=canary"}, root: "/p", home: "/h"}
	v := "${PRIVATE}"
	for _, target := range []Target{
		{Type: Stdio, Command: v, Args: []string{v}, Env: map[string]string{"A": v}, Cwd: v},
		{Type: HTTP, URL: "http://h/" + v, Headers: map[string]string{"A": v}},
	} {
		for _, scope := range []Scope{ScopeSession, ScopeLua, ""} {
			r, err := env.resolve(Entry{Target: target, Source: Source{Scope: scope}})
			if all := strings.Join(append([]string{r.program, r.dir, r.url, r.headers["A"], r.key}, append(r.args, r.env...)...), "\n"); err != nil || strings.Contains(all, "canary") {
				t.Errorf("%s %s: %v\n%s", scope, target.Type, err, all)
			}
		}
		if r, err := env.resolve(Entry{Target: target, Source: Source{Scope: ScopeUser}}); err != nil || !strings.Contains(r.key, "canary") {
			t.Errorf("the person's own file does not expand: %v", err)
		}
	}
}

func TestProviderKeysReachNoServer(t *testing.T) {
	env := environment{base: []string{"OPENAI_API_KEY=canary"}, root: "/p", home: "/h", withheld: []string{"OPENAI_API_KEY"}}
	for _, target := range []Target{
		{Type: Stdio, Command: "x", Args: []string{"${OPENAI_API_KEY}"}},
		{Type: Stdio, Command: "x", Env: map[string]string{"A": "${OPENAI_API_KEY:-none}"}},
		{Type: Stdio, Command: "x", InheritEnv: []string{"OPENAI_API_KEY"}},
		{Type: HTTP, URL: "http://h/", Headers: map[string]string{"A": "${env:OPENAI_API_KEY}"}},
	} {
		if _, err := env.resolve(Entry{Target: target, Source: Source{Scope: ScopeUser}}); err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY may hold a model provider's key") {
			t.Errorf("%+v: %v", target, err)
		}
	}
}
