package telemetry

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/otlp"
	"jcode/tools"
)

// maxContent is how much of one prompt, answer or result is sent.
const maxContent = 32 << 10

// recorder makes the spans of one agent: the person's, or a sub-agent. It belongs to one goroutine.
type recorder struct {
	t       *Tracer
	session string // of a sub-agent, "" for the person's
	name    string // of a sub-agent
	model   string
	agents  map[string]*recorder // by session

	at       otlp.Parent // the turn; the zero value while none runs
	parent   otlp.SpanID
	began    time.Time
	id       string // the session's
	prompt   string
	used     model.Usage // of the turn
	cost     float64     // of the turn
	spent    float64     // of the session, as was said last
	whole    float64     // of the session and its sub-agents, as was measured
	lastTurn otlp.Parent // the turn that ended last: an agent in the background may outlive it

	step  request
	calls map[string]call
}

// request is a request to a model that runs.
type request struct {
	began time.Time // the zero value for none
	n     int
	said  string
	calls int
}

// call is a call that runs.
type call struct {
	name, arguments string
	began           time.Time
}

// record follows an event. id is the session of the conversation.
func (r *recorder) record(ev event.Event, id string) {
	switch ev := ev.(type) {
	case event.StateChanged:
		r.model = ev.State.Model
	case event.TurnStart:
		r.begin(ev, id)
	case event.StepStart:
		r.step = request{began: time.Now(), n: ev.Step}
	case event.AssistantMessage:
		r.step.said, r.step.calls = ev.Text, ev.Calls
	case event.Usage:
		if !ev.Beside {
			r.answered(ev)
		}
	case event.CallStart:
		r.calls[ev.ID] = call{ev.Name, string(ev.Arguments), ev.At}
	case event.CallEnd:
		r.called(ev)
	case event.TurnEnd:
		r.end(ev)
	case event.Nested:
		r.nested(ev)
	}
}

func (r *recorder) begin(ev event.TurnStart, id string) {
	if r.session == "" {
		r.at, r.parent = r.t.turnOf(ev)
	} else {
		r.at.Span = r.at.Trace.Span("turn", r.session, strconv.FormatInt(ev.Seq, 10))
		r.t.below(r.session, r.at)
	}
	r.id, r.began, r.prompt, r.calls, r.used, r.cost, r.step = id, ev.At, ev.Prompt, map[string]call{}, model.Usage{}, 0, request{}
}

// runs reports whether a turn does: what comes before the first one that was seen is nobody's.
func (r *recorder) runs() bool { return !r.began.IsZero() }

// nested follows an event of a sub-agent, whose turns are below the call that started it.
func (r *recorder) nested(ev event.Nested) {
	child := r.agents[ev.Session]
	if child == nil {
		at := r.at
		if !r.runs() {
			at = r.lastTurn
		}
		if at == (otlp.Parent{}) {
			return
		}
		child = &recorder{
			t: r.t, session: ev.Session, name: ev.Label, model: r.model, agents: map[string]*recorder{},
			at: at, parent: callSpan(at.Trace, r.session, ev.CallID),
		}
		r.agents[ev.Session] = child
	}
	before := child.whole
	child.record(ev.Event, ev.Session)
	r.spent, r.whole = r.spent+child.whole-before, r.whole+child.whole-before // the conversation's costs have them too
	if _, ended := ev.Event.(event.TurnEnd); ended && ev.Agent == "" {
		delete(r.agents, ev.Session) // one that runs inside its call has one turn
		r.t.over(ev.Session)
	}
}

// common returns the attributes that all spans of the agent have.
func (r *recorder) common(operation string) []otlp.Attr {
	attrs := []otlp.Attr{otlp.String("gen_ai.operation.name", operation)}
	if r.id != "" {
		attrs = append(attrs, otlp.String("gen_ai.conversation.id", r.id))
	}
	return append(attrs, r.models()...)
}

// models names the model and who provides it.
func (r *recorder) models() (attrs []otlp.Attr) {
	provider, name := names(r.model)
	if provider != "" {
		attrs = append(attrs, otlp.String("gen_ai.provider.name", provider))
	}
	if name != "" {
		attrs = append(attrs, otlp.String("gen_ai.request.model", name))
	}
	return attrs
}

