package editorscli

import (
	"context"
	"encoding/json"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/internal/text"
	mcpconfig "jcode/mcp/config"
	"jcode/tools"
)

// servers connects the MCP servers that an editor brings.
type servers struct {
	board      *board.Board
	dispatcher *tools.Dispatcher
}

// connect connects a server that the editor supplied. It is asked about as if the model had requested it,
// and its lease belongs to this session.
func (s servers) connect(ctx context.Context, conv *agent.Conversation, title string, entry json.RawMessage) {
	name := mcpconfig.KeyFor(title)
	shown := shownName(name, title)
	var args map[string]any
	if err := json.Unmarshal(entry, &args); err != nil {
		s.board.Say(event.LevelError, "MCP server %s: %v", shown, err)
		return
	}
	args["name"] = name
	raw, err := json.Marshal(args)
	if err != nil {
		s.board.Say(event.LevelError, "MCP server %s: %v", shown, err)
		return
	}
	out := s.dispatcher.Dispatch(ctx, tools.Call{
		ID: "connect-" + name, Name: "mcp_connect", Arguments: raw,
		Caller: tools.Caller{Origin: tools.OriginClient, Session: conv.ID(), Label: "the editor", Mode: conv.Mode, Asker: conv.Person()},
	})
	switch {
	case ctx.Err() != nil:
	case out.Result.Failed:
		s.board.Say(event.LevelWarn, "the editor's MCP server %s is not connected: %s", shown, text.Headline(out.Result.Text))
	default:
		s.board.Say(event.LevelInfo, "the editor's MCP server %s is connected", shown)
	}
}

// shownName names a server of the editor for people: as the editor does, and as it is called here.
func shownName(name, title string) string {
	if title == name {
		return name
	}
	return text.Visible(title) + " (here: " + name + ")"
}
