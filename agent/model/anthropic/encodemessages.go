package anthropic

import (
	"cmp"
	"encoding/base64"
	"strings"

	"jcode/agent/model"
)

func (e *encoder) system() {
	if strings.TrimSpace(e.req.System) == "" || !e.Own("system") {
		return
	}
	e.Raw(`[{"type":"text","text":`)
	e.Str(e.req.System)
	e.marker(true)
	e.Raw(`}]`)
}

func (e *encoder) messages() {
	if !e.Own("messages") {
		return
	}
	e.Raw("[")
	now, before := e.marks()
	for i := range e.turns {
		t := &e.turns[i]
		e.Element()
		e.Raw(`{"role":"` + t.role + `","content":[`)
		for k := range t.blocks {
			e.Element()
			last := k == len(t.blocks)-1
			e.block(&t.blocks[k], last && (i == now || i == before))
		}
		e.Raw("]}")
	}
	e.Raw("]")
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
			if _, own := e.Has("cache_control"); own { // it marks the newest block, and there may be four marks
				now = -1
			}
			return now, i
		}
	}
	return now, before
}

func (e *encoder) block(b *block, mark bool) {
	switch {
	case b.raw != "":
		e.Raw(b.raw)
		return
	case b.call != nil:
		e.call(b)
	case b.image != nil:
		e.picture(b.image)
	case b.result != nil:
		e.result(b.result)
	case b.added != nil:
		e.Raw(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":`)
		e.tool(b.added)
		e.Raw(`}}`)
	case b.again != "":
		e.Raw(`{"type":"tool_addition","tool":{"type":"tool_reference","name":`)
		e.Str(b.again)
		e.Raw(`}`)
	case b.removed != "":
		e.Raw(`{"type":"tool_removal","tool":{"type":"tool_reference","name":`)
		e.Str(b.removed)
		e.Raw(`}`)
	default:
		e.Raw(`{"type":"text","text":`)
		e.Str(b.text)
		if b.citations != "" {
			e.Raw(`,"citations":` + b.citations)
		}
	}
	e.marker(mark)
	e.Raw("}")
}

func (e *encoder) call(b *block) {
	e.Raw(`{"type":"tool_use","id":`)
	e.Str(callID(b.call.ID))
	e.Raw(`,"name":`)
	e.Str(model.SafeName(b.call.Name))
	e.Raw(`,"input":`)
	e.Raw(cmp.Or(strings.TrimSpace(b.call.Arguments), "{}"))
	if b.caller != "" {
		e.Raw(`,"caller":` + b.caller)
	}
}

// callID returns an id of letters, digits, - and _, as the API requires. A call and its result get the same
// one.
func callID(id string) string { return strings.Map(model.SafeRune, id) }

func (e *encoder) result(m *model.Message) {
	e.Raw(`{"type":"tool_result","tool_use_id":`)
	e.Str(callID(m.CallID))
	if m.Failed {
		e.Raw(`,"is_error":true`)
	}
	e.Raw(`,"content":`)
	text, images := model.Given(m.Text, m.Images, e.f.Takes)
	if strings.TrimSpace(text) == "" && len(images) == 0 {
		text = "(no output)"
	}
	if len(images) == 0 {
		e.Str(text)
		return
	}
	e.Raw("[")
	if strings.TrimSpace(text) != "" {
		e.Raw(`{"type":"text","text":`)
		e.Str(text)
		e.Raw("}")
	}
	for i := range images {
		e.Element()
		e.picture(&images[i])
		e.Raw("}")
	}
	e.Raw("]")
}

// picture writes an image or a PDF without the closing brace.
func (e *encoder) picture(img *model.Image) {
	kind := "image"
	if img.MIME == model.MIMEPDF {
		kind = "document"
	}
	e.Raw(`{"type":"` + kind + `","source":{"type":"base64","media_type":`)
	e.Str(img.MIME)
	e.Raw(`,"data":"`)
	e.B = base64.StdEncoding.AppendEncode(e.B, img.Data)
	e.Raw(`"}`)
}
