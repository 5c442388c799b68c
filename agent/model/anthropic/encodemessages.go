package anthropic

import (
	"encoding/base64"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

func (e *encoder) system() {
	if strings.TrimSpace(e.req.System) == "" || !e.own("system") {
		return
	}
	e.raw(`[{"type":"text","text":`)
	e.str(e.req.System)
	e.marker(true)
	e.raw(`}]`)
}

func (e *encoder) messages() {
	if !e.own("messages") {
		return
	}
	e.raw("[")
	now, before := e.marks()
	for i := range e.turns {
		t := &e.turns[i]
		if i > 0 {
			e.raw(",")
		}
		e.raw(`{"role":"` + t.role + `","content":[`)
		for k := range t.blocks {
			if k > 0 {
				e.raw(",")
			}
			last := k == len(t.blocks)-1
			e.block(&t.blocks[k], last && (i == now || i == before))
		}
		e.raw("]}")
	}
	e.raw("]")
}

// marks returns the turns at whose last block caching ends: the newest one, and the last one of the previous
// request, so that a step always finds what the step before it wrote, however many blocks are in between.
func (e *encoder) marks() (now, before int) {
	now, before = -1, -1
	for i := len(e.turns) - 1; i >= 0; i-- {
		switch t := &e.turns[i]; {
		case t.role != roleUser:
		case now < 0:
			now = i
		default:
			return now, i
		}
	}
	return now, before
}

func (e *encoder) block(b *block, mark bool) {
	switch {
	case b.raw != "":
		e.raw(b.raw)
		return
	case b.call != nil:
		e.call(b)
	case b.image != nil:
		e.picture(b.image)
	case b.result != nil:
		e.result(b.result)
	case b.added != nil:
		e.raw(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":`)
		e.tool(b.added)
		e.raw(`}}`)
	case b.again != "":
		e.raw(`{"type":"tool_addition","tool":{"type":"tool_reference","name":`)
		e.str(b.again)
		e.raw(`}`)
	case b.removed != "":
		e.raw(`{"type":"tool_removal","tool":{"type":"tool_reference","name":`)
		e.str(b.removed)
		e.raw(`}`)
	default:
		e.raw(`{"type":"text","text":`)
		e.str(b.text)
		if b.citations != "" {
			e.raw(`,"citations":` + b.citations)
		}
	}
	e.marker(mark)
	e.raw("}")
}

func (e *encoder) call(b *block) {
	e.raw(`{"type":"tool_use","id":`)
	e.str(callID(b.call.ID))
	e.raw(`,"name":`)
	e.str(endpoint.SafeName(b.call.Name))
	e.raw(`,"input":`)
	if args := strings.TrimSpace(b.call.Arguments); args == "" {
		e.raw("{}")
	} else {
		e.raw(args)
	}
	if b.caller != "" {
		e.raw(`,"caller":` + b.caller)
	}
}

// callID returns an id of letters, digits, - and _, as the API requires. A call and its result get the same
// one.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

func (e *encoder) result(m *model.Message) {
	e.raw(`{"type":"tool_result","tool_use_id":`)
	e.str(callID(m.CallID))
	e.raw(`,"content":`)
	text, images := model.Given(m.Text, m.Images, e.f.Takes)
	if strings.TrimSpace(text) == "" && len(images) == 0 {
		text = "(no output)"
	}
	if len(images) == 0 {
		e.str(text)
		return
	}
	e.raw("[")
	if strings.TrimSpace(text) != "" {
		e.raw(`{"type":"text","text":`)
		e.str(text)
		e.raw("},")
	}
	for i := range images {
		if i > 0 {
			e.raw(",")
		}
		e.picture(&images[i])
		e.raw("}")
	}
	e.raw("]")
}

// picture writes an image or a PDF without the closing brace.
func (e *encoder) picture(img *model.Image) {
	kind := "image"
	if img.MIME == model.MIMEPDF {
		kind = "document"
	}
	e.raw(`{"type":"` + kind + `","source":{"type":"base64","media_type":`)
	e.str(img.MIME)
	e.raw(`,"data":"`)
	e.b = base64.StdEncoding.AppendEncode(e.b, img.Data)
	e.raw(`"}`)
}
