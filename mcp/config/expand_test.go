package config

import (
	"strings"
	"testing"
)

func TestEveryFieldOfAModelsServerIsText(t *testing.T) {
	t.Parallel()
	env := Environment{Base: []string{"PRIVATE=canary"}, Root: "/p", Home: "/h"}
	v := "${PRIVATE}"
	for _, target := range []Target{
		{Type: Stdio, Command: v, Args: []string{v}, Env: map[string]string{"A": v}, Cwd: v},
		{Type: HTTP, URL: "http://h/" + v, Headers: map[string]string{"A": v}},
	} {
		for _, scope := range []Scope{ScopeSession, ScopeLua, ""} {
			r, err := env.Resolve(Entry{Target: target, Source: Source{Scope: scope}})
			if all := strings.Join(append([]string{r.Program, r.Dir, r.URL, r.Headers["A"], r.Key}, append(r.Args, r.Env...)...), "\n"); err != nil || strings.Contains(all, "canary") {
				t.Errorf("%s %s: %v\n%s", scope, target.Type, err, all)
			}
		}
		if r, err := env.Resolve(Entry{Target: target, Source: Source{Scope: ScopeUser}}); err != nil || !strings.Contains(r.Key, "canary") {
			t.Errorf("the person's own file does not expand: %v", err)
		}
	}
}

func TestProviderKeysReachNoServer(t *testing.T) {
	t.Parallel()
	env := Environment{Base: []string{"OPENAI_API_KEY=canary"}, Root: "/p", Home: "/h", Withheld: []string{"OPENAI_API_KEY"}}
	for _, target := range []Target{
		{Type: Stdio, Command: "x", Args: []string{"${OPENAI_API_KEY}"}},
		{Type: Stdio, Command: "x", Env: map[string]string{"A": "${OPENAI_API_KEY:-none}"}},
		{Type: Stdio, Command: "x", InheritEnv: []string{"OPENAI_API_KEY"}},
		{Type: HTTP, URL: "http://h/", Headers: map[string]string{"A": "${env:OPENAI_API_KEY}"}},
	} {
		if _, err := env.Resolve(Entry{Target: target, Source: Source{Scope: ScopeUser}}); err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY may hold a model provider's key") {
			t.Errorf("%+v: %v", target, err)
		}
	}
}
