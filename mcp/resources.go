package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/jsonerr"
	"jcode/internal/pattern"
	"jcode/internal/rawjson"
	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/wire"
)

// ResourceInfo is one resource of a server, or a template of many.
type ResourceInfo struct {
	Server      string
	URI         string // with a template: `mem://day/{date}`
	Name        string
	Description string
	MIME        string
	Template    bool
}

const (
	// resourceWait bounds reading; resourceListWait bounds listing, for which a person waits while
	// completing a word.
	resourceWait     = 30 * time.Second
	resourceListWait = 5 * time.Second
)

// Resources returns the resources and templates of all connected servers that declare any, by
// server. Servers are queried concurrently; what one does not list in time is left out and
// noted in its log.
func (m *Manager) Resources(ctx context.Context) []ResourceInfo {
	views, _ := m.running()
	names := slices.Sorted(maps.Keys(views))
	ctx, cancel := context.WithTimeout(ctx, resourceListWait)
	defer cancel()
	lists := make([][]ResourceInfo, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		v := views[name]
		if v.session == nil || !v.info.resources {
			continue
		}
		asked.Go(func() {
			var err error
			if lists[i], err = v.session.listResources(ctx, name); err != nil {
				v.session.log.Note("list resources: %s", config.Scrub(wire.ErrorText(err), v.secrets))
			}
		})
	}
	asked.Wait()
	return slices.Concat(lists...)
}

func (s *session) listResources(ctx context.Context, server string) ([]ResourceInfo, error) {
	var out []ResourceInfo
	read := func(list, uri string, template bool) func(json.RawMessage) (int, string, error) {
		return func(raw json.RawMessage) (int, string, error) {
			var items []json.RawMessage
			if err := json.Unmarshal(rawjson.Member(raw, list), &items); err != nil {
				return 0, "", fmt.Errorf("read %s: %w", list, jsonerr.Plain(err))
			}
			for _, item := range items {
				f := rawjson.Members(item)
				r := ResourceInfo{
					Server: server, URI: rawjson.String(f[uri]), Name: text.FirstLine(rawjson.String(f["name"]), 200),
					Description: text.FirstLine(rawjson.String(f["description"]), 200), MIME: rawjson.String(f["mimeType"]), Template: template,
				}
				if r.URI != "" {
					out = append(out, r)
				}
			}
			return len(items), rawjson.String(rawjson.Member(raw, "nextCursor")), nil
		}
	}
	_, err := s.pages(ctx, "resources/list", func(ctx context.Context, cursor string) error {
		_, err := s.cs.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
		return err
	}, read("resources", "uri", false))
	if err != nil {
		return out, err
	}
	_, err = s.pages(ctx, "resources/templates/list", func(ctx context.Context, cursor string) error {
		_, err := s.cs.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
		return err
	}, read("resourceTemplates", "uriTemplate", true))
	return out, err
}

// ReadResource reads one resource, capped like a result.
func (m *Manager) ReadResource(ctx context.Context, server, uri string) (string, error) {
	v := m.viewOf(server)
	if v == nil || v.session == nil {
		return "", fmt.Errorf("MCP server %s is not connected", server)
	}
	ctx, cancel := context.WithTimeout(ctx, resourceWait)
	defer cancel()
	raw, _, err := v.session.request(ctx, "resources/read", func(ctx context.Context) error {
		_, err := v.session.cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read %s of MCP server %s: %s", uri, server, config.Scrub(wire.ErrorText(err), v.secrets))
	}
	c := converter{maxTokens: v.entry.MaxResultTokens}
	if m.saver.dir != "" {
		c.save = m.saver.save
	}
	var parts []string
	for _, item := range contentItems(rawjson.Member(raw, "contents")) {
		parts = append(parts, c.resource(item).text)
	}
	if len(parts) == 0 {
		return noContent, nil
	}
	return c.cap(text.Clean(strings.Join(parts, "\n"))), nil
}

// mention matches `@server:uri` in a person's text.
var mention = pattern.Lazy(`@([A-Za-z0-9_-]{1,32}):([A-Za-z][A-Za-z0-9+.-]*:[^\s"'<>]+)`)

// Mentioned is one resource that a text mentions, with its content.
type Mentioned struct {
	Server, URI string
	Text        string
	Err         error
}

// Mentions reads the resources that a text mentions as `@server:uri`, each once, in
// order. Mentions of unknown servers are ordinary text.
func (m *Manager) Mentions(ctx context.Context, prompt string) []Mentioned {
	if !strings.Contains(prompt, "@") {
		return nil
	}
	m.mu.Lock()
	known := m.wants.known()
	m.mu.Unlock()
	var out []Mentioned
	for _, hit := range mention().FindAllStringSubmatch(prompt, -1) {
		server, uri := hit[1], strings.TrimRight(hit[2], ".,;:!?)]")
		if !strings.Contains(uri, "{") {
			uri = strings.TrimRight(uri, ".,;:!?)]}")
		}
		if !slices.Contains(known, server) || slices.ContainsFunc(out, func(x Mentioned) bool { return x.Server == server && x.URI == uri }) {
			continue
		}
		if i := strings.IndexByte(uri, '{'); i >= 0 {
			out = append(out, Mentioned{server, uri, "", fmt.Errorf("@%s:%s is a template: write a value in place of %s", server, uri, uri[i:])})
			continue
		}
		body, err := m.ReadResource(ctx, server, uri)
		out = append(out, Mentioned{server, uri, body, err})
	}
	return out
}
