package agent_test

import (
	"context"
	"slices"
	"testing"

	"jcode/agent"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

// Tools that most sessions never call are offered as soon as they are of use, and stay.
func TestToolsOnDemandComeWithTheFirstUse(t *testing.T) {
	t.Parallel()
	made := func(name, said string) tools.Tool {
		return tool{spec: tools.Spec{Name: name, Description: "Does it.", Parameters: []byte(`{"type":"object","properties":{}}`)}, run: func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: said}, nil
		}}
	}
	list := []tools.Tool{
		made("exec", "Started job 1 (pid 7)."), made("job", "none"), made("task", "done"), made("agent", "none"),
		made("mcp_list", "0 servers"), made("mcp_connect", "connected"), made("mcp_reload", "none"), made("reload_skills", "none"),
	}
	calls := func(name string) modeltest.Reply { return modeltest.Calls(modeltest.Call{Name: name, Args: `{}`}) }
	b, srv := polyglot(t, "claude-opus-5-5", list, func(*agent.Options) {}, calls("task"), calls("exec"), calls("mcp_list"), calls("mcp_connect"), modeltest.Text("done"), modeltest.Text("again"))
	b.turn("go")
	b.turn("more")
	want := [][]string{
		{"exec", "mcp_list", "task"},
		{"agent"},
		{"job"},
		{"mcp_connect", "mcp_reload", "reload_skills"},
		{},
		{},
	}
	var have []string
	for i, r := range srv.Requests() {
		have = append(have, want[i]...)
		got := r.ToolNames()
		slices.Sort(got)
		slices.Sort(have)
		if !slices.Equal(got, have) {
			t.Errorf("request %d offers %v, want %v", i, got, have)
		}
	}
}
