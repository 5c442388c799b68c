package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Search is a search of the web that runs at the provider before the text of a reply.
type Search struct {
	Query   string
	Sources []Source
}

// Source is a page that a search found.
type Source struct{ Title, URL string }

// WithSearch puts searches before the text, for requests that allow them.
func (r Reply) WithSearch(searches ...Search) Reply { r.searches = searches; return r }

// sealed returns what a provider adds to a source and expects back unchanged.
func sealed(title, url string) string {
	sum := sha256.Sum256([]byte("search\x00" + title + "\x00" + url))
	return hex.EncodeToString(sum[:])
}

// searchBlocks writes the blocks of the searches in a Messages stream.
func (p *player) searchBlocks(block func(start map[string]any, deltas ...map[string]any)) {
	for _, s := range p.reply.searches {
		id := "srvtoolu_" + p.nextID()
		block(map[string]any{"type": "server_tool_use", "id": id, "name": "web_search", "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": marshal(map[string]any{"query": s.Query})})
		found := []any{}
		for _, f := range s.Sources {
			found = append(found, map[string]any{"type": "web_search_result", "title": f.Title, "url": f.URL, "encrypted_content": sealed(f.Title, f.URL), "page_age": nil})
		}
		block(map[string]any{"type": "web_search_tool_result", "tool_use_id": id, "content": found})
	}
}

// searchItems writes the items of the searches in a Responses stream.
func (p *player) searchItems(item func(began, ended map[string]any, between func())) {
	for _, s := range p.reply.searches {
		found := []any{}
		for _, f := range s.Sources {
			found = append(found, map[string]any{"type": "url", "url": f.URL})
		}
		id := "ws_" + p.nextID()
		item(map[string]any{"id": id, "type": searchCall, "status": "in_progress"}, map[string]any{
			"id": id, "type": searchCall, "status": "completed", "action": map[string]any{"type": "search", "query": s.Query, "sources": found},
		}, func() {})
	}
}

const searchCall = "web_search_call"

// searches checks the blocks of searches in an answer: each has its result, unchanged.
func (c *messagesChecker) searches(i int, blocks []map[string]any, newest bool) {
	open := map[string]bool{}
	for k, b := range blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, k)
		switch text(b, "type") {
		case "server_tool_use":
			open[text(b, "id")] = true
			if _, ok := b["input"].(map[string]any); !ok || !strings.HasPrefix(text(b, "id"), "srvtoolu_") {
				c.add("%s: no server_tool_use: %v", at, b)
			}
		case "web_search_tool_result":
			if !open[text(b, "tool_use_id")] {
				c.add("%s: unexpected `tool_use_id` found in `web_search_tool_result` blocks: %s", at, text(b, "tool_use_id"))
			}
			delete(open, text(b, "tool_use_id"))
			for _, f := range objects(b["content"]) {
				if sealed(text(f, "title"), text(f, "url")) != text(f, "encrypted_content") && text(f, "encrypted_content") != "b3BhcXVl" {
					c.add("%s: Invalid `encrypted_content` in search result", at)
				}
			}
		}
	}
	for id := range open {
		if !newest {
			c.add("messages.%d: `web_search` tool use with id %s was found without a corresponding `web_search_tool_result` block", i, id)
		}
	}
}

// search checks a call of the web search in a Responses request.
func (c *responsesChecker) search(at string, it map[string]any) {
	action, _ := it["action"].(map[string]any)
	if text(action, "type") == "" || text(it, "status") == "" {
		c.add("Missing required parameter: '%s.action' or '%s.status'.", at, at)
	}
}
