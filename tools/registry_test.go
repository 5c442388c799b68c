package tools_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"jcode/tools"
)

// fake is a tool with a fixed spec; run may be nil.
type fake struct {
	spec tools.Spec
	run  func(context.Context, tools.Call) (tools.Result, error)
}

func (f fake) Spec() tools.Spec { return f.spec }

func (f fake) Run(ctx context.Context, c tools.Call) (tools.Result, error) {
	if f.run == nil {
		return tools.Result{Text: f.spec.Name}, nil
	}
	return f.run(ctx, c)
}

func named(name string) fake { return fake{spec: tools.Spec{Name: name, ReadOnly: true}} }

func mcpTool(server, tool string) fake {
	return fake{spec: tools.Spec{Name: "mcp:" + server + ":" + tool, Wire: "mcp__" + server + "__" + tool, Group: tools.GroupMCP, Server: server, ReadOnly: true}}
}

func names(entries []tools.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Spec.Name)
	}
	return out
}

func TestRegisterRefusesTakenAndIllegalNames(t *testing.T) {
	reg := tools.NewRegistry()
	if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, named("read")); err != nil {
		t.Fatal(err)
	}
	for name, tool := range map[string]tools.Tool{
		"already registered": named("read"),
		"must match":         named("a b"),
		"reserved":           named("mcp__x"),
		"JSON Schema":        fake{spec: tools.Spec{Name: "x", Parameters: json.RawMessage(`{"type":"string"}`)}},
		"no wire name":       fake{spec: tools.Spec{Name: "mcp:a:b", Group: tools.GroupMCP}},
	} {
		err := reg.Register("tool:user/x", tools.RankUser, tool)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want one with %q", err, name)
		}
	}
	if got := names(reg.Snapshot(nil).List()); !slices.Equal(got, []string{"read"}) {
		t.Errorf("tools are %v", got)
	}
}

func TestStrongerOwnerShadowsAndTheShadowedReturns(t *testing.T) {
	reg := tools.NewRegistry()
	must(t, reg.Register("tool:user/count", tools.RankUser, named("count")))
	must(t, reg.Register("tool:project/count", tools.RankProject, named("count")))
	e, _, _ := reg.Snapshot(nil).Lookup("count")
	if e.Owner != "tool:project/count" {
		t.Fatalf("holder is %s", e.Owner)
	}
	all := reg.Snapshot(nil).All()
	if len(all) != 2 || all[1].Shadowed != "tool:project/count" {
		t.Fatalf("shadowed entry is missing: %+v", all)
	}
	reg.UnregisterOwner("tool:project/count")
	if e, _, _ = reg.Snapshot(nil).Lookup("count"); e.Owner != "tool:user/count" {
		t.Errorf("holder is %s after the stronger one went", e.Owner)
	}
}

func TestSnapshotStaysAsItWasWhileTheRegistryChanges(t *testing.T) {
	reg := tools.NewRegistry()
	reg.Replace("mcp:a", tools.RankMCP, []tools.Tool{mcpTool("a", "x"), mcpTool("a", "y")})
	before := reg.Snapshot(nil)
	reg.Replace("mcp:a", tools.RankMCP, []tools.Tool{mcpTool("a", "y"), mcpTool("a", "z")})
	if got := names(before.List()); !slices.Equal(got, []string{"mcp:a:x", "mcp:a:y"}) {
		t.Errorf("old snapshot shows %v", got)
	}
	if got := names(reg.Snapshot(nil).List()); !slices.Equal(got, []string{"mcp:a:y", "mcp:a:z"}) {
		t.Errorf("new snapshot shows %v", got)
	}
	if reg.Version() != before.Version()+1 {
		t.Errorf("a replacement made %d versions", reg.Version()-before.Version())
	}
}

func TestOwnersAreNotNamePrefixes(t *testing.T) {
	reg := tools.NewRegistry()
	reg.Replace("mcp:foo", tools.RankMCP, []tools.Tool{mcpTool("foo", "x")})
	reg.Replace("mcp:foo-bar", tools.RankMCP, []tools.Tool{mcpTool("foo-bar", "x")})
	reg.UnregisterOwner("mcp:foo")
	if got := names(reg.Snapshot(nil).List()); !slices.Equal(got, []string{"mcp:foo-bar:x"}) {
		t.Errorf("left are %v", got)
	}
}

