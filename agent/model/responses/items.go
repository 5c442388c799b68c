package responses

import (
	"cmp"
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
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Input     string `json:"input"`
	Phase     string `json:"phase"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// said returns the whole text of a message.
func (o *output) said() (text string, refused bool) {
	for _, c := range o.Content {
		text += c.Text + c.Refusal
		refused = refused || c.Refusal != ""
	}
	return text, refused
}

// back returns an item as it is sent back: without an ID, which is not stored. It is "" for an item that is
// incomplete, and for reasoning that is not encrypted.
func (it *item) back() string {
	var members map[string]json.RawMessage
	if json.Unmarshal(it.raw, &members) != nil {
		return ""
	}
	delete(members, "id")
	if it.kind == "reasoning" {
		var encrypted string
		if json.Unmarshal(members["encrypted_content"], &encrypted) != nil || encrypted == "" {
			return ""
		}
		delete(members, "status")
		if _, has := members["summary"]; !has {
			members["summary"] = json.RawMessage("[]")
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	return string(out)
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
			cut := !whole || r.Finish == "length" && i == len(a.items)-1
			a.addCalls(&r, req, ids, it, at, cut)
		case searchCall:
			keep(at, it)
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
	if inner := unwrap(name, args); len(inner) > 0 {
		for _, c := range inner {
			c.ID, c.Incomplete = ids.Take(""), cut
			r.Calls = append(r.Calls, c)
		}
		return
	}
	if name == "" && strings.TrimSpace(args) == "" {
		return // empty
	}
	name, args = cmp.Or(name, model.Unnamed), endpoint.TidyArguments(args)
	r.Calls = append(r.Calls, model.Call{ID: ids.Take(it.callID), Name: name, Arguments: args, Incomplete: cut && (a.x.Finish != "length" || !json.Valid([]byte(args)))})
}

// unwrap extracts the calls from a wrapper that some models invent to make several at once.
func unwrap(name, args string) (out []model.Call) {
	if name != "multi_tool_use.parallel" && name != "multi_tool_use_parallel" && name != "parallel" {
		return nil
	}
	var w struct {
		Uses []struct {
			Name       string          `json:"recipient_name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"tool_uses"`
	}
	if json.Unmarshal([]byte(args), &w) != nil {
		return nil
	}
	for _, u := range w.Uses {
		if u.Name == "" {
			continue
		}
		p := string(u.Parameters)
		if p == "" || p == "null" {
			p = "{}"
		}
		out = append(out, model.Call{Name: strings.TrimPrefix(u.Name, "functions."), Arguments: p})
	}
	return out
}
