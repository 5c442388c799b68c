package anthropic

import (
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
)

// Kinds of opaque parts that are not blocks themselves; all others are named after their block's type.
const (
	opaqueText = "text" // another text block begins here; Raw holds its citations
	opaqueCall = "call" // Raw is the caller of the call at this place
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// turn is one message as the API counts them: everything one side says in a row.
type turn struct {
	role   string
	blocks []block
}

// block is one block of content; exactly one of its fields is set.
type block struct {
	text      string
	citations string // with text
	raw       string // unchanged JSON
	kind      string // of raw
	call      *model.Call
	caller    string // with call
	image     *model.Image
	result    *model.Message
	added     *model.Tool // declared here
	again     string      // the name of a tool that is offered again
	removed   string      // the name of a tool that is removed
}

func (t *turn) hasCalls() bool {
	return slices.ContainsFunc(t.blocks, func(b block) bool { return b.call != nil })
}

func (t *turn) beginsThinking() bool {
	return len(t.blocks) > 0 && isThinking(t.blocks[0].kind)
}

func isThinking(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

// bridge replaces the user message where the API requires one.
const bridge = "Go on."

// turnsOf brings messages into the form that the API accepts: alternating sides, the user first, results at
// the beginning of their message, no empty text.
func turnsOf(req *model.Request, f *features, provider string) []turn {
	list, id := req.Messages, req.Model
	var turns []turn
	changes := changesOf(req, f)
	add := func(role string, blocks ...block) {
		if len(blocks) == 0 {
			return
		}
		if n := len(turns); n > 0 && turns[n-1].role == role && role != roleSystem {
			turns[n-1].blocks = append(turns[n-1].blocks, blocks...)
			return
		}
		if before := lastSide(turns); role == roleUser && before >= 0 && turns[before].role == roleUser {
			// What was asked before the tools were added got no answer. Each side speaks only once in a row.
			turns[before].blocks = append(turns[before].blocks, blocks...)
			return
		}
		if len(turns) == 0 && role != roleUser {
			turns = append(turns, turn{roleUser, []block{{text: bridge}}})
		}
		turns = append(turns, turn{role, blocks})
	}
	for i := range list {
		m := &list[i]
		switch m.Role {
		case model.RoleTool:
			add(roleUser, block{result: m})
		case model.RoleAssistant:
			blocks := assistantBlocks(m, f, provider, id)
			if i < len(list)-1 {
				blocks = withResults(blocks)
			}
			add(roleAssistant, blocks...)
		case model.RoleUser:
			add(roleUser, userBlocks(m, f)...)
			add(roleSystem, changes.blocks(m)...)
		}
	}
	if n := len(turns); n > 0 && turns[n-1].role == roleAssistant && !turns[n-1].pausing() {
		add(roleUser, block{text: bridge})
	}
	return turns
}

// lastSide returns the index of the last turn that is not a change of tools, or -1.
func lastSide(turns []turn) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].role != roleSystem {
			return i
		}
	}
	return -1
}

// pausing reports whether an answer ends where the provider itself continues: in the middle of a server tool.
func (t *turn) pausing() bool {
	last := t.blocks[len(t.blocks)-1]
	return last.raw != "" && !isThinking(last.kind)
}

func userBlocks(m *model.Message, f *features) (out []block) {
	text, images := model.Given(m.Text, m.Images, f.Takes)
	if strings.TrimSpace(text) != "" {
		out = append(out, block{text: text})
	}
	for i := range images {
		out = append(out, block{image: &images[i]})
	}
	return out
}

// assistantBlocks rebuilds an answer: its text and calls, with the opaque parts that may go back to this
// model in their places.
func assistantBlocks(m *model.Message, f *features, provider, id string) (out []block) {
	text, calls := 0, 0
	citations, caller := "", ""
	upTo := func(toText, toCalls int) {
		toText, toCalls = min(max(toText, text), len(m.Text)), min(max(toCalls, calls), len(m.Calls))
		if s := m.Text[text:toText]; strings.TrimSpace(s) != "" {
			out = append(out, block{text: s, citations: citations})
		}
		for i := calls; i < toCalls; i++ {
			out = append(out, block{call: &m.Calls[i], caller: caller})
			caller = ""
		}
		if toText > text {
			citations = ""
		}
		text, calls = toText, toCalls
	}
	for _, o := range m.Opaque {
		if !catalogue.GoesBack(o, Protocol, provider, id) || !f.thoughts && isThinking(o.Kind) {
			continue
		}
		upTo(o.Text, o.Calls)
		switch o.Kind {
		case opaqueText:
			citations = o.Raw
		case opaqueCall:
			caller = o.Raw
		default:
			out = append(out, block{raw: o.Raw, kind: o.Kind})
		}
	}
	upTo(len(m.Text), len(m.Calls))
	for len(out) > 0 && isThinking(out[len(out)-1].kind) { // the API does not accept an answer that ends in thinking
		out = out[:len(out)-1]
	}
	return out
}
