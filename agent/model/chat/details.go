package chat

import (
	"bytes"
	"encoding/json"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
)

// Kinds of opaque parts of chat completions.
const (
	opaqueDetails = "reasoning_details"  // the array of a message
	opaqueMessage = "extra_content"      // of a message
	opaqueCall    = "call.extra_content" // of the call at this place
)

// protocolChat is the name of this protocol in opaque parts.
const protocolChat = "chat"

// joinDetails joins the pieces of reasoning_details of a stream into the array that is sent back. Pieces of
// one text, which a stream splits, are joined again; everything else stays unchanged.
func joinDetails(pieces []string) string {
	var out []string
	var open map[string]json.RawMessage // the last element, while it may be continued
	for _, raw := range pieces {
		var d map[string]json.RawMessage
		if json.Unmarshal([]byte(raw), &d) != nil {
			continue
		}
		if open != nil && goesOn(open, d) {
			merge(open, d)
			if joined, err := json.Marshal(open); err == nil {
				out[len(out)-1] = string(joined)
			}
			continue
		}
		out, open = append(out, raw), d
	}
	return "[" + strings.Join(out, ",") + "]"
}

// goesOn reports whether a piece continues the element before it.
func goesOn(last, next map[string]json.RawMessage) bool {
	kind := string(next["type"])
	return (kind == `"reasoning.text"` || kind == `"reasoning.summary"`) && bytes.Equal(last["type"], next["type"]) && bytes.Equal(last["index"], next["index"])
}

// merge appends the text of a piece, and copies the fields that the element lacks.
func merge(into, piece map[string]json.RawMessage) {
	for key, v := range piece {
		var before, more string
		switch old, has := into[key]; {
		case (key == "text" || key == "summary") && has && json.Unmarshal(old, &before) == nil && json.Unmarshal(v, &more) == nil:
			into[key] = endpoint.AppendString(nil, before+more)
		case !has || string(old) == "null" || string(old) == `""`:
			into[key] = v
		}
	}
}

// backTo returns the opaque parts of a message that are sent back to an endpoint.
func backTo(m *model.Message, provider, id string) (out []model.Opaque) {
	for _, o := range m.Opaque {
		if catalogue.GoesBack(o, protocolChat, provider, id) {
			out = append(out, o)
		}
	}
	return out
}
