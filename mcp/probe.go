package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/mcp/wire"
)

// Probe is one connection to one server outside of any conversation, for the command line:
// without retries, and without registering tools.
type Probe struct {
	m       *Manager
	entry   config.Entry
	target  config.Resolved
	log     *wire.Log
	session *session
	tools   []schema.Tool
	skipped []schema.Skipped
	took    time.Duration
}

// ProbeOptions change how a probe connects and calls.
type ProbeOptions struct {
	ConnectTimeout time.Duration // 0 = the entry's
	CallTimeout    time.Duration // 0 = the entry's
	Elicitor       Elicitor      // nil declines
}

// Load reads the configuration and starts nothing.
func (m *Manager) Load() {
	m.control.Lock()
	defer m.control.Unlock()
	m.readConfig()
}

// ProbeServer connects to a configured server. For one that waits for approval it returns
// ErrNeedsApproval. A failed probe still has a report.
func (m *Manager) ProbeServer(ctx context.Context, name string, opt ProbeOptions) (*Probe, error) {
	m.mu.Lock()
	e, err := m.wants.usable(name)
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return m.probe(ctx, e, opt)
}

// ProbeTarget connects to a target that the person typed.
func (m *Manager) ProbeTarget(ctx context.Context, name string, t config.Target, opt ProbeOptions) (*Probe, error) {
	if err := config.Check(t); err != nil {
		return nil, err
	}
	e := config.NewEntry(name)
	e.Target, e.Source = t, config.Source{Scope: config.ScopeRun}
	return m.probe(ctx, e, opt)
}

func (m *Manager) probe(ctx context.Context, e config.Entry, opt ProbeOptions) (*Probe, error) {
	if opt.ConnectTimeout > 0 {
		e.ConnectTimeout = opt.ConnectTimeout
	}
	if opt.CallTimeout > 0 {
		e.CallTimeout = opt.CallTimeout
	}
	p := &Probe{m: m, entry: e, log: m.newLog(e.Name)}
	var err error
	if p.target, err = m.env.Resolve(e); err != nil {
		return nil, err
	}
	hooks := m.hooks(e)
	hooks.changed = func(listKind) {}
	hooks.elicit = asker{turn: m.asker.turn, elicitor: opt.Elicitor, notify: m.notify}.hook(e.Name)
	began := time.Now()
	if e.Target.Type == config.Stdio && e.Source.Scope == config.ScopeProject { // its files may have changed since it was looked up
		if err := m.approvals.mayStart(e); err != nil {
			return p, err
		}
	}
	d, err := dialer{host: m.host, keeper: m.keeper, rights: m.approvals.rights}.dial(ctx, e, p.target, p.log, hooks, 1)
	p.took = time.Since(began)
	if err != nil {
		return p, err
	}
	p.session, p.tools, p.skipped = d.session, d.tools, d.skipped
	return p, nil
}

// Close ends the connection and returns when it is closed completely, after at most a little
// over two seconds.
func (p *Probe) Close() {
	if p.session != nil {
		p.session.close(errDisconnected)
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		if !p.session.wait(ctx) {
			p.session.link.Kill()
			<-p.session.link.Gone()
		}
	}
	p.log.Close()
}

// ServerReport is what a server says about itself.
type ServerReport struct {
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	Protocol     string          `json:"protocol"`
	Instructions string          `json:"instructions,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
}

// ToolsReport lists a server's tools, schemas raw.
type ToolsReport struct {
	Server  ServerReport     `json:"server"`
	Tools   []schema.Tool    `json:"tools"`
	Skipped []schema.Skipped `json:"skipped"`
}

// Tools returns the list of tools that was read while connecting.
func (p *Probe) Tools() ToolsReport {
	r := ToolsReport{Server: p.server(), Tools: p.tools, Skipped: p.skipped}
	if r.Tools == nil {
		r.Tools = []schema.Tool{}
	}
	if r.Skipped == nil {
		r.Skipped = []schema.Skipped{}
	}
	return r
}

func (p *Probe) server() ServerReport {
	i := p.session.info
	return ServerReport{i.name, i.version, i.protocol, i.instructions, i.capabilities}
}

// TestReport is what `jcode mcp test` shows.
type TestReport struct {
	OK         bool             `json:"ok"`
	Name       string           `json:"name"`
	Error      string           `json:"error,omitempty"`
	Server     *ServerReport    `json:"server,omitempty"`
	ConnectMS  int64            `json:"connect_ms"`
	Tools      []string         `json:"tools,omitempty"`
	Roots      []string         `json:"roots,omitempty"` // folders that were announced to it
	Tokens     int              `json:"tokens"`
	Repairs    []schema.Skipped `json:"repairs,omitempty"`
	Stray      int              `json:"stray_lines"`
	StrayLines []string         `json:"stray,omitempty"`
	Stderr     string           `json:"stderr,omitempty"`
	Log        string           `json:"log,omitempty"`
}

// Report describes a probe, also one that failed with err.
func (p *Probe) Report(err error) TestReport {
	r := TestReport{OK: err == nil, Name: p.entry.Name, ConnectMS: p.took.Milliseconds(), Log: p.log.Path}
	r.Stray, r.StrayLines = p.log.Stray()
	for i := range r.StrayLines {
		r.StrayLines[i] = config.Scrub(r.StrayLines[i], p.target.Secrets)
	}
	if err != nil {
		r.Error = p.ErrorText(err)
		r.Stderr = config.Scrub(p.log.Tail(), config.ScrubLonger(p.target.Secrets))
		return r
	}
	s := p.server()
	r.Server, r.Repairs, r.Roots = &s, p.skipped, p.session.info.roots
	r.Tokens = priceOf(&view{entry: p.entry, state: StateConnected, tools: p.tools, info: p.session.info})
	for _, t := range p.tools {
		r.Tools = append(r.Tools, t.Name)
	}
	return r
}

// ErrorText returns the text of a failure without secrets.
func (p *Probe) ErrorText(err error) string {
	if wire.Refused(err) {
		return config.Scrub(wire.ErrorText(err), config.ScrubLonger(p.target.Secrets))
	}
	return config.Scrub(plainError(err), config.ScrubLonger(p.target.Secrets))
}

// CallReport is the outcome of a call, contents raw.
type CallReport struct {
	OK                bool            `json:"ok"`
	Text              string          `json:"text"`
	Content           json.RawMessage `json:"content,omitempty"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError"`
	Error             *CallFailure    `json:"error,omitempty"`
}

// CallFailure is why a call failed below the tool. Code is 0 if no server sent one.
type CallFailure struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Call calls a tool by its raw or wire name.
func (p *Probe) Call(ctx context.Context, tool string, args json.RawMessage) CallReport {
	for _, t := range p.tools {
		if t.Wire == tool || config.CanonicalName(p.entry.Name, t.Name) == tool {
			tool = t.Name
		}
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	raw, _, err := p.session.call(ctx, tool, args, callLimits{idle: p.entry.CallTimeout, total: p.entry.MaxCallTime}, nil)
	if err != nil {
		failure := &CallFailure{Message: p.ErrorText(err)}
		if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok {
			failure = &CallFailure{Code: refusal.Code, Message: refusal.Message, Data: refusal.Data}
		}
		return CallReport{Text: p.ErrorText(err), Error: failure}
	}
	c := converter{maxTokens: p.entry.MaxResultTokens}
	if p.m.saver.dir != "" {
		c.save, c.saveText = p.m.saver.save, p.m.saver.saveText
	}
	got := c.convert(raw)
	return CallReport{OK: !got.isError, Text: got.text, Content: got.content, StructuredContent: got.structured, IsError: got.isError}
}
