package permission_test

import (
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// What nothing can match must not look as if it were in force.
func TestRestrictionsThatNothingCanMatchAreFaults(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"reed", "Notebook", "NotebookEdit", "read(.env))", "read((.env)", "read(../x)", "read(a/../b)", "read($HOME/x)", "mcp(a(b)", "lua([x)", "fetch(https://example.com)",
		"exec(git push))", "bash -c", "", "*(x)", "todo(x)", "Task(x)", "mcp:a:b(x)", "read,write",
	} {
		if rules, err := permission.ParseRestriction(rule); err == nil {
			t.Errorf("%q is %v", rule, rules)
		}
	}
	for _, rule := range []string{"read(a \\(1\\).txt)", "read(f(1).txt)", "exec(echo ')')", "exec(echo \"(\" *)", "mcp(a:b c)", "write($x)", "lua(mine)", "mcp__a__b", "WebSearch", "BashOutput"} {
		if _, err := permission.ParseRestriction(rule); err != nil {
			t.Errorf("%q: %v", rule, err)
		}
	}
}

// The names of Claude Code's tools mean ours; where the text can be read in two ways, both are denied.
func TestNamesOfOtherAgentsDenyOurTools(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	for _, c := range []struct {
		rule   string
		access tools.Access
	}{
		{"Bash", tools.Access{Kind: tools.AccessExec, Command: "ls"}},
		{"Bash(*)", tools.Access{Kind: tools.AccessExec, Command: "ls"}},
		{"Bash(git push:*)", tools.Access{Kind: tools.AccessExec, Command: "git -C d push x"}},
		{"exec(git push:*)", tools.Access{Kind: tools.AccessExec, Command: "git push x"}},
		{"Bash(git push:*)", tools.Access{Kind: tools.AccessExec, Command: "uv run git push x"}},
		{"Bash(git push:*)", tools.Access{Kind: tools.AccessExec, Command: "poetry -C d run git push"}},
		{"Bash(git push:*)", tools.Access{Kind: tools.AccessExec, Command: "pnpm exec git push"}},
		{"Bash(git push:*)", tools.Access{Kind: tools.AccessExec, Command: "bundle exec git push"}},
		{"Read", tools.Access{Kind: tools.AccessRead, Path: root + "/a.go"}},
		{"Read(./a.go)", tools.Access{Kind: tools.AccessRead, Path: root + "/a.go"}},
		{"Read(/a.go)", tools.Access{Kind: tools.AccessRead, Path: root + "/a.go"}},
		{"Read(/sub/**)", tools.Access{Kind: tools.AccessRead, Path: root + "/sub/c.go"}},
		{"Read(/" + root + "/a.go)", tools.Access{Kind: tools.AccessRead, Path: root + "/a.go"}},
		{"Read(" + root + "/a.go)", tools.Access{Kind: tools.AccessRead, Path: root + "/a.go"}},
		{"Edit", tools.Access{Kind: tools.AccessWrite, Path: root + "/a.go"}},
		{"Edit(/sub/**)", tools.Access{Kind: tools.AccessWrite, Path: root + "/sub/c.go"}},
		{"MultiEdit(*.go)", tools.Access{Kind: tools.AccessWrite, Path: root + "/a.go"}},
		{"WebFetch", tools.Access{Kind: tools.AccessFetch, URL: "https://example.com"}},
		{"WebFetch(domain:example.com)", tools.Access{Kind: tools.AccessFetch, URL: "https://example.com/x"}},
		{"mcp__srv", tools.Access{Kind: tools.AccessMCP, Target: "srv:tool"}},
		{"mcp__srv__*", tools.Access{Kind: tools.AccessMCP, Target: "srv:tool"}},
		{"mcp__srv__tool", tools.Access{Kind: tools.AccessMCP, Target: "srv:tool"}},
		{"*", tools.Access{Kind: tools.AccessMCP, Target: "srv:tool"}},
		{"*", tools.Access{Kind: tools.AccessLua, Target: "x"}},
		{"*", tools.Access{Kind: tools.AccessDelete, Path: root + "/a.go"}},
		{"*", tools.Access{Kind: tools.AccessConnect, Command: "npx x"}},
	} {
		g := newGate(t, root, home, parseRules(t, nil, nil, []string{c.rule}))
		req := tools.GateRequest{Call: tools.Call{Caller: caller(tools.ModeYolo, nil)}, Spec: tools.Spec{Name: string(c.access.Kind)}, Plan: tools.Plan{Accesses: []tools.Access{c.access}}}
		if d := g.Check(t.Context(), req); d.Allow || d.By != tools.ByRule {
			t.Errorf("%s: %+v by %s %s", c.rule, c.access, d.By, d.Rule)
		}
	}
	g := newGate(t, root, home, parseRules(t, nil, nil, []string{"*"}))
	for _, name := range []string{"exec", "read", "todo", "ask", "mcp_list", "anything"} {
		if ok, _ := g.Offered(tools.Spec{Name: name, ReadOnly: true}, tools.ModeYolo); ok {
			t.Errorf("%s is offered", name)
		}
	}
	// A rule that allows does not reach further than its writer meant.
	g = newGate(t, root, home, parseRules(t, []string{"Edit(/**)", "Read(/sub/**)"}, nil, nil))
	req := tools.GateRequest{Call: tools.Call{Caller: caller(tools.ModeAsk, nil)}, Spec: tools.Spec{Name: "edit"}, Plan: tools.Plan{Accesses: []tools.Access{{Kind: tools.AccessWrite, Path: "/etc/x"}}}}
	if d := g.Check(t.Context(), req); d.Allow {
		t.Error("Edit(/**) allows a file outside of the project")
	}
}

// Tools of language servers print lines of files as read does.
func TestADeniedReadCoversWhateverShowsFiles(t *testing.T) {
	t.Parallel()
	g := newGate(t, t.TempDir(), t.TempDir(), parseRules(t, nil, nil, []string{"read"}))
	for _, name := range []string{"grep", "glob", "ls", "definition", "hover", "references", "symbols", "diagnostics"} {
		if ok, _ := g.Offered(tools.Spec{Name: name, Group: tools.GroupBuiltin, ReadOnly: true}, tools.ModeYolo); ok {
			t.Errorf("%s is offered although read is denied", name)
		}
	}
}
