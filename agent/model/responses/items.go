package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// Kinds of opaque parts; all others are named after their item's type.
const (
	opaqueReasoning = "reasoning" // encrypted reasoning
	opaqueMessage   = "message"   // another message begins here; Raw may hold its phase
	opaqueCustom    = "custom"    // the call at this place took plain text
)

// item is an output item that is still arriving.
type item struct {
	index   int
	kind    string
	id      string
	status  string
	callID  string
	name    string
	phase   string
	text    strings.Builder // text, arguments or input
	thought strings.Builder
	raw     json.RawMessage // the item in its final form
	call    int             // its place among the calls
	parts   map[int]bool    // the parts of the summary that have begun
	refused bool
	done    bool
}

// output holds the fields that are read of an item; go-openai's type lacks some of them.
type output struct {
	Type      string
	ID        string
	CallID    string
	Name      string
	Status    string
	Arguments string
	Input     string
	Phase     string
	Content   []outputPart
	Summary   []outputPart
}

// outputPart is a part of a message, of a summary or of reasoning.
type outputPart struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// outputOf reads an item field by field: one that has another form than expected costs only itself.
func outputOf(raw json.RawMessage) (o output) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return o
	}
	for name, to := range map[string]*string{
		"type": &o.Type, "id": &o.ID, "call_id": &o.CallID, "name": &o.Name, "status": &o.Status,
		"arguments": &o.Arguments, "input": &o.Input, "phase": &o.Phase,
	} {
		_ = json.Unmarshal(members[name], to) // of another form: not there
	}
	if s := members["arguments"]; o.Arguments == "" && len(s) > 0 && s[0] == '{' { // not as text
		o.Arguments = string(s)
	}
	for name, to := range map[string]*[]outputPart{"content": &o.Content, "summary": &o.Summary} {
		var parts []json.RawMessage
		_ = json.Unmarshal(members[name], &parts)
		for _, p := range parts {
			var part outputPart
			_ = json.Unmarshal(p, &part)
			*to = append(*to, part)
		}
	}
	return o
}

// said returns the whole text of a message.
func (o *output) said() (text string, refused bool) {
	for _, c := range o.Content {
		text += c.Text + c.Refusal
		refused = refused || c.Refusal != ""
	}
	return text, refused
}

// back returns an item as it is sent back: byte for byte, but without an ID, which is not stored. It is "" for an
// item that is incomplete, and for reasoning that is not encrypted.
func (it *item) back() string {
	var members map[string]json.RawMessage
	if json.Unmarshal(it.raw, &members) != nil {
		return ""
	}
	if it.kind != "reasoning" {
		return endpoint.WithoutMembers(string(it.raw), "id")
	}
	var encrypted string
	if json.Unmarshal(members["encrypted_content"], &encrypted) != nil || encrypted == "" {
		return ""
	}
	out := endpoint.WithoutMembers(string(it.raw), "id", "status")
	if _, has := members["summary"]; !has {
		out = endpoint.WithMember(out, "summary", "[]")
	}
	return out
}

func phaseOf(raw string) string {
	var m struct {
		Phase string `json:"phase"`
	}
	_ = json.Unmarshal([]byte(raw), &m) // without one there is none
	return m.Phase
}

// response returns the answer as far as it arrived. whole says that its end was received.
func (a *answer) response(req *model.Request, whole bool) model.Response {
	r := model.Response{Finish: a.x.Finish, Model: a.model, Usage: a.usage}
	ids := endpoint.NewIDs(req)
	keep := func(at model.Opaque, it *item) {
		if at.Raw = it.back(); at.Raw != "" {
			r.Opaque = append(r.Opaque, at)
		}
	}
	messages := 0
	for i, it := range a.items {
		at := model.Opaque{Kind: it.kind, Text: len(r.Text), Calls: len(r.Calls)}
		switch it.kind {
		case "message":
			if it.text.Len() == 0 {
				continue
			}
			if messages++; it.phase != "" || messages > 1 {
				if it.phase != "" {
					at.Raw = string(endpoint.AppendString([]byte(`{"phase":`), it.phase)) + "}"
				}
				r.Opaque = append(r.Opaque, at)
			}
			r.Text += it.text.String()
			if it.refused && r.Finish == "stop" {
				r.Finish = "content_filter"
			}
		case "reasoning":
			r.Reasoning += it.thought.String()
			keep(at, it)
		case "function_call", "custom_tool_call":
			cut := !whole || r.Finish == "length" && i == len(a.items)-1 && it.status != "completed"
			a.addCalls(&r, req, ids, it, at, cut)
		case searchCall:
			keep(at, it)
			r.Usage.Summed = a.counted
			if a.counted && billed(it.raw) {
				r.Usage.Searches++
			}
		default:
			keep(at, it)
		}
	}
	if len(r.Calls) > 0 && r.Finish == "stop" {
		r.Finish = "tool_calls"
	}
	return r
}

// addCalls adds the call of an item: several if a wrapper holds them.
func (a *answer) addCalls(r *model.Response, req *model.Request, ids *endpoint.IDs, it *item, at model.Opaque, cut bool) {
	name, args := strings.TrimPrefix(it.name, "functions."), it.text.String()
	cut = cut && (a.x.Finish != "length" || it.kind == "custom_tool_call" || !json.Valid([]byte(endpoint.TidyArguments(args)))) || it.status == "incomplete"
	if it.kind == "custom_tool_call" {
		param := "input"
		if i := slices.IndexFunc(req.Tools, func(t model.Tool) bool { return t.Name == name }); i >= 0 && req.Tools[i].Freeform != "" {
			param = req.Tools[i].Freeform
		}
		b := append(endpoint.AppendString([]byte{'{'}, param), ':')
		args = string(append(endpoint.AppendString(b, args), '}'))
		at.Kind = opaqueCustom
		r.Opaque = append(r.Opaque, at)
	}
	if name == "" && strings.TrimSpace(args) == "" {
		return // empty
	}
	r.Calls = append(r.Calls, ids.Calls(req, model.Call{ID: it.callID, Name: name, Arguments: endpoint.TidyArguments(args), Incomplete: cut})...)
}
