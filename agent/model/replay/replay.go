package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/internal/jsonerr"
	"jcode/internal/text"
)

// Client is a model.Client that plays a script: one line of JSON per assistant turn. The offline tour and
// tests drive the real loop with it.
type Client struct {
	name string
	opt  Options

	mu     sync.Mutex
	lines  []replayLine // not played yet
	agents bool         // a line names an agent
}

// Options say how a script is played.
type Options struct {
	// Wire translates a tool's canonical name to its wire name; false when there is no such tool. Nil means that
	// both are the same except for mcp:server:tool.
	Wire func(canonical string) (string, bool)
	// Pace is the pause after each word, so that a tour looks like a model at work. 0 means no pause.
	Pace time.Duration
}

// Turn is one line of a script.
type Turn struct {
	// Agent is the name of the sub-agent that gets the line; "" is the main conversation. In a script that names
	// no agent, lines go to whoever asks.
	Agent     string     `json:"agent,omitempty"`
	Text      string     `json:"text,omitempty"`
	Reasoning string     `json:"reasoning,omitempty"`
	Calls     []TurnCall `json:"tool_calls,omitempty"`
	Expect    *Expect    `json:"expect,omitempty"`
}

// TurnCall is a tool call of a script. Arguments are an object; a JSON string instead represents arguments
// that are not an object, as a model might write them.
type TurnCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Expect is checked against the request that a line answers.
type Expect struct {
	// ResultContains must each be part of a result of the preceding calls.
	ResultContains Strings `json:"tool_result_contains,omitempty"`
	// ToolsInclude must each be offered.
	ToolsInclude Strings `json:"tools_include,omitempty"`
}

// Strings is a JSON string, or a list of them.
type Strings []string

// UnmarshalJSON reads one string or a list.
func (s *Strings) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*s = Strings{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return errors.New("must be a string or a list of strings")
	}
	*s = list
	return nil
}

type replayLine struct {
	Turn
	number int
}

// Open reads a script from a file.
func Open(path string, opt Options) (*Client, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open script: %w", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	return New(f, path, opt)
}

// New reads a script; name appears in its errors, along with the line. Empty lines and lines that begin with
// # are skipped.
func New(r io.Reader, name string, opt Options) (*Client, error) {
	p := &Client{name: name, opt: opt}
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if body := bytes.TrimSpace(line); len(body) > 0 && body[0] != '#' {
			turn, bad := readTurn(body)
			if bad != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, number, bad)
			}
			p.lines = append(p.lines, replayLine{turn, number})
			p.agents = p.agents || turn.Agent != ""
		}
		if err == io.EOF {
			return p, nil
		}
	}
}

func readTurn(body []byte) (Turn, error) {
	var t Turn
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return t, fmt.Errorf("a turn of a script is an object with text, reasoning, tool_calls, agent and expect: %w", jsonerr.Plain(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return t, errors.New("something follows the turn's object; each turn has a line of its own")
	}
	for i, c := range t.Calls {
		if c.Name == "" {
			return t, fmt.Errorf("tool_calls[%d] has no name", i)
		}
	}
	return t, nil
}

// Left counts the turns that have not been played yet.
func (p *Client) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines)
}

// Stream plays the next turn. Titles and summaries are answered without consuming one. A
// failed expectation, and a request beyond the script, are errors of ClassReplay.
func (p *Client) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	switch req.Purpose {
	case model.PurposeTitle:
		return model.Response{Model: "replay", Finish: "stop"}, nil
	case model.PurposeSummary, model.PurposeCompaction:
		return model.Response{Model: "replay", Finish: "stop", Text: fmt.Sprintf("(A script has no summary; %d messages came before.)", len(req.Messages)), Usage: p.usage(&req, 64)}, nil
	case model.PurposeTurn:
	}
	line, err := p.take(&req)
	if err != nil {
		return model.Response{}, err
	}
	resp := model.Response{Model: "replay", Finish: "stop"}
	if err := p.speak(ctx, line.Reasoning, func(s string) { resp.Reasoning += s; emit(model.ReasoningEvent{Delta: s}) }); err != nil {
		return resp, err
	}
	if err := p.speak(ctx, line.Text, func(s string) { resp.Text += s; emit(model.TextEvent{Delta: s}) }); err != nil {
		return resp, err
	}
	ids := endpoint.NewIDs(&req)
	for i, c := range line.Calls {
		call := model.Call{ID: ids.Take(fmt.Sprintf("call_%d_%d", line.number, i)), Name: p.wire(c.Name, req.Tools), Arguments: c.text()}
		resp.Calls = append(resp.Calls, call)
		resp.Finish = "tool_calls"
		emit(model.CallEvent{Index: i, Name: call.Name, Bytes: len(call.Arguments)})
	}
	if ctx.Err() != nil {
		return resp, fmt.Errorf("play %s: %w", p.name, context.Cause(ctx))
	}
	resp.Usage = p.usage(&req, len(line.Text)+len(line.Reasoning))
	return resp, nil
}

