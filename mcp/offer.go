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

// DefaultMaxTools is how many tools a request contains at most unless Options.MaxTools says otherwise.
const DefaultMaxTools = 128

const (
	leastThreshold   = 8_000
	thresholdPercent = 10
	// backPercent is the percentage of the threshold below which tools are no longer deferred.
	backPercent = 80
)

// offer decides how the servers' tools are offered: directly, or deferred behind three tools
// that find, describe and call them.
type offer struct {
	registry *tools.Registry
	notify   func(level, format string, args ...any)
	// running returns all views; ok is false when the manager is closed.
	running func() (views map[string]*view, ok bool)
	// wrap adapts a server's tool.
	wrap      func(e config.Entry, hash string, info schema.Tool, hidden bool) serverTool
	maxTools  int
	threshold func() int // the price in tokens above which tools are deferred
	standIns  standIns

	mu       sync.Mutex // serialises publishing
	mode     string     // auto (also ""), direct or deferred
	scope    *tools.Scope
	deferred bool
	sent     map[string][sha256.Size]byte // server → hash of what was published, to skip repeats
	said     string                       // the description under which the stand-ins are offered
}

func newOffer(m *Manager) *offer {
	o := &offer{
		registry: m.opt.Registry, notify: m.notify, running: m.running, maxTools: m.opt.MaxTools,
		wrap: func(e config.Entry, hash string, info schema.Tool, hidden bool) serverTool {
			return newServerTool(m, e, hash, info, hidden)
		},
		threshold: func() int { return threshold(m.opt) },
		standIns:  standIns{running: m.running},
		mode:      m.opt.Tools, deferred: m.opt.Tools == "deferred", sent: map[string][sha256.Size]byte{},
	}
	if o.maxTools <= 0 {
		o.maxTools = DefaultMaxTools
	}
	return o
}

// SetScope sets the scope of the conversation, on which the choice between direct and deferred
// depends.
func (m *Manager) SetScope(s *tools.Scope) {
	m.offer.mu.Lock()
	m.offer.scope = s
	m.offer.mu.Unlock()
	m.offer.publish(nil, nil)
}

// SetToolsMode switches between auto, direct and deferred.
func (m *Manager) SetToolsMode(mode string) error {
	switch mode {
	case "auto", "direct", "deferred":
	default:
		return tools.Errorf(tools.KindInvalidArgs, "unknown mode %q: use auto, direct or deferred", mode)
	}
	m.offer.mu.Lock()
	m.offer.mode = mode
	m.offer.mu.Unlock()
	m.offer.publish(nil, nil)
	return nil
}

// totals describes how the tools are offered and what they cost.
type totals struct {
	Tools     int    `json:"total_tools"`
	Tokens    int    `json:"total_tokens"`
	Mode      string `json:"mode"` // direct or deferred
	Threshold int    `json:"threshold"`
}

// totals sums up what the connected servers offer in the scope in force.
func (o *offer) totals() totals {
	o.mu.Lock()
	defer o.mu.Unlock()
	views, _ := o.running()
	t := totals{Mode: "direct", Threshold: o.threshold()}
	t.Tokens, t.Tools = o.sum(views)
	if o.deferred {
		t.Mode = "deferred"
	}
	return t
}

// toolsOf returns the tools of a view that its entry allows.
func toolsOf(v *view) []schema.Tool {
	if v.state != StateConnected && v.state != StateReconnecting {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.tools), func(t schema.Tool) bool { return !v.entry.AllowsTool(t.Name) })
}

// price returns the tokens of a tool's definition as it is sent.
func price(server string, t schema.Tool) int {
	return (len(t.Wire) + len(describeTool(server, t)) + len(t.Sent.Schema) + 40) / bytesPerToken
}

