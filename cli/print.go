package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/event/wire"
	"jcode/agent/model"
	"jcode/agent/roster"
	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/tools"
)

// printer writes what happens in a conversation to the streams of a headless run.
type printer interface {
	// begin is called with a description of the run before anything happens.
	begin(init initLine)
	// event shows one event.
	event(ev event.Event)
	// end closes the output with the result.
	end(res resultLine)
}

// newPrinter returns the printer for an output format.
func newPrinter(format string, std Streams) (printer, *bufio.Writer) {
	out := bufio.NewWriterSize(std.Out, 64<<10)
	switch format {
	case "json":
		return &jsonPrinter{out: out, notices: std.Err}, out
	case "stream-json":
		return &streamPrinter{jsonPrinter: jsonPrinter{out: out, notices: std.Err}}, out
	}
	return &textPrinter{out: out, notices: std.Err, live: std.OutIsTerminal}, out
}

// The lines of stream-json; resultLine is also the one object of json.
type (
	initLine struct {
		Type       string       `json:"type"`
		SessionID  string       `json:"session_id"`
		Model      string       `json:"model"`
		Cwd        string       `json:"cwd"`
		Role       string       `json:"role"`
		Mode       tools.Mode   `json:"mode"`
		Tools      []string     `json:"tools"`
		MCPServers []serverLine `json:"mcp_servers"`
	}
	serverLine struct {
		Name  string `json:"name"`
		State string `json:"state"`
	}
	resultLine struct {
		Type       string      `json:"type"`
		OK         bool        `json:"ok"`
		Text       string      `json:"text"`
		Error      string      `json:"error,omitempty"`
		SessionID  string      `json:"session_id"`
		Steps      int         `json:"steps"`
		DurationMS int64       `json:"duration_ms"`
		Usage      model.Usage `json:"usage"`
		// Structured is the value of --output-schema.
		Structured json.RawMessage `json:"structured_output,omitempty"`
		Agents     []agentLine     `json:"agents,omitempty"`
		// Prompts are the IDs of the prompts that it is the answer to, where they come as lines.
		Prompts []string `json:"prompt_ids,omitempty"`
	}
	// agentLine sums up a sub-agent.
	agentLine struct {
		Name      string        `json:"name"`
		SessionID string        `json:"session_id"`
		Status    roster.Status `json:"status"`
		Tokens    int           `json:"tokens"`
		CostUSD   float64       `json:"cost_usd"`
		Worktree  string        `json:"worktree,omitempty"`
	}
)

// textPrinter writes the answer to stdout and everything else to stderr: to a terminal as it arrives, to a
// pipe or file when it is complete, since an answer that is cut off and starts over cannot be withdrawn
// there.
type textPrinter struct {
	out     *bufio.Writer
	notices io.Writer
	live    bool
	shown   strings.Builder // of the current answer: already written if live, otherwise pending
}

func (p *textPrinter) begin(initLine) {}

func (p *textPrinter) event(ev event.Event) {
	switch ev := ev.(type) {
	case event.TextDelta:
		p.shown.WriteString(ev.Text)
		if p.live {
			p.write(ev.Text)
		}
	case event.AnswerReset:
		if p.live && p.shown.Len() > 0 {
			fmt.Fprintf(p.notices, "jcode: the answer starts over: %s\n", ev.Reason)
			p.write("\n")
		}
		p.shown.Reset()
	case event.AssistantMessage:
		// What was merged away or never streamed is written now.
		rest := ev.Text
		if p.live {
			var same bool
			if rest, same = strings.CutPrefix(ev.Text, p.shown.String()); !same {
				rest = ""
			}
		}
		p.write(rest)
		p.close(ev.Text)
	default:
		noticeText(p.notices, ev)
	}
}

// close ends the answer's last line.
func (p *textPrinter) close(answer string) {
	if answer != "" && !strings.HasSuffix(answer, "\n") {
		p.write("\n")
	}
	p.shown.Reset()
}

func (p *textPrinter) write(s string) {
	p.out.WriteString(s) //nolint:errcheck // the error sticks and comes with Flush
	p.out.Flush()        //nolint:errcheck // checked at the end
}

func (p *textPrinter) end(res resultLine) {
	if !p.live && p.shown.Len() > 0 {
		p.write(p.shown.String()) // never completed, but it arrived
	}
	p.close(p.shown.String())
	if res.Error != "" {
		fmt.Fprintln(p.notices, "jcode: "+res.Error)
	}
}

// noticeText writes the events that a person at a headless run should see.
func noticeText(w io.Writer, ev event.Event) {
	switch ev := ev.(type) {
	case event.Notice:
		fmt.Fprintf(w, "jcode: %s\n", ev.Text)
	case event.ApprovalDecided:
		if !ev.Allow {
			fmt.Fprintf(w, "jcode: %s was denied (%s)\n", ev.Name, strings.TrimSpace(string(ev.By)+" "+ev.Rule))
		}
	case event.Nested:
		if below, ok := ev.Event.(event.Nested); ok {
			noticeText(w, below)
		}
		if d, ok := ev.Event.(event.ApprovalDecided); ok && !d.Allow {
			where := ""
			if ev.Dir != "" {
				where = " in its worktree " + ev.Dir
			}
			fmt.Fprintf(w, "jcode: agent %s: %s%s was denied (%s)\n", ev.Label, d.Name, where, strings.TrimSpace(string(d.By)+" "+d.Rule))
		}
	case event.Retrying:
		fmt.Fprintf(w, "jcode: try %d in %s: %s\n", ev.Attempt+1, ev.Wait.Round(time.Millisecond), ev.Reason)
	case event.Compacted:
		fmt.Fprintf(w, "jcode: compacted the history from about %d to %d tokens\n", ev.BeforeTokens, ev.AfterTokens)
	case event.ToolsChanged:
		if len(ev.Added) > 0 {
			fmt.Fprintf(w, "jcode: tools added: %s\n", strings.Join(ev.Added, ", "))
		}
		if len(ev.Removed) > 0 {
			fmt.Fprintf(w, "jcode: tools removed: %s\n", strings.Join(ev.Removed, ", "))
		}
	}
}

