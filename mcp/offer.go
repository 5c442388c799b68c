package mcp

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/tools"
)

const (
	defaultMaxTools  = 128
	leastThreshold   = 8_000
	thresholdPercent = 10
	// backPercent of the threshold is where the tools come back from being deferred.
	backPercent = 80
)

// offerState is how tools are offered: each by itself, or three that stand for all.
type offerState struct {
	mu       sync.Mutex // serialises publishing
	scope    *tools.Scope
	deferred bool
	sent     map[string][sha256.Size]byte // server → what was published, to leave out repeats
	standIns string                       // the description under which the stand-ins are offered
}

// SetScope says what the conversation may use: what is offered directly or deferred
// depends on it.
func (m *Manager) SetScope(s *tools.Scope) {
	m.offer.mu.Lock()
	m.offer.scope = s
	m.offer.mu.Unlock()
	m.publishTools(nil, nil)
}

// SetToolsMode switches between auto, direct and deferred.
func (m *Manager) SetToolsMode(mode string) error {
	switch mode {
	case "auto", "direct", "deferred":
	default:
		return tools.Errorf(tools.KindInvalidArgs, "unknown mode %q: use auto, direct or deferred", mode)
	}
	m.mu.Lock()
	m.opt.Tools = mode
	m.mu.Unlock()
	m.publishTools(nil, nil)
	return nil
}

// toolsOf returns the tools of a view that the entry lets through.
func toolsOf(v *view) []schema.Tool {
	if v.state == StateFailed || v.state == StateNeedsSignIn || v.state == StateDisconnected || v.state == StateConnecting {
		return nil
	}
	var out []schema.Tool
	for _, t := range v.tools {
		if v.entry.AllowsTool(t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// price is what a tool's definition costs in tokens as it is sent.
func price(server string, t schema.Tool) int {
	return (len(t.Wire) + len(describeTool(server, t)) + len(t.Sent.Schema) + 40) / bytesPerToken
}

// publishTools makes the registry's tools those of the connected servers, deferred or
// not. An actor's new view counts before it is stored, which happens last.
func (m *Manager) publishTools(a *actor, fresh *view) {
	m.offer.mu.Lock()
	defer m.offer.mu.Unlock()
	m.mu.Lock()
	views := m.views()
	closed, mode := m.closed, m.opt.Tools
	m.mu.Unlock()
	if a != nil {
		views[a.name] = fresh
		defer a.view.Store(fresh)
	}
	if closed {
		return
	}
	was := m.offer.deferred
	m.offer.deferred = m.shallDefer(mode, views, was)
	if m.offer.sent == nil {
		m.offer.sent = map[string][sha256.Size]byte{}
	}
	for _, name := range slices.Sorted(maps.Keys(views)) {
		m.publishServer(name, views[name])
	}
	if was != m.offer.deferred {
		m.tellOffer(mode, views)
		m.publishStandIns(m.offer.deferred, views)
	} else if m.offer.deferred {
		m.publishStandIns(true, views) // their description lists the servers
	}
}

// tellOffer tells the person that tools are offered in another way, where nobody asked for
// it. The caller holds offer.mu.
func (m *Manager) tellOffer(mode string, views map[string]*view) {
	if mode == "direct" || mode == "deferred" {
		return
	}
	tokens, count := m.totals(views)
	if m.offer.deferred {
		m.notify("info", "the %d tools of MCP servers (%d tokens) are found by mcp_search from now on: together they are over the limit of %d tokens or %d tools", count, tokens, m.threshold(), m.maxTools())
		return
	}
	m.notify("info", "the %d tools of MCP servers are offered directly again", count)
}

func (m *Manager) maxTools() int {
	if m.opt.MaxTools > 0 {
		return m.opt.MaxTools
	}
	return defaultMaxTools
}

func (m *Manager) publishServer(name string, v *view) {
	list, hash := toolsOf(v), v.entry.Target.Hash()
	wrapped := make([]tools.Tool, 0, len(list))
	var mark strings.Builder
	for _, info := range list {
		t := newServerTool(m, v.entry, hash, info, m.offer.deferred)
		wrapped = append(wrapped, t)
		mark.WriteString(t.spec.Wire + "\x00" + t.spec.Description + "\x00" + string(t.spec.Parameters) + string(t.spec.Check) + "\x00")
	}
	mark.WriteString(strconv.FormatBool(m.offer.deferred) + hash + strconv.FormatBool(v.entry.Trusted) + strconv.Itoa(v.entry.MaxResultTokens))
	if len(list) == 0 {
		if _, sent := m.offer.sent[name]; sent {
			m.opt.Registry.UnregisterOwner(ownerOf(name))
			delete(m.offer.sent, name)
		}
		return
	}
	fingerprint := sha256.Sum256([]byte(mark.String()))
	if m.offer.sent[name] == fingerprint {
		return
	}
	m.offer.sent[name] = fingerprint
	for _, err := range m.opt.Registry.Replace(ownerOf(name), tools.RankMCP, wrapped) {
		m.notify("warn", "MCP server %s: %v", name, err)
	}
}

// shallDefer decides between direct and deferred, with some slack on the way back.
func (m *Manager) shallDefer(mode string, views map[string]*view, was bool) bool {
	switch mode {
	case "direct":
		return false
	case "deferred":
		return true
	}
	tokens, count := m.totals(views)
	limit := m.maxTools()
	others := 0
	for _, e := range m.opt.Registry.Snapshot(m.offer.scope).List() {
		if e.Spec.Group != tools.GroupMCP && !e.Spec.Hidden && !isStandIn(e.Spec.Name) {
			others++
		}
	}
	threshold := m.threshold()
	if was {
		return tokens > threshold*backPercent/100 || count+others > limit*backPercent/100
	}
	return tokens > threshold || count+others > limit
}

// totals counts the tools that the scope allows and their price.
func (m *Manager) totals(views map[string]*view) (tokens, count int) {
	for name, v := range views {
		for _, t := range toolsOf(v) {
			spec := tools.Spec{Name: config.CanonicalName(name, t.Name), Group: tools.GroupMCP, Server: name, Needs: tools.CapMCP}
			if ok, _ := m.offer.scope.Allows(spec); ok {
				tokens += price(name, t)
				count++
			}
		}
	}
	return tokens, count
}

// threshold is the price in tokens above which tools are deferred.
func (m *Manager) threshold() int {
	window := 0
	if m.opt.Window != nil {
		window = m.opt.Window()
	}
	set := strings.TrimSpace(m.opt.DeferThreshold)
	if share, ok := strings.CutSuffix(set, "%"); ok {
		if p, err := strconv.ParseFloat(strings.TrimSpace(share), 64); err == nil && p > 0 && window > 0 {
			return int(float64(window) * p / 100)
		}
	} else if n, err := strconv.Atoi(set); err == nil && n > 0 {
		return n
	}
	return max(window*thresholdPercent/100, leastThreshold)
}