// publish registers the tools of the connected servers, deferred or not. The new view of an
// actor is passed in, because it is stored only afterwards.
func (o *offer) publish(a *actor, fresh *view) {
	o.mu.Lock()
	defer o.mu.Unlock()
	views, ok := o.running()
	if a != nil {
		views[a.name] = fresh
		defer a.view.Store(fresh)
	}
	if !ok {
		return
	}
	was := o.deferred
	o.deferred = o.shallDefer(views, was)
	for _, name := range slices.Sorted(maps.Keys(views)) {
		o.publishServer(name, views[name])
	}
	if was != o.deferred {
		o.tell(views)
	}
	if was || o.deferred {
		o.publishStandIns(o.deferred, views) // also for a change of the servers that they list
	}
}

// tell notifies the person of an automatic change between direct and deferred. The caller holds
// mu.
func (o *offer) tell(views map[string]*view) {
	if o.mode == "direct" || o.mode == "deferred" {
		return
	}
	tokens, count := o.sum(views)
	if o.deferred {
		o.notify("info", "the %d tools of MCP servers (%d tokens) are found by mcp_search from now on: together they are over the limit of %d tokens or %d tools", count, tokens, o.threshold(), o.maxTools)
		return
	}
	o.notify("info", "the %d tools of MCP servers are offered directly again", count)
}

func (o *offer) publishServer(name string, v *view) {
	list, hash := toolsOf(v), v.entry.Target.Hash()
	wrapped := make([]tools.Tool, 0, len(list))
	var mark strings.Builder
	for _, info := range list {
		t := o.wrap(v.entry, hash, info, o.deferred)
		wrapped = append(wrapped, t)
		mark.WriteString(t.spec.Wire + "\x00" + t.spec.Description + "\x00" + string(t.spec.Parameters) + string(t.spec.Check) + "\x00")
	}
	mark.WriteString(strconv.FormatBool(o.deferred) + hash + strconv.FormatBool(v.entry.Trusted) + strconv.Itoa(v.entry.MaxResultTokens))
	if len(list) == 0 {
		if _, sent := o.sent[name]; sent {
			o.registry.UnregisterOwner(ownerOf(name))
			delete(o.sent, name)
		}
		return
	}
	fingerprint := sha256.Sum256([]byte(mark.String()))
	if o.sent[name] == fingerprint {
		return
	}
	o.sent[name] = fingerprint
	for _, err := range o.registry.Replace(ownerOf(name), tools.RankMCP, wrapped) {
		o.notify("warn", "MCP server %s: %v", name, err)
	}
}

// shallDefer decides between direct and deferred, with hysteresis on the way back.
func (o *offer) shallDefer(views map[string]*view, was bool) bool {
	switch o.mode {
	case "direct":
		return false
	case "deferred":
		return true
	}
	tokens, count := o.sum(views)
	limit := o.maxTools
	others := 0
	for _, e := range o.registry.Snapshot(o.scope).List() {
		if e.Spec.Group != tools.GroupMCP && !e.Spec.Hidden && !isStandIn(e.Spec.Name) {
			others++
		}
	}
	threshold := o.threshold()
	if was {
		return tokens > threshold*backPercent/100 || count+others > limit*backPercent/100
	}
	return tokens > threshold || count+others > limit
}

// sum counts the tools that the scope allows and their price.
func (o *offer) sum(views map[string]*view) (tokens, count int) {
	list := allowed(views, o.scope)
	for _, f := range list {
		tokens += price(f.server, f.info)
	}
	return tokens, len(list)
}

// threshold returns the price in tokens above which tools are deferred.
func threshold(opt Options) int {
	window := 0
	if opt.Window != nil {
		window = opt.Window()
	}
	set := strings.TrimSpace(opt.DeferThreshold)
	if share, ok := strings.CutSuffix(set, "%"); ok {
		if p, err := strconv.ParseFloat(strings.TrimSpace(share), 64); err == nil && p > 0 && window > 0 {
			return int(float64(window) * p / 100)
		}
	} else if n, err := strconv.Atoi(set); err == nil && n > 0 {
		return n
	}
	return max(window*thresholdPercent/100, leastThreshold)
}
