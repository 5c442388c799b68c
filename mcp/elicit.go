package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/netaddr"
	"jcode/internal/schema"
	"jcode/internal/text"
	"jcode/tools"
)

// Elicitor asks the person a question of a server.
type Elicitor interface {
	// Elicit shows the question and waits for the answer or for ctx. An error counts as
	// cancel.
	Elicit(ctx context.Context, q ElicitQuestion) (tools.FormAnswer, error)
}

// ElicitQuestion is a question of a server: a form to fill in, or a URL to visit.
type ElicitQuestion struct {
	// Server is the server's key; a dialog names it.
	Server string
	// Message is the server's text: untrusted.
	Message string
	// Fields are the form's fields in the server's order; empty with a URL.
	Fields []tools.FormField
	// URL is the whole address to open after consent; Domain is its host.
	URL    string
	Domain string
}

// Unattended answers where there is no person: it declines, or accepts forms whose
// fields all have a default or are optional.
type Unattended struct{ AcceptDefaults bool }

// Elicit answers at once.
func (u Unattended) Elicit(_ context.Context, q ElicitQuestion) (tools.FormAnswer, error) {
	if !u.AcceptDefaults || q.URL != "" {
		return tools.FormAnswer{Action: tools.FormDecline}, nil
	}
	values := map[string]any{}
	for _, f := range q.Fields {
		switch {
		case f.Default != nil:
			values[f.Name] = f.Default
		case f.Required:
			return tools.FormAnswer{Action: tools.FormDecline}, nil
		}
	}
	return tools.FormAnswer{Action: tools.FormAccept, Values: values}, nil
}

// asker asks a person, one dialog at a time.
type asker struct {
	turn     chan struct{} // a semaphore of one: its holder may show a dialog
	elicitor Elicitor      // nil declines
	notify   func(level, format string, args ...any)
}

// take waits until no other dialog is open; the caller calls release when it is done.
func (a asker) take(ctx context.Context) (release func(), err error) {
	select {
	case a.turn <- struct{}{}:
		return func() { <-a.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hook returns the function that answers a server's questions.
func (a asker) hook(server string) func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	return func(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		decline := &sdk.ElicitResult{Action: "decline"}
		if a.elicitor == nil {
			return decline, nil
		}
		q, err := elicitQuestion(server, p)
		if err != nil {
			a.notify("warn", "MCP server %s asked for something that can't be asked: %v", server, err)
			return decline, nil
		}
		release, err := a.take(ctx)
		if err != nil {
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		defer release()
		answer, err := a.elicitor.Elicit(ctx, q)
		if err != nil || answer.Action != tools.FormAccept && answer.Action != tools.FormDecline {
			return &sdk.ElicitResult{Action: string(tools.FormCancel)}, nil
		}
		result := &sdk.ElicitResult{Action: string(answer.Action)}
		if answer.Action == tools.FormAccept && q.URL == "" {
			result.Content = map[string]any{}
			maps.Copy(result.Content, answer.Values)
		}
		return result, nil
	}
}

// elicitQuestion reads a server's question.
func elicitQuestion(server string, p *sdk.ElicitParams) (ElicitQuestion, error) {
	q := ElicitQuestion{Server: server, Message: text.Ellipsis(text.Clean(p.Message), 4000)}
	if p.Mode == "url" || p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil {
			return q, errors.New("its address is not a URL")
		}
		if u.Scheme != "https" && (u.Scheme != "http" || !netaddr.LoopbackHost(u.Hostname())) {
			return q, errors.New("its address is neither https nor on this machine")
		}
		q.URL, q.Domain = u.String(), u.Hostname()
		return q, nil
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return q, err
	}
	n, err := schema.Parse(raw)
	if err != nil {
		return q, err
	}
	root, _ := n.(*schema.Object)
	if root == nil || root.Child("properties") == nil {
		return q, nil
	}
	required := schema.Strings(root, "required")
	props := root.Child("properties")
	for _, name := range props.Names() {
		if prop := props.Child(name); prop != nil {
			f := elicitField(name, prop)
			f.Required = slices.Contains(required, name)
			q.Fields = append(q.Fields, f)
		}
	}
	return q, nil
}

func elicitField(name string, p *schema.Object) tools.FormField {
	f := tools.FormField{
		Name: name, Title: text.FirstLine(p.String("title"), 200), Description: text.Ellipsis(text.Clean(p.String("description")), 600),
		Kind: tools.FieldText, Format: p.String("format"), Pattern: p.String("pattern"),
	}
	var least, most string
	switch kind := p.String("type"); kind {
	case "number", "integer":
		f.Kind = tools.FieldKind(kind)
		least, most = "minimum", "maximum"
	case "boolean":
		f.Kind = tools.FieldBoolean
	case "array":
		f.Kind = tools.FieldChoices
		if items := p.Child("items"); items != nil {
			f.Options, f.Labels = options(items)
		}
		least, most = "minItems", "maxItems"
	default:
		if f.Options, f.Labels = options(p); f.Options != nil {
			f.Kind = tools.FieldChoice
		} else {
			least, most = "minLength", "maxLength"
		}
	}
	f.Min, f.Max = bound(p, least), bound(p, most)
	if v := plainValue(p.Get("default")); v != nil && f.Check(v) == nil {
		f.Default = v
	}
	return f
}

func bound(p *schema.Object, key string) *float64 {
	n, _ := p.Get(key).(json.Number)
	if v, err := n.Float64(); err == nil {
		return &v
	}
	return nil
}

// options reads the values of a choice in any form that a version of the protocol has used.
func options(p *schema.Object) (values, labels []string) {
	if list, ok := p.Get("enum").([]schema.Node); ok {
		names, _ := p.Get("enumNames").([]schema.Node)
		for i, v := range list {
			s, ok := v.(string)
			if !ok {
				continue
			}
			label := s
			if i < len(names) {
				if l, ok := names[i].(string); ok {
					label = text.Clean(l)
				}
			}
			values, labels = append(values, s), append(labels, label)
		}
		return values, labels
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		list, _ := p.Get(key).([]schema.Node)
		for _, v := range list {
			if o, ok := v.(*schema.Object); ok && o.String("const") != "" {
				values = append(values, o.String("const"))
				labels = append(labels, text.Clean(o.String("title")))
			}
		}
	}
	return values, labels
}

func plainValue(n schema.Node) any {
	switch v := n.(type) {
	case string, bool:
		return v
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []schema.Node:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
