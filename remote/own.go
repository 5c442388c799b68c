package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/creachadair/jrpc2"

	"jcode/agent/event"
)

// Own carries the protocol for the program that owns a session: without hello and attach, with every answer that the
// owner may give, and without notices of what it did itself. Its methods are safe for concurrent use.
type Own struct {
	offer   Offer
	methods map[string]action
	others  []string
}

// NewOwn returns what does for a session what its owner's program says. others are types that its carrier does itself.
func NewOwn(ctx context.Context, o Offer, others ...string) *Own {
	o.Lasting = true
	c := &connection{ctx: ctx, own: &hub{offer: o}}
	all := c.methods()
	own := map[string]action{}
	for _, name := range OwnMethods() {
		own[name] = all[name]
	}
	return &Own{o, own, others}
}

// OwnMethods are the methods that the owner's program has, besides prompt.
func OwnMethods() []string {
	return []string{
		"interrupt", "unqueue", "answer", "reply", "fill", "set", "undo", "rewind", "role", "choices", "files",
		"agents.output", "agents.message", "agents.stop",
	}
}

// Do calls a method with its parameters, a JSON object. A parameter that is not known is an error.
func (o *Own) Do(ctx context.Context, method string, params json.RawMessage) (any, error) {
	do, known := o.methods[method]
	if !known {
		names := append(append(OwnMethods(), "prompt"), o.others...)
		slices.Sort(names)
		return nil, invalid("there is no %q: the types are %s", method, strings.Join(names, ", "))
	}
	out, err := do(ctx, func(v any) error { return Strict(params, v) })
	if _, empty := out.(struct{}); empty {
		out = nil
	}
	return out, err
}

// Prompt queues a prompt. typed is its text as far as it was a command, with what belongs to it.
func (o *Own) Prompt(p Prompt, typed event.Prompt) (Queued, error) {
	p.Text = typed.Text
	if strings.TrimSpace(p.Text) == "" && len(p.Pictures) == 0 || len(p.Text) > maxPrompt {
		return Queued{}, invalid("a prompt has between 1 and %d bytes", maxPrompt)
	}
	out, err := promptOf(p)
	if err != nil {
		return Queued{}, err
	}
	typed.Text, typed.Images, typed.Shown = out.Text, out.Images, cmp.Or(out.Shown, typed.Shown)
	id := o.offer.Prompt(typed)
	if id == "" {
		return Queued{}, refused("the session is open in another jcode, and is only shown here")
	}
	return Queued{ID: id}, nil
}

// Strict reads a JSON object whose fields must all be known. The session is never one of them.
func Strict(params json.RawMessage, v any) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(params, &given); err != nil {
		return invalid("%v", err)
	}
	if _, named := given["session"]; named {
		return invalid("session: there is one session here, which is not named")
	}
	for _, name := range required(reflect.TypeOf(v).Elem()) {
		if raw, there := given[name]; !there || string(raw) == "null" {
			return invalid("%s is missing", name)
		}
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return invalid("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid("something follows the object")
	}
	return nil
}

// required are the fields of a type that have to be there: an answer without an option would be the first one.
func required(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "session" && !strings.Contains(rest, "omitempty") {
			names = append(names, name)
		}
	}
	return names
}

// Invalid is an error of kind invalid.
func Invalid(format string, args ...any) error { return invalid(format, args...) }

// Gone is an error of kind gone.
func Gone(format string, args ...any) error { return gone(format, args...) }

// Kind names what kind of error a method ended with: refused, gone, busy, invalid, or failed.
func Kind(err error) string {
	var coded *jrpc2.Error
	if !errors.As(err, &coded) {
		return "failed"
	}
	switch coded.Code {
	case codeRefused:
		return "refused"
	case codeGone:
		return "gone"
	case codeBusy:
		return "busy"
	case jrpc2.InvalidParams:
		return "invalid"
	}
	return "failed"
}

// Words returns an error's words, without the code of the protocol.
func Words(err error) string {
	var coded *jrpc2.Error
	if errors.As(err, &coded) {
		return coded.Message
	}
	return err.Error()
}

// tell notes in the session what somebody else did. What its owner does needs no note.
func (c *connection) tell(h *hub, format string, args ...any) {
	if c.own == nil {
		h.offer.Notify(event.LevelInfo, format, args...)
	}
}
