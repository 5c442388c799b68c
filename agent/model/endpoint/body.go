package endpoint

import (
	"encoding/json"
	"slices"
	"strconv"

	"jcode/agent/model"
	"jcode/internal/schema"
)

// Body writes the body of a request as JSON.
type Body struct {
	B     []byte
	extra []Field // the provider's own fields; they take precedence over ours
}

// NewBody begins the body of a request for a streamed answer.
func (e *Endpoint) NewBody(req *model.Request) Body {
	b := e.NewEnvelope(req)
	if b.Own("model") {
		b.Str(req.Model)
	}
	if b.Own("stream") {
		b.Raw("true")
	}
	return b
}

// NewEnvelope begins the body of a request whose address names the model.
func (e *Endpoint) NewEnvelope(req *model.Request) Body {
	return Body{B: append(make([]byte, 0, sizeOf(req)), '{'), extra: e.extra}
}

// sizeOf estimates the length of a request's body.
func sizeOf(req *model.Request) int {
	n := 1024 + len(req.System) + len(req.System)/8
	for i := range req.Tools {
		t := &req.Tools[i]
		n += 128 + len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		n += 128 + len(m.Text) + len(m.Text)/8 + len(m.Reasoning)
		for k := range m.Calls {
			n += 128 + len(m.Calls[k].Arguments)*5/4
		}
		for k := range m.Opaque {
			n += 64 + len(m.Opaque[k].Raw)
		}
		for k := range m.Images {
			n += 128 + len(m.Images[k].Data)*4/3
		}
	}
	return n
}

// Field starts a field.
func (b *Body) Field(name string) {
	if b.B[len(b.B)-1] != '{' {
		b.B = append(b.B, ',')
	}
	b.Str(name)
	b.B = append(b.B, ':')
}

// Own starts a field of the whole body unless the provider's own fields set it.
func (b *Body) Own(name string) bool {
	if slices.ContainsFunc(b.extra, func(x Field) bool { return x.Name == name }) {
		return false
	}
	b.Field(name)
	return true
}

// Has reports whether the provider's own fields set a field of the body, and to which number, 0 if it is none.
func (b *Body) Has(name string) (n int, ok bool) {
	for _, x := range b.extra {
		if x.Name == name {
			_ = json.Unmarshal(x.Raw, &n) // 0 if it is no number
			return n, true
		}
	}
	return 0, false
}

// Extras writes the provider's own fields.
func (b *Body) Extras() {
	for _, x := range b.extra {
		b.Field(x.Name)
		b.B = append(b.B, x.Raw...)
	}
}

// Sampling writes the temperature and top_p that a request sets, if the model accepts them.
func (b *Body) Sampling(r *model.Request, f *Form) {
	if f.Temperature && r.Temperature != nil && b.Own("temperature") {
		b.B = strconv.AppendFloat(b.B, *r.Temperature, 'g', -1, 64)
	}
	if f.TopP && r.TopP != nil && b.Own("top_p") {
		b.B = strconv.AppendFloat(b.B, *r.TopP, 'g', -1, 64)
	}
}

// Schema writes the schema of a tool's parameters in the form that the model accepts.
func (b *Body) Schema(t *model.Tool, f *Form) {
	switch {
	case len(t.Parameters) == 0:
		b.Raw(`{"type":"object","properties":{}}`)
	case f.Simple && !schema.IsSimple(t.Parameters):
		b.B = append(b.B, schema.Simple(t.Parameters)...)
	default:
		b.B = append(b.B, t.Parameters...)
	}
}

// Element starts an element of a list.
func (b *Body) Element() {
	if b.B[len(b.B)-1] != '[' {
		b.B = append(b.B, ',')
	}
}

// Int writes a number.
func (b *Body) Int(n int) { b.B = strconv.AppendInt(b.B, int64(n), 10) }

// Str writes a string.
func (b *Body) Str(s string) { b.B = AppendString(b.B, s) }

// Raw writes text that is JSON already.
func (b *Body) Raw(s string) { b.B = append(b.B, s...) }