// jsonPrinter writes one object at the end.
type jsonPrinter struct {
	out     *bufio.Writer
	notices io.Writer
}

func (p *jsonPrinter) begin(initLine)       {}
func (p *jsonPrinter) event(ev event.Event) { noticeText(p.notices, ev) }
func (p *jsonPrinter) end(res resultLine) {
	writeLine(p.out, res)
	if res.Error != "" {
		fmt.Fprintln(p.notices, "jcode: "+res.Error)
	}
}

// streamPrinter writes one object per line as things happen, the last one as jsonPrinter does.
type streamPrinter struct {
	jsonPrinter
	calls map[string]json.RawMessage // arguments of the calls that run, by ID
}

func (p *streamPrinter) begin(init initLine) {
	init.Type = "init"
	writeLine(p.out, init)
}

func (p *streamPrinter) event(ev event.Event) {
	line := wire.Of(ev)
	if line == nil {
		return
	}
	inner := ev
	for nested, ok := inner.(event.Nested); ok; nested, ok = inner.(event.Nested) {
		inner = nested.Event
	}
	if call, ok := inner.(event.CallEnd); ok {
		if d := call.Result.Display; d.ChangedBy != "" {
			p.line(wire.Beside(line, &wire.Call{ID: call.ID, Name: call.Name, Arguments: d.RanWith(nil), ChangedBy: d.ChangedBy, From: p.calls[call.ID]}, "tool_call"))
		}
		delete(p.calls, call.ID)
	}
	p.line(line)
	switch inner := inner.(type) {
	case event.CallStart:
		if p.calls == nil {
			p.calls = map[string]json.RawMessage{} // those of agents as well: IDs differ
		}
		p.calls[inner.ID] = inner.Arguments
	case event.AnswerReset:
		p.line(wire.Beside(line, &wire.Notice{Level: event.LevelWarn, Message: "the answer starts over: " + inner.Reason}, "notice"))
	case event.Retrying:
		p.line(wire.Beside(line, &wire.Notice{Level: event.LevelWarn, Message: fmt.Sprintf("try %d in %s: %s", inner.Attempt+1, inner.Wait.Round(time.Millisecond), inner.Reason)}, "notice"))
	}
}

func (p *streamPrinter) line(line wire.Line) { console.WriteLine(p.out, wire.Encode(line)) }

// writeLine writes v as one line: nothing in it can end the line.
func writeLine(out *bufio.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = wire.Encode(&wire.Notice{Head: wire.Head{Type: "notice"}, Level: event.LevelError, Message: "encode: " + err.Error()})
	}
	console.WriteLine(out, text.JSONLine(b))
}

// runPrompt sends a prompt, prints until the turn ends, and returns the error whose exit code says how it
// ended. sub was created before anything could be said that must be seen.
func runPrompt(ctx context.Context, conv *agent.Conversation, sub *event.Subscription, p event.Prompt, want *wantedAnswer, pr printer, out *bufio.Writer, init initLine) error {
	started, before := time.Now(), conv.Usage().Total
	conv.Prompt(p)
	stop := context.AfterFunc(ctx, func() { conv.Interrupt() })
	defer stop()
	var usage model.Usage
	var awaited awaitedAgents
	steps := 0              // of the turns before
	var early []event.Event // what happened before the session had an ID
	for begun := false; ; {
		ev, ok := sub.Next(context.WithoutCancel(ctx))
		if !ok {
			return errors.New("the conversation ended without a result")
		}
		switch ev.(type) {
		case event.TurnStart, event.TurnEnd: // only the end if the prompt could not be stored
			if !begun {
				begun = true
				init.SessionID = conv.ID()
				pr.begin(init)
				for _, e := range early {
					pr.event(e)
				}
			}
		default:
			if !begun {
				early = append(early, ev)
				continue
			}
		}
		switch ev := ev.(type) {
		case event.Usage:
			usage = since(before, ev.Total)
		case event.Nested:
			awaited.saw(ev)
		}
		end, ok := ev.(event.TurnEnd)
		if !ok {
			pr.event(ev)
			continue
		}
		res := resultLine{
			Type: "result", OK: end.Reason == event.StopDone, Text: end.Text, Error: end.Error,
			SessionID: conv.ID(), Steps: steps + end.Steps, DurationMS: time.Since(started).Milliseconds(), Usage: usage,
		}
		switch why := end.Unanswered(); {
		case end.Reason == event.StopInterrupted:
			res.Error = "interrupted"
		case why != "":
			res.OK, res.Error = false, why
		}
		again, failed := want.settle(end, &res)
		if again != "" {
			steps += end.Steps
			conv.Prompt(want.repeat(again))
			continue
		}
		res.Agents = awaited.lines
		for _, s := range conv.Agents().List() {
			res.Agents = append(res.Agents, agentLine{s.Name, s.Session, s.Status, s.Tokens, s.Cost, s.Dir})
		}
		pr.end(res)
		if err := out.Flush(); err != nil {
			return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("write answer: %w", err)}
		}
		if failed != nil {
			return failed
		}
		return endError(end)
	}
}

// since returns what was used between two counts.
func since(before, now model.Usage) model.Usage {
	now.Input -= before.Input
	now.Output -= before.Output
	now.Cached -= before.Cached
	now.Written -= before.Written
	now.Searches -= before.Searches
	return now
}
