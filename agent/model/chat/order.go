package chat

import (
	"jcode/agent/model"
)

// What jcode says for either side if an endpoint requires alternating turns.
const (
	bridgeAnswer = "Understood."
	bridgePrompt = "Go on."
)

// alternating brings messages into the order that strict chat templates accept: a user message first, never
// two of one side in a row, and an answer between a tool's result and the next user message. Consecutive
// messages of one side are joined; where that is not possible, a short one is inserted between them. Images
// of tool results, which only a user message can hold, become a message of their own. The argument is not
// changed.
func alternating(list []model.Message) []model.Message {
	out := make([]model.Message, 0, len(list)+4)
	last := func() model.Role {
		if len(out) == 0 {
			return ""
		}
		return out[len(out)-1].Role
	}
	person := func(m model.Message) {
		switch last() {
		case model.RoleUser:
			prev := &out[len(out)-1]
			prev.Text = joined(prev.Text, m.Text)
			prev.Images = append(prev.Images[:len(prev.Images):len(prev.Images)], m.Images...)
			return
		case model.RoleTool:
			out = append(out, model.Message{Role: model.RoleAssistant, Text: bridgeAnswer})
		case model.RoleAssistant:
		}
		out = append(out, m)
	}
	for i := range list {
		m := list[i]
		switch m.Role {
		case model.RoleUser:
			person(m)
		case model.RoleAssistant:
			if m.Text == "" && len(m.Calls) == 0 {
				continue // never sent
			}
			if before := last(); before == "" || before == model.RoleAssistant {
				out = append(out, model.Message{Role: model.RoleUser, Text: bridgePrompt})
			}
			out = append(out, m)
		case model.RoleTool:
			m.Images = nil
			out = append(out, m)
			if i+1 == len(list) || list[i+1].Role != model.RoleTool {
				if shown := imagesBefore(list, i); len(shown) > 0 {
					person(model.Message{Role: model.RoleUser, Text: imagesOfResults, Images: shown})
				}
			}
		}
	}
	return out
}

// imagesBefore returns the images of the tool results that end at an index.
func imagesBefore(list []model.Message, at int) []model.Image {
	first := at
	for first > 0 && list[first-1].Role == model.RoleTool {
		first--
	}
	var out []model.Image
	for _, m := range list[first : at+1] {
		out = append(out, m.Images...)
	}
	return out
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
