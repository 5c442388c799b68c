package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/schema"
	"jcode/internal/text"
)

// Elicitor asks the person something for a server.
type Elicitor interface {
	// Elicit shows the question and waits for the answer or for ctx. An error counts as
	// cancel.
	Elicit(ctx context.Context, q ElicitQuestion) (ElicitAnswer, error)
}

// ElicitQuestion is what a server wants to know: a form, or a visit to a URL.
type ElicitQuestion struct {
	// Server is the server's key; a dialog names it.
	Server string
	// Message is the server's text: untrusted.
	Message string
	// Fields are the form's fields in the server's order; empty with a URL.
	Fields []ElicitField
	// URL is the whole address to open after consent; Domain is its host.
	URL    string
	Domain string
}

// ElicitField is one field of a form.
type ElicitField struct {
	Name        string
	Title       string
	Description string
	// Kind is string, number, integer, boolean, choice or choices.
	Kind     string
	Format   string // email, uri, date, date-time or ""
	Required bool
	// Default is the value to begin with: string, float64, bool or []string; nil if none.
	Default any
	// Options are the values of a choice, Labels what to show for them.
	Options []string
	Labels  []string
	// Bounds of numbers, of the length of strings, or of the number of choices; nil if none.
	Min, Max *float64
}

// ElicitAnswer is what the person said.
type ElicitAnswer struct {
	// Action is accept, decline or cancel.
	Action string
	// Values are the fields' values when accepted: string, float64, bool or []string.
	Values map[string]any
}

// Unattended answers where there is no person: it declines, or accepts forms whose
// fields all have a default or are optional.
type Unattended struct{ AcceptDefaults bool }

// Elicit answers at once.
func (u Unattended) Elicit(_ context.Context, q ElicitQuestion) (ElicitAnswer, error) {
	if !u.AcceptDefaults || q.URL != "" {
		return ElicitAnswer{Action: "decline"}, nil
	}
	values := map[string]any{}
	for _, f := range q.Fields {
		switch {
		case f.Default != nil:
			values[f.Name] = f.Default
		case f.Required:
			return ElicitAnswer{Action: "decline"}, nil
		}
	}
	return ElicitAnswer{Action: "accept", Values: values}, nil
}

// elicitFor gives the hook that answers a server's questions, one dialog at a time.
func (m *Manager) elicitFor(e Entry) func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	return func(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		decline := &sdk.ElicitResult{Action: "decline"}
		if m.opt.Elicitor == nil {
			return decline, nil
		}
		q, err := elicitQuestion(e.Name, p)
		if err != nil {
			m.notify("warn", "MCP server %s asked for something that can't be asked: %v", e.Name, err)
			return decline, nil
		}
		select {
		case m.asking <- struct{}{}:
			defer func() { <-m.asking }()
		case <-ctx.Done():
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		a, err := m.opt.Elicitor.Elicit(ctx, q)
		if err != nil || a.Action != "accept" && a.Action != "decline" {
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		result := &sdk.ElicitResult{Action: a.Action}
		if a.Action == "accept" && q.URL == "" {
			result.Content = map[string]any{}
			for k, v := range a.Values {
				result.Content[k] = v
			}
		}
		return result, nil
	}
}

// elicitQuestion reads a server's question.
func elicitQuestion(server string, p *sdk.ElicitParams) (ElicitQuestion, error) {
	q := ElicitQuestion{Server: server, Message: cutText(text.Clean(p.Message), 4000)}
	if p.Mode == "url" || p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil {
			return q, errors.New("its address is no URL")
		}
		if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
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
	required := requiredOf(root)
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

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func elicitField(name string, p *schema.Object) ElicitField {
	f := ElicitField{
		Name: name, Title: firstLine(p.Text("title"), 200), Description: cutText(text.Clean(p.Text("description")), 600),
		Kind: p.Text("type"), Format: p.Text("format"),
	}
	bound := func(keys ...string) *float64 {
		for _, k := range keys {
			if n, ok := p.At(k).(json.Number); ok {
				if v, err := n.Float64(); err == nil {
					return &v
				}
			}
		}
		return nil
	}
	f.Min, f.Max = bound("minimum", "minLength", "minItems"), bound("maximum", "maxLength", "maxItems")
	switch f.Kind {
	case "array":
		f.Kind = "choices"
		if items := p.Child("items"); items != nil {
			f.Options, f.Labels = options(items)
		}
	case "string", "":
		f.Kind = "string"
		if f.Options, f.Labels = options(p); f.Options != nil {
			f.Kind = "choice"
		}
	}
	f.Default = plainValue(p.At("default"))
	return f
}

// options reads the values of a choice in any of the forms that the protocol has had.
func options(p *schema.Object) (values, labels []string) {
	if list, ok := p.At("enum").([]schema.Node); ok {
		names, _ := p.At("enumNames").([]schema.Node)
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
		list, _ := p.At(key).([]schema.Node)
		for _, v := range list {
			if o, ok := v.(*schema.Object); ok && o.Text("const") != "" {
				values = append(values, o.Text("const"))
				labels = append(labels, text.Clean(o.Text("title")))
			}
		}
	}
	return values, labels
}

func plainValue(n schema.Node) any {
	switch v := n.(type) {
	case string:
		return v
	case bool:
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