func (p *Client) usage(req *model.Request, out int) model.Usage {
	return model.Usage{Input: model.EstimateRequest(req), Output: model.EstimateBytes(out), Estimated: true}
}

// take returns the next line after checking what it expects.
func (p *Client) take(req *model.Request) (replayLine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	speaker := req.Agent
	if !p.agents { // its lines go to whoever asks
		speaker = ""
	}
	at := slices.IndexFunc(p.lines, func(l replayLine) bool { return l.Agent == speaker })
	switch {
	case at < 0 && speaker != "":
		return replayLine{}, p.failed(0, fmt.Sprintf("the agent %q asks for a turn, but the script has no line for it: such a line says \"agent\": %q", speaker, speaker))
	case at < 0:
		return replayLine{}, p.failed(0, "the script has ended, but another turn is asked for")
	}
	line := p.lines[at]
	p.lines = slices.Delete(p.lines, at, at+1)
	if line.Expect == nil {
		return line, nil
	}
	results := lastResults(req)
	for _, want := range line.Expect.ResultContains {
		if !strings.Contains(strings.Join(results, "\x00"), want) {
			return line, p.failed(line.number, fmt.Sprintf("expected a tool result that contains %q, but %s", want, describe(results)))
		}
	}
	for _, want := range line.Expect.ToolsInclude {
		if !offers(req.Tools, p.wire(want, req.Tools)) {
			return line, p.failed(line.number, fmt.Sprintf("expected the tool %q on offer; there are %s", want, toolList(req.Tools)))
		}
	}
	return line, nil
}

func (p *Client) failed(number int, what string) error {
	where := p.name
	if number > 0 {
		where = fmt.Sprintf("%s:%d", p.name, number)
	}
	return &model.Error{Class: model.ClassReplay, Text: where + ": " + what, ToolIndex: -1}
}

// lastResults returns the tool results at the end of a request.
func lastResults(req *model.Request) []string {
	var out []string
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != model.RoleAssistant; i-- {
		if req.Messages[i].Role == model.RoleTool {
			out = append([]string{req.Messages[i].Text}, out...)
		}
	}
	return out
}

func describe(results []string) string {
	if len(results) == 0 {
		return "there is none"
	}
	for i, r := range results {
		r, _ = text.CutMark(r, 300, "…")
		results[i] = fmt.Sprintf("%q", r)
	}
	return "it is " + strings.Join(results, " and ")
}

func toolList(tools []model.Tool) string {
	names := make([]string, len(tools))
	for i := range tools {
		names[i] = tools[i].Name
	}
	return strings.Join(names, ", ")
}

func offers(tools []model.Tool, wire string) bool {
	return slices.ContainsFunc(tools, func(t model.Tool) bool { return t.Name == wire })
}

// wire returns the wire name of a tool that a script names by either name.
func (p *Client) wire(name string, tools []model.Tool) string {
	if offers(tools, name) {
		return name
	}
	if p.opt.Wire != nil {
		if w, ok := p.opt.Wire(name); ok {
			return w
		}
	}
	if server, ok := strings.CutPrefix(name, "mcp:"); ok {
		return model.SafeName("mcp__" + strings.Replace(server, ":", "__", 1))
	}
	return name
}

// speak emits text word by word.
func (p *Client) speak(ctx context.Context, s string, say func(string)) error {
	for s != "" {
		if ctx.Err() != nil {
			return fmt.Errorf("play %s: %w", p.name, context.Cause(ctx))
		}
		n := wordEnd(s)
		say(s[:n])
		s = s[n:]
		if p.opt.Pace > 0 && !endpoint.Sleep(ctx, p.opt.Pace) {
			return fmt.Errorf("play %s: %w", p.name, context.Cause(ctx))
		}
	}
	return nil
}

// wordEnd returns the length of the first word including the white space after it.
func wordEnd(s string) int {
	word := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	if word < 0 {
		return len(s)
	}
	end := strings.IndexFunc(s[word:], unicode.IsSpace)
	if end < 0 {
		return len(s)
	}
	end += word
	next := strings.IndexFunc(s[end:], func(r rune) bool { return !unicode.IsSpace(r) })
	if next < 0 {
		return len(s)
	}
	return end + next
}

// text returns the arguments as a model would write them.
func (c TurnCall) text() string {
	var s string
	if json.Unmarshal(c.Arguments, &s) == nil && len(c.Arguments) > 0 {
		return s // also null, which is not a valid set of arguments
	}
	if len(c.Arguments) == 0 {
		return "{}"
	}
	return string(c.Arguments)
}