func TestOrderKeepsPlacesAndAppendsNewcomersWithinTheirGroup(t *testing.T) {
	reg := tools.NewRegistry()
	core := named("read")
	lua := fake{spec: tools.Spec{Name: "lua1", Group: tools.GroupLua, ReadOnly: true}}
	reg.Replace("mcp:b", tools.RankMCP, []tools.Tool{mcpTool("b", "two"), mcpTool("b", "one")})
	reg.Replace("mcp:a", tools.RankMCP, []tools.Tool{mcpTool("a", "x")})
	must(t, reg.Register("l", tools.RankUser, lua))
	must(t, reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, core))
	var order tools.Order
	first := names(order.Arrange(reg.Snapshot(nil).List()))
	if want := []string{"read", "lua1", "mcp:a:x", "mcp:b:two", "mcp:b:one"}; !slices.Equal(first, want) {
		t.Fatalf("first request: %v, want %v", first, want)
	}
	// A server that reconnects keeps its place; a new tool is the last of its group.
	reg.UnregisterOwner("mcp:a")
	order.Arrange(reg.Snapshot(nil).List())
	reg.Replace("mcp:A", tools.RankMCP, []tools.Tool{mcpTool("A", "n")})
	reg.Replace("mcp:a", tools.RankMCP, []tools.Tool{mcpTool("a", "x")})
	must(t, reg.Register("l2", tools.RankUser, fake{spec: tools.Spec{Name: "lua0", Group: tools.GroupLua}}))
	later := names(order.Arrange(reg.Snapshot(nil).List()))
	if want := []string{"read", "lua1", "lua0", "mcp:a:x", "mcp:b:two", "mcp:b:one", "mcp:A:n"}; !slices.Equal(later, want) {
		t.Errorf("later request: %v, want %v", later, want)
	}
}

func TestScopeFiltersByToolServerAndCapability(t *testing.T) {
	read, none := tools.CapRead, tools.Capabilities(0)
	spec := tools.Spec{Name: "mcp:github:list", Group: tools.GroupMCP, Server: "github", Needs: tools.CapMCP}
	for _, tc := range []struct {
		name  string
		scope *tools.Scope
		want  bool
	}{
		{"no scope", nil, true},
		{"empty scope", &tools.Scope{}, true},
		{"glob", &tools.Scope{Tools: []string{"mcp:github:*"}}, true},
		{"other server's glob", &tools.Scope{Tools: []string{"mcp:git:*"}}, false},
		{"no tools", &tools.Scope{Tools: []string{}}, false},
		{"server", &tools.Scope{Servers: []string{"github"}}, true},
		{"no servers", &tools.Scope{Servers: []string{}}, false},
		{"capability missing", &tools.Scope{Capabilities: &read}, false},
		{"no capabilities", &tools.Scope{Capabilities: &none}, false},
	} {
		if ok, why := tc.scope.Allows(spec); ok != tc.want || (!ok && why == "") {
			t.Errorf("%s: allowed %v (%q), want %v", tc.name, ok, why, tc.want)
		}
	}
}

func TestWatchTellsOfEachBurstOfChanges(t *testing.T) {
	reg := tools.NewRegistry()
	ch, stop := reg.Watch()
	defer stop()
	for _, n := range []string{"a", "b", "c"} {
		must(t, reg.Register("o", tools.RankUser, named(n)))
	}
	<-ch
	select {
	case <-ch:
		t.Error("three changes before a read gave two signals")
	default:
	}
}

func TestRegistryIsSafeForConcurrentUse(t *testing.T) {
	reg := tools.NewRegistry()
	var wg sync.WaitGroup
	for _, owner := range []string{"mcp:a", "mcp:b", "mcp:c", "mcp:d"} {
		wg.Go(func() {
			for range 100 {
				reg.Replace(owner, tools.RankMCP, []tools.Tool{mcpTool(owner[4:], "x"), mcpTool(owner[4:], "y")})
				if n := len(reg.Snapshot(nil).List()); n%2 != 0 {
					t.Errorf("a snapshot shows half an owner: %d tools", n)
				}
				reg.UnregisterOwner(owner)
			}
		})
	}
	wg.Wait()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