// names takes a model's name apart. Of a script that plays one, the folder is nobody's business.
func names(whole string) (provider, name string) {
	if script, ok := strings.CutPrefix(whole, "replay:"); ok {
		return "replay", filepath.Base(script)
	}
	provider, name, ok := strings.Cut(whole, "/")
	if !ok {
		return "", whole
	}
	return provider, name
}

func tokens(u model.Usage) []otlp.Attr {
	attrs := []otlp.Attr{otlp.Int("gen_ai.usage.input_tokens", u.Input), otlp.Int("gen_ai.usage.output_tokens", u.Output)}
	if u.Cached > 0 {
		attrs = append(attrs, otlp.Int("gen_ai.usage.cache_read.input_tokens", u.Cached))
	}
	if u.Written > 0 {
		attrs = append(attrs, otlp.Int("gen_ai.usage.cache_creation.input_tokens", u.Written))
	}
	return attrs
}

// answered ends a request to the model.
func (r *recorder) answered(ev event.Usage) {
	cost := max(0, ev.Cost-r.spent)
	r.spent = ev.Cost
	if !r.runs() || r.step.began.IsZero() {
		return
	}
	r.used = r.used.Plus(ev.Step)
	attrs := append(r.common("chat"), tokens(ev.Step)...)
	if ev.Priced {
		r.cost, r.whole = r.cost+cost, r.whole+cost
		attrs = append(attrs, otlp.Float("jcode.cost.usd", cost))
		r.t.out.Measure(costs(), cost, r.models()...)
	}
	finish := "stop"
	if r.step.calls > 0 {
		finish = "tool_calls"
	}
	attrs = append(attrs, otlp.Strings("gen_ai.response.finish_reasons", finish))
	if r.t.content {
		attrs = append(attrs, messages("gen_ai.output.messages", "assistant", r.step.said))
	}
	for kind, n := range map[string]int{"input": ev.Step.Input, "output": ev.Step.Output} {
		r.t.out.Measure(tokenUsage(), float64(n), append(r.labels("chat"), otlp.String("gen_ai.token.type", kind))...)
	}
	r.request(attrs, "", "")
}

// request ends the span of a request.
func (r *recorder) request(attrs []otlp.Attr, kind, fault string) {
	_, name := names(r.model)
	name = strings.TrimRight("chat "+name, " ")
	s := otlp.Span{
		Trace: r.at.Trace, ID: r.at.Trace.Span("chat", r.at.Span.String(), strconv.Itoa(r.step.n)), Parent: r.at.Span,
		Name: name, Kind: otlp.Client, Start: r.step.began, End: time.Now(), Attrs: attrs,
	}
	r.finish(s, "chat", kind, fault)
	r.step = request{}
}

// called ends a call.
func (r *recorder) called(ev event.CallEnd) {
	c, ok := r.calls[ev.ID]
	delete(r.calls, ev.ID)
	if !ok || !r.runs() {
		return
	}
	attrs := []otlp.Attr{
		otlp.String("gen_ai.operation.name", "execute_tool"), otlp.String("gen_ai.tool.name", ev.Name), otlp.String("gen_ai.tool.call.id", ev.ID),
		otlp.String("gen_ai.tool.type", "function"), otlp.String("gen_ai.conversation.id", r.id),
	}
	if r.t.content {
		attrs = append(attrs, otlp.String("gen_ai.tool.call.arguments", short(c.arguments)), otlp.String("gen_ai.tool.call.result", short(ev.Result.Text)))
	}
	kind := ""
	if ev.Status != "done" || ev.Result.Failed {
		kind = cmp.Or(string(ev.Result.Kind), ev.Status)
		if kind == "done" {
			kind = "failed"
		}
	}
	s := otlp.Span{
		Trace: r.at.Trace, ID: callSpan(r.at.Trace, r.session, ev.ID), Parent: r.at.Span,
		Name: "execute_tool " + ev.Name, Kind: otlp.Internal, Start: c.began, End: time.Now(), Attrs: attrs,
	}
	r.finish(s, "execute_tool", kind, "", otlp.String("gen_ai.tool.name", ev.Name))
}

