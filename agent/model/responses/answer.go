package responses

import (
	"encoding/json"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// answer assembles one answer from the events of a stream, and reports what arrives.
type answer struct {
	say   *endpoint.Speaker
	x     *endpoint.Exchange
	event event
	seen  []uint64 // sequence numbers, one bit each

	model   string
	items   []*item // in the order of their indices
	usage   model.Usage
	counted bool
	ended   bool
	said    int // bytes of all deltas
	calls   int
}

func newAnswer(say *endpoint.Speaker, x *endpoint.Exchange) *answer { return &answer{say: say, x: x} }

// event holds the fields that are read of every event.
type event struct {
	Type     string          `json:"type"`
	Sequence *int            `json:"sequence_number"`
	Index    int             `json:"output_index"`
	ItemID   string          `json:"item_id"`
	Summary  int             `json:"summary_index"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response json.RawMessage `json:"response"`
}

// take processes one event. Events of unknown types are skipped.
func (a *answer) take(data []byte) error {
	ev := &a.event
	*ev = event{}
	if err := json.Unmarshal(data, ev); err != nil || ev.Type == "" {
		var e struct {
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(data, &e) == nil && len(e.Error) > 0 {
			return a.x.Faulted(data)
		}
		a.x.Junk(data)
		return nil
	}
	if a.said > endpoint.MaxAnswer {
		return endpoint.ErrTooLarge
	}
	if ev.Type != "error" && a.repeated(ev.Sequence) {
		return nil
	}
	a.x.Silent.Heard(!strings.HasSuffix(ev.Type, ".in_progress") && ev.Type != "response.queued" && ev.Type != "keepalive")
	switch openai.ResponseStreamEventType(ev.Type) {
	case openai.ResponseStreamEventError:
		return a.x.Faulted(data)
	case openai.ResponseStreamEventCreated, openai.ResponseStreamEventInProgress, openai.ResponseStreamEventQueued:
		a.x.Started = true
	case openai.ResponseStreamEventOutputItemAdded:
		a.open(ev.Index, ev.Item)
	case openai.ResponseStreamEventOutputItemDone:
		a.close(ev.Index, ev.Item)
	case openai.ResponseStreamEventOutputTextDelta, openai.ResponseStreamEventRefusalDelta:
		a.text(a.at(ev, "message"), ev.Delta, ev.Type)
	case openai.ResponseStreamEventReasoningSummaryTextDelta, openai.ResponseStreamEventReasoningTextDelta:
		a.thought(a.at(ev, "reasoning"), ev.Summary, ev.Delta)
	case openai.ResponseStreamEventFunctionArgumentsDelta:
		a.arguments(a.at(ev, "function_call"), ev.Delta)
	case openai.ResponseStreamEventCustomToolInputDelta:
		a.arguments(a.at(ev, "custom_tool_call"), ev.Delta)
	case openai.ResponseStreamEventCompleted, openai.ResponseStreamEventIncomplete, openai.ResponseStreamEventFailed:
		return a.end(ev.Response)
	}
	return nil
}

// repeated reports whether an event with this sequence number has already arrived.
func (a *answer) repeated(n *int) bool {
	const most = 1 << 22
	if n == nil || *n < 0 || *n > most {
		return false
	}
	word, bit := *n/64, uint64(1)<<(*n%64)
	for len(a.seen) <= word {
		a.seen = append(a.seen, 0)
	}
	if a.seen[word]&bit != 0 && *n > 0 { // servers that do not count send 0
		return true
	}
	a.seen[word] |= bit
	return false
}

// open begins an item.
func (a *answer) open(index int, raw json.RawMessage) {
	a.x.Started = true
	o := outputOf(raw)
	if o.Type == "" {
		return
	}
	it := a.begun(index, &o)
	if it.text.Len()+it.thought.Len() == 0 {
		it.kind = o.Type
	}
	it.take(&o)
	if isCall(it.kind) && !it.done {
		a.say.Say(model.CallEvent{Index: it.call, Name: it.name, Bytes: it.text.Len()})
	}
}

func isCall(kind string) bool { return kind == "function_call" || kind == "custom_tool_call" }

// close ends an item with its complete form: deltas may have been lost or repeated.
func (a *answer) close(index int, raw json.RawMessage) {
	if o := outputOf(raw); o.Type != "" {
		a.complete(a.finished(index, &o), &o, raw)
	}
}

// complete sets an item to its final form.
func (a *answer) complete(it *item, o *output, raw json.RawMessage) {
	if it.done {
		return
	}
	it.done, it.kind, it.raw = true, o.Type, slices.Clone(raw)
	it.take(o)
	switch it.kind {
	case "message":
		text, refused := o.said()
		it.refused = it.refused || refused
		a.settle(it, text)
	case "reasoning":
		if it.thought.Len() == 0 {
			for i, s := range o.Summary {
				a.thought(it, i, s.Text)
			}
			for i, c := range o.Content {
				if len(o.Summary) == 0 {
					a.thought(it, i, c.Text)
				}
			}
		}
	case "function_call":
		a.whole(it, o.Arguments)
	case "custom_tool_call":
		a.whole(it, o.Input)
	default:
		if line := ranThere(it.kind, raw); line != "" {
			a.say.Say(model.NoticeEvent{Text: line})
		}
	}
}

// settle sets a message's text to its final form.
func (a *answer) settle(it *item, text string) {
	had := it.text.String()
	switch {
	case text == "" || text == had:
	case strings.HasPrefix(text, had):
		a.text(it, text[len(had):], "")
	default:
		it.text.Reset()
		it.text.WriteString(text)
		a.say.Void("the provider corrected its answer")
		for _, other := range a.items {
			if other.kind == "message" && other.text.Len() > 0 {
				a.say.Say(model.TextEvent{Delta: other.text.String()})
			}
		}
	}
}

// whole sets a call's arguments to their final form.
func (a *answer) whole(it *item, args string) {
	if args != "" && args != it.text.String() {
		it.text.Reset()
		it.text.WriteString(args)
	}
	a.say.Say(model.CallEvent{Index: it.call, Name: it.name, Bytes: it.text.Len()})
}

func (a *answer) text(it *item, s, kind string) {
	it.refused = it.refused || kind == string(openai.ResponseStreamEventRefusalDelta)
	if s == "" || it.done && kind != "" {
		return
	}
	a.said += len(s)
	it.text.WriteString(s)
	a.say.Say(model.TextEvent{Delta: s})
}

// thought adds a piece of a summary; a new part begins a new paragraph.
func (a *answer) thought(it *item, part int, s string) {
	if s == "" {
		return
	}
	if it.parts == nil {
		it.parts = map[int]bool{}
	}
	if !it.parts[part] && it.thought.Len() > 0 {
		s = "\n\n" + s
	}
	it.parts[part] = true
	a.said += len(s)
	it.thought.WriteString(s)
	a.say.Say(model.ReasoningEvent{Delta: s})
}

func (a *answer) arguments(it *item, s string) {
	if it.done {
		return
	}
	a.said += len(s)
	it.text.WriteString(s)
	a.say.Say(model.CallEvent{Index: it.call, Name: it.name, Bytes: it.text.Len()})
}

// end takes the complete response that ends a stream.
func (a *answer) end(raw json.RawMessage) error {
	var r struct {
		Model  string                            `json:"model"`
		Status openai.ResponseStatus             `json:"status"`
		Error  json.RawMessage                   `json:"error"`
		Why    *openai.ResponseIncompleteDetails `json:"incomplete_details"`
		Output []json.RawMessage                 `json:"output"`
		Usage  *responseUsage                    `json:"usage"`
		Tier   string                            `json:"service_tier"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		a.x.Junk(raw)
		return nil
	}
	a.x.Started, a.model = true, r.Model
	if r.Usage != nil {
		a.usage, a.counted = r.Usage.usage(), true
		if r.Tier != "default" && r.Tier != "auto" {
			a.usage.Tier = r.Tier
		}
	}
	if len(r.Error) > 0 && string(r.Error) != "null" || r.Status == "failed" || r.Status == "cancelled" {
		return a.x.Faulted(raw)
	}
	a.final(r.Output)
	reason := "stop"
	if r.Why != nil {
		reason = r.Why.Reason
	}
	a.x.Finished(reason)
	a.ended = true
	return nil
}

// responseUsage holds the counts of an answer; go-openai's type lacks the price.
type responseUsage struct {
	openai.ResponseUsage
	Ticks float64 `json:"cost_in_usd_ticks"`
}

func (u *responseUsage) usage() model.Usage {
	out := model.Usage{Input: u.InputTokens, Output: max(u.OutputTokens, u.TotalTokens-u.InputTokens), Cost: u.Ticks * 1e-10}
	if d := u.InputTokensDetails; d != nil {
		out.Cached, out.Written = d.CachedTokens, d.CacheWriteTokens
	}
	if sent := out.Cached + out.Written; sent > out.Input {
		out.Input += sent
	}
	return out
}
