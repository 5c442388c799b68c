package front_test

import (
	"testing"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tui/front"
)

// A notice of tools says which MCP server they are from.
func TestNewToolsAreNamedWithTheirServer(t *testing.T) {
	t.Parallel()
	for want, ev := range map[string]event.ToolsChanged{
		"New tools: mcp_connect, word_count · New tools from board: task, list_tasks · New tools from self: grep": {
			Added: []string{"mcp:board:task", "mcp_connect", "mcp:self:grep", "word_count", "mcp:board:list_tasks"},
		},
		"New tools from b: x · Tools that are gone: a · Tools from b that are gone: y": {Added: []string{"mcp:b:x"}, Removed: []string{"a", "mcp:b:y"}},
		"": {},
	} {
		if got := front.ToolsChanged(ev, tools.ModeAsk); got != want {
			t.Errorf("%+v: %q, want %q", ev, got, want)
		}
	}
}