// close ends what still runs as the conversation ends.
func (r *recorder) close() {
	for _, child := range r.agents {
		child.close()
	}
	r.end(event.TurnEnd{Reason: event.StopInterrupted})
}

// end ends the turn with all that still runs in it.
func (r *recorder) end(ev event.TurnEnd) {
	if !r.runs() {
		return
	}
	kind, fault := "", ""
	switch ev.Reason {
	case event.StopError, event.StopLimit:
		kind, fault = string(ev.Reason), ev.Error
		if e := (*model.Error)(nil); errors.As(ev.Err, &e) && e.Class != "" {
			kind = string(e.Class)
		}
	case event.StopDone, event.StopInterrupted:
	}
	for id, c := range r.calls {
		r.called(event.CallEnd{ID: id, Name: c.name, Status: string(event.StopInterrupted), Result: tools.Result{Failed: true}})
	}
	if !r.step.began.IsZero() {
		r.request(r.common("chat"), cmp.Or(kind, string(ev.Reason)), fault)
	}
	name := cmp.Or(r.name, "jcode")
	attrs := append(r.common("invoke_agent"), otlp.String("gen_ai.agent.name", name), otlp.String("jcode.stop_reason", string(ev.Reason)), otlp.Int("jcode.steps", ev.Steps))
	attrs = append(attrs, tokens(r.used)...)
	if r.cost > 0 {
		attrs = append(attrs, otlp.Float("jcode.cost.usd", r.cost))
	}
	if ev.Finish != "" {
		attrs = append(attrs, otlp.Strings("gen_ai.response.finish_reasons", ev.Finish))
	}
	if r.t.content {
		attrs = append(attrs, messages("gen_ai.input.messages", "user", r.prompt), messages("gen_ai.output.messages", "assistant", ev.Text))
	}
	s := otlp.Span{
		Trace: r.at.Trace, ID: r.at.Span, Parent: r.parent,
		Name: "invoke_agent " + name, Kind: otlp.Internal, Start: r.began, End: time.Now(), Attrs: attrs,
	}
	r.finish(s, "invoke_agent", kind, fault)
	r.lastTurn, r.began = r.at, time.Time{}
}

// finish sends a span, and measures how long it took. Faults are in the words of jcode, which never hold a key, but
// may hold some of what was sent: they are content.
func (r *recorder) finish(s otlp.Span, operation, kind, fault string, labels ...otlp.Attr) {
	labels = append(r.labels(operation), labels...)
	if kind != "" {
		s.Failed = true
		if r.t.content {
			s.Fault = short(fault)
		}
		s.Attrs, labels = append(s.Attrs, otlp.String("error.type", kind)), append(labels, otlp.String("error.type", kind))
	}
	r.t.out.Add(s)
	r.t.out.Measure(durations(), s.End.Sub(s.Start).Seconds(), labels...)
}

// labels are the attributes of metrics.
func (r *recorder) labels(operation string) []otlp.Attr {
	return append([]otlp.Attr{otlp.String("gen_ai.operation.name", operation)}, r.models()...)
}

// messages returns a text as the conventions write messages.
func messages(key, role, said string) otlp.Attr {
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	b, err := json.Marshal([]any{map[string]any{"role": role, "parts": []part{{"text", short(said)}}}})
	if err != nil {
		return otlp.String(key, "")
	}
	return otlp.String(key, string(b))
}

func short(s string) string {
	if len(s) <= maxContent {
		return s
	}
	return strings.ToValidUTF8(s[:maxContent], "") + "…"
}

func tokenUsage() otlp.Metric {
	return otlp.Metric{
		Name: "gen_ai.client.token.usage", Unit: "{token}", Help: "Tokens of a request to a model.",
		Bounds: []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864},
	}
}

func durations() otlp.Metric {
	return otlp.Metric{
		Name: "gen_ai.client.operation.duration", Unit: "s", Help: "How long a turn, a request or a call took.",
		Bounds: []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
	}
}

func costs() otlp.Metric {
	return otlp.Metric{Name: "jcode.cost", Unit: "USD", Help: "What requests to models cost."}
}
