package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/session"
)

func TestGrantsHoldWhereTheyWereGiven(t *testing.T) {
	t.Parallel()
	s := open(t)
	add := func(g session.Grant) int64 {
		t.Helper()
		id, err := s.Grants().Add(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	global := add(session.Grant{Key: "read", Scope: session.GrantGlobal, Project: "ignored"})
	add(session.Grant{Key: "exec(go test)", Scope: session.GrantProject, Project: "p"})
	add(session.Grant{Key: "exec(ls)", Scope: session.GrantSession, Session: "s1"})
	add(session.Grant{Key: "lua(x)", Scope: session.GrantProject, Project: "p", Hash: "h1"})
	if again := add(session.Grant{Key: "read", Scope: session.GrantGlobal}); again != global {
		t.Errorf("the same grant has IDs %d and %d", global, again)
	}
	keys := func(sessionID, project string) string {
		t.Helper()
		all, err := s.Grants().List(t.Context(), sessionID, project)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, g := range all {
			out = append(out, g.Key+g.Hash)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ session, project, want string }{
		{"s1", "p", "read exec(go test) exec(ls) lua(x)h1"}, {"s2", "p", "read exec(go test) lua(x)h1"}, {"s1", "q", "read exec(ls)"}, {"", "", "read"},
	} {
		if got := keys(c.session, c.project); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.session, c.project, got, c.want)
		}
	}
	if err := s.Grants().Revoke(t.Context(), global); err != nil {
		t.Fatal(err)
	}
	if err := s.Grants().Revoke(t.Context(), global); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	if got := keys("s2", "q"); got != "" {
		t.Error(got)
	}
	for _, bad := range []session.Grant{{Key: "x"}, {Key: "x", Scope: "world"}, {Key: "x", Scope: session.GrantProject}, {Key: "x", Scope: session.GrantSession}} {
		if _, err := s.Grants().Add(t.Context(), bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

func TestTrustIsForExactlyWhatWasShown(t *testing.T) {
	t.Parallel()
	s := open(t)
	if err := s.Trusts().Add(t.Context(), session.Trust{Project: "p", Kind: "mcp", Name: "gh", Hash: "h1"}, session.Trust{Project: "p", Kind: "lua", Name: "t", Hash: "h2"}); err != nil {
		t.Fatal(err)
	}
	trusted := func(project, kind, name, hash string) bool {
		t.Helper()
		all, err := s.Trusts().List(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(all, func(r session.Trust) bool { return r.Kind == kind && r.Name == name && r.Hash == hash })
	}
	if !trusted("p", "mcp", "gh", "h1") || trusted("p", "mcp", "gh", "h2") || trusted("q", "mcp", "gh", "h1") || trusted("p", "lua", "gh", "h1") {
		t.Error("trust is not exact")
	}
	if all, err := s.Trusts().List(t.Context(), "p"); err != nil || len(all) != 2 || all[0].Kind != "lua" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestPromptHistory(t *testing.T) {
	t.Parallel()
	s := open(t)
	add := func(project, text string) {
		t.Helper()
		if err := s.Prompts().Add(t.Context(), session.Prompt{Project: project, Cwd: "/w", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	lines := 1 << 17
	if testing.Short() { // the race detector makes the search a hundred times slower
		lines = 1 << 13
	}
	big := strings.Repeat("paste\n", lines) // it is returned in full
	for _, p := range []string{"one", "two", big, "100%", "  \n", "one"} {
		add("p", p)
	}
	add("q", "elsewhere One")
	texts := func(all []session.Prompt, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range all {
			out = append(out, p.Text)
		}
		return out
	}
	if got := texts(s.Prompts().Recent(t.Context(), "p", 0)); !slices.Equal(got, []string{"one", "100%", big, "two"}) {
		t.Errorf("%.60q", got)
	}
	if got := texts(s.Prompts().Recent(t.Context(), "p", 1)); !slices.Equal(got, []string{"one"}) {
		t.Errorf("%.60q", got)
	}
	if got := texts(s.Prompts().Search(t.Context(), "", "ONE", 0)); !slices.Equal(got, []string{"elsewhere One", "one"}) {
		t.Errorf("%.60q", got)
	}
	if got := texts(s.Prompts().Search(t.Context(), "p", "%", 0)); !slices.Equal(got, []string{"100%"}) {
		t.Errorf("%.60q", got)
	}
	for i := range 2100 {
		add("r", fmt.Sprint(i))
	}
	if got := texts(s.Prompts().Recent(t.Context(), "r", 0)); len(got) != 2000 || got[0] != "2099" {
		t.Errorf("%d prompts are kept", len(got))
	}
}

func TestLuaStateKeepsItsLimits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	s := openAt(t, path)
	set := func(scope, key, value string) error {
		return s.LuaState().Set(t.Context(), scope, key, json.RawMessage(value))
	}
	if err := errors.Join(set("user/a", "k", `{"x":[1]}`), set("user/b", "k", `2`), set("user/a", "z", `""`), set("user/a", "k", `{"x":[2]}`)); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, path) // it survives a restart
	if v, ok, err := again.LuaState().Get(t.Context(), "user/a", "k"); err != nil || !ok || string(v) != `{"x":[2]}` {
		t.Error(string(v), ok, err)
	}
	if _, ok, err := again.LuaState().Get(t.Context(), "user/c", "k"); err != nil || ok {
		t.Error(ok, err)
	}
	if keys, err := s.LuaState().Keys(t.Context(), "user/a"); err != nil || !slices.Equal(keys, []string{"k", "z"}) {
		t.Error(keys, err)
	}
	if err := errors.Join(s.LuaState().Delete(t.Context(), "user/a", "z"), s.LuaState().Delete(t.Context(), "user/a", "z")); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ key, value, want string }{
		{strings.Repeat("k", 257), "1", "256"},
		{"k", `"` + strings.Repeat("v", 64<<10) + `"`, "65536"},
		{"\xff", "1", "UTF-8"},
		{"k", "\"\xff\"", "UTF-8"},
		{"k", "{", "JSON"},
		{"", "1", "empty"},
	} {
		if err := set("user/a", c.key, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %q", c.key, err, c.want)
		}
	}
	if err := errors.Join(set("user/a", strings.Repeat("k", 256), "1"), set("user/a", "big", `"`+strings.Repeat("v", 64<<10-2)+`"`)); err != nil {
		t.Error(err)
	}
	for i := range 1000 {
		if err := set("full", fmt.Sprint(i), "1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := set("full", "more", "1"); err == nil || !strings.Contains(err.Error(), "1000") {
		t.Error(err)
	}
	if err := set("full", "7", "2"); err != nil {
		t.Error("an existing key can't be set:", err)
	}
}

func TestPlansAndDrafts(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	if todo, err := s.Todos().Get(t.Context(), v.ID); err != nil || todo != nil {
		t.Error(todo, err)
	}
	for _, items := range []string{`[{"text":"a"}]`, `[]`} {
		if err := s.Todos().Set(t.Context(), v.ID, json.RawMessage(items)); err != nil {
			t.Fatal(err)
		}
		if todo, err := s.Todos().Get(t.Context(), v.ID); err != nil || string(todo) != items {
			t.Error(string(todo), err)
		}
	}
	if err := s.Todos().Set(t.Context(), "none", nil); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	for _, draft := range []string{"half a th", "half a thought\n", ""} {
		if err := s.Drafts().Set(t.Context(), v.ID, draft); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Drafts().Get(t.Context(), v.ID); err != nil || got != draft {
			t.Errorf("%q, %v", got, err)
		}
	}
}
