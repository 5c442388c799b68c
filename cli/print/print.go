package printcli

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

// Printer writes what happens in a conversation to the streams of a headless run.
type Printer interface {
	// begin is called with a description of the run before anything happens.
	Begin(init Init)
	// event shows one event.
	Event(ev event.Event)
	// end closes the output with the result.
	End(res Result)
}

// New returns the printer for an output format.
func New(format string, std console.Streams) (Printer, *bufio.Writer) {
	out := bufio.NewWriterSize(std.Out, 64<<10)
	switch format {
	case "json":
		return &jsonPrinter{out: out, notices: std.Err}, out
	case "stream-json":
		return &streamPrinter{jsonPrinter: jsonPrinter{out: out, notices: std.Err}}, out
	}
	return &TextPrinter{out: out, notices: std.Err, live: std.OutIsTerminal}, out
}

// The lines of stream-json; Result is also the one object of json.
type (
	Init struct {
		Type       string     `json:"type"`
		SessionID  string     `json:"session_id"`
		Model      string     `json:"model"`
		Cwd        string     `json:"cwd"`
		Role       string     `json:"role"`
		Mode       tools.Mode `json:"mode"`
		Tools      []string   `json:"tools"`
		MCPServers []Server   `json:"mcp_servers"`
	}
	Server struct {
		Name  string `json:"name"`
		State string `json:"state"`
	}
	Result struct {
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
		Agents     []Agent         `json:"agents,omitempty"`
		// Prompts are the IDs of the prompts that it is the answer to, where they come as lines.
		Prompts []string `json:"prompt_ids,omitempty"`
	}
	// Agent sums up a sub-agent.
	Agent struct {
		Name      string        `json:"name"`
		SessionID string        `json:"session_id"`
		Status    roster.Status `json:"status"`
		Tokens    int           `json:"tokens"`
		CostUSD   float64       `json:"cost_usd"`
		Worktree  string        `json:"worktree,omitempty"`
	}
)

// TextPrinter writes the answer to stdout and everything else to stderr: to a terminal as it arrives, to a
// pipe or file when it is complete, since an answer that is cut off and starts over cannot be withdrawn
// there.
type TextPrinter struct {
	out     *bufio.Writer
	notices io.Writer
	live    bool
	shown   strings.Builder // of the current answer: already written if live, otherwise pending
}

func (p *TextPrinter) Begin(Init) {}

func (p *TextPrinter) Event(ev event.Event) {
	switch ev := ev.(type) {
	case event.TextDelta:
		p.shown.WriteString(ev.Text)
		if p.live {
			p.Write(ev.Text)
		}
	case event.AnswerReset:
		if p.live && p.shown.Len() > 0 {
			fmt.Fprintf(p.notices, "jcode: the answer starts over: %s\n", ev.Reason)
			p.Write("\n")
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
		p.Write(rest)
		p.Close(ev.Text)
	default:
		noticeText(p.notices, ev)
	}
}

// Close ends the answer's last line.
func (p *TextPrinter) Close(answer string) {
	if answer != "" && !strings.HasSuffix(answer, "\n") {
		p.Write("\n")
	}
	p.shown.Reset()
}

func (p *TextPrinter) Write(s string) {
	p.out.WriteString(s) //nolint:errcheck // the error sticks and comes with Flush
	p.out.Flush()        //nolint:errcheck // checked at the end
}

func (p *TextPrinter) End(res Result) {
	if !p.live && p.shown.Len() > 0 {
		p.Write(p.shown.String()) // never completed, but it arrived
	}
	p.Close(p.shown.String())
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

func (p *jsonPrinter) Begin(Init)           {}
func (p *jsonPrinter) Event(ev event.Event) { noticeText(p.notices, ev) }
func (p *jsonPrinter) End(res Result) {
	WriteJSON(p.out, res)
	if res.Error != "" {
		fmt.Fprintln(p.notices, "jcode: "+res.Error)
	}
}

// streamPrinter writes one object per line as things happen, the last one as jsonPrinter does.
type streamPrinter struct {
	jsonPrinter
	calls map[string]json.RawMessage // arguments of the calls that run, by ID
}

func (p *streamPrinter) Begin(init Init) {
	init.Type = "init"
	WriteJSON(p.out, init)
}

func (p *streamPrinter) Event(ev event.Event) {
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

// WriteJSON writes v as one line: nothing in it can end the line.
func WriteJSON(out *bufio.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = wire.Encode(&wire.Notice{Head: wire.Head{Type: "notice"}, Level: event.LevelError, Message: "encode: " + err.Error()})
	}
	console.WriteLine(out, text.JSONLine(b))
}

// Run sends a prompt, prints until the turn ends, and returns the error whose exit code says how it
// ended. sub was created before anything could be said that must be seen.
func Run(ctx context.Context, conv *agent.Conversation, sub *event.Subscription, p event.Prompt, want *Wanted, pr Printer, out *bufio.Writer, init Init) error {
	started, before := time.Now(), conv.Usage().Total
	conv.Prompt(p)
	stop := context.AfterFunc(ctx, func() { conv.Interrupt() })
	defer stop()
	var usage model.Usage
	var awaited Agents
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
				pr.Begin(init)
				for _, e := range early {
					pr.Event(e)
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
			usage = Since(before, ev.Total)
		case event.Nested:
			awaited.Saw(ev)
		}
		end, ok := ev.(event.TurnEnd)
		if !ok {
			pr.Event(ev)
			continue
		}
		res := Result{
			Type: "result", OK: end.Reason == event.StopDone, Text: end.Text, Error: end.Error,
			SessionID: conv.ID(), Steps: steps + end.Steps, DurationMS: time.Since(started).Milliseconds(), Usage: usage,
		}
		switch why := end.Unanswered(); {
		case end.Reason == event.StopInterrupted:
			res.Error = "interrupted"
		case why != "":
			res.OK, res.Error = false, why
		}
		again, failed := want.Settle(end, &res)
		if again != "" {
			steps += end.Steps
			conv.Prompt(want.Repeat(again))
			continue
		}
		res.Agents = awaited.Lines
		for _, s := range conv.Agents().List() {
			res.Agents = append(res.Agents, AgentOf(s))
		}
		pr.End(res)
		if err := out.Flush(); err != nil {
			return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("write answer: %w", err)}
		}
		if failed != nil {
			return failed
		}
		return EndError(end)
	}
}

// Since returns what was used between two counts.
func Since(before, now model.Usage) model.Usage {
	now.Input -= before.Input
	now.Output -= before.Output
	now.Cached -= before.Cached
	now.Written -= before.Written
	now.Searches -= before.Searches
	return now
}
