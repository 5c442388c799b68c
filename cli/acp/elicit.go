package acp

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/coder/acp-go-sdk"
	"github.com/google/uuid"

	"jcode/agent/event"
	"jcode/tools"
)

// noAnswer is what the model reads when the person can't be asked a question.
const noAnswer = "(no answer: this editor cannot ask the user a free question; decide yourself, or put the question in your answer)"

// canElicit reports whether the client shows forms.
func (o *openSession) canElicit() bool {
	e := o.client.capabilities().Elicitation
	return e != nil && e.Form != nil
}

// askPerson asks a question of the `ask` tool.
func (o *openSession) askPerson(ev event.AskPerson) {
	o.question(ev.ID, func(ctx context.Context) {
		reply, err := o.personReply(ctx, ev)
		if err != nil {
			if ctx.Err() != nil {
				return // settled in another way, or cancelled with its turn
			}
			o.say(fmt.Sprintf("A question could not be put to you: %s (%v)", ev.Text, err))
			reply = noAnswer
		}
		_ = o.conv.Reply(ev.ID, reply) // an error means that it was settled meanwhile
	})
}

var errCannotAsk = errors.New("the client has neither forms nor choices for it")

func (o *openSession) personReply(ctx context.Context, ev event.AskPerson) (string, error) {
	field := tools.FormField{Name: "answer", Title: "Answer", Kind: tools.FieldText, Required: true}
	if len(ev.Options) > 0 {
		field.Kind, field.Options = tools.FieldChoice, ev.Options
	}
	switch {
	case o.canElicit():
		answer, err := o.elicit(ctx, tools.Form{Text: ev.Text, Fields: []tools.FormField{field}})
		if err != nil {
			return "", err
		}
		if said, ok := answer.Values["answer"].(string); ok && answer.Action == tools.FormAccept {
			return said, nil
		}
		return "(the user declined to answer)", nil
	case len(ev.Options) > 0:
		i, err := o.choose(ctx, ev.Text, ev.Options)
		if err != nil {
			return "", err
		}
		if i < 0 {
			return "(the user declined to answer)", nil
		}
		return ev.Options[i], nil
	}
	return "", errCannotAsk
}

// askForm shows a form, as MCP servers request one.
func (o *openSession) askForm(ev event.AskForm) {
	o.question(ev.ID, func(ctx context.Context) {
		answer, err := o.formAnswer(ctx, ev.Form)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			o.say(fmt.Sprintf("%s asked something that could not be shown, and was declined: %s (%v)", ev.Form.From, ev.Form.Text, err))
			answer = tools.FormAnswer{Action: tools.FormDecline}
		}
		_ = o.conv.Fill(ev.ID, answer) // an error means that it was settled meanwhile
	})
}

func (o *openSession) formAnswer(ctx context.Context, f tools.Form) (tools.FormAnswer, error) {
	if f.Secret() { // an editor shows and may keep what is written
		return tools.FormAnswer{}, errCannotAsk
	}
	if o.canElicit() {
		return o.elicit(ctx, f)
	}
	if len(f.Fields) > 1 {
		return tools.FormAnswer{}, errCannotAsk
	}
	labels, values := []string{"yes"}, []any{true}
	name := ""
	if len(f.Fields) == 1 {
		field := f.Fields[0]
		name = field.Name
		switch {
		case field.Kind == tools.FieldBoolean:
			labels, values = []string{"yes", "no"}, []any{true, false}
		case field.Kind == tools.FieldChoice && len(field.Options) > 0:
			labels, values = nil, nil
			for i, v := range field.Options {
				labels, values = append(labels, field.OptionLabel(i)), append(values, v)
			}
		default:
			return tools.FormAnswer{}, errCannotAsk
		}
	}
	i, err := o.choose(ctx, f.From+": "+f.Text, labels)
	if err != nil || i < 0 {
		return tools.FormAnswer{Action: tools.FormDecline}, err
	}
	out := tools.FormAnswer{Action: tools.FormAccept, Values: map[string]any{}}
	if name != "" {
		out.Values[name] = values[i]
	}
	return out, nil
}

// choose offers choices as a permission request; -1 means that none was chosen.
func (o *openSession) choose(ctx context.Context, question string, choices []string) (int, error) {
	options := make([]acp.PermissionOption, 0, len(choices)+1)
	for i, c := range choices {
		options = append(options, acp.PermissionOption{OptionId: acp.PermissionOptionId(strconv.Itoa(i)), Kind: acp.PermissionOptionKindAllowOnce, Name: c})
	}
	options = append(options, acp.PermissionOption{
		OptionId: acp.PermissionOptionId(strconv.Itoa(len(choices))), Kind: acp.PermissionOptionKindRejectOnce, Name: "decline",
	})
	call := acp.ToolCallUpdate{
		ToolCallId: acp.ToolCallId("question-" + uuid.NewString()), Title: acp.Ptr(question), Kind: acp.Ptr(acp.ToolKindThink),
		Status: acp.Ptr(acp.ToolCallStatusPending),
	}
	o.announce(call)
	i, err := o.request(ctx, call, options)
	o.conclude(call.ToolCallId, err == nil && i >= 0 && i < len(choices))
	if i == len(choices) {
		i = -1
	}
	return i, err
}

// elicit shows a form in the client.
func (o *openSession) elicit(ctx context.Context, f tools.Form) (tools.FormAnswer, error) {
	properties := map[string]any{}
	required := []string{}
	for _, field := range f.Fields {
		properties[field.Name] = fieldSchema(field)
		if field.Required {
			required = append(required, field.Name)
		}
	}
	message := f.Text
	if f.From != "" {
		message = f.From + ": " + message
	}
	var resp struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	err := o.client.conn.call(ctx, "elicitation/create", map[string]any{
		"sessionId": o.id, "mode": "form", "message": message,
		"requestedSchema": map[string]any{"type": "object", "properties": properties, "required": required},
	}, &resp)
	if err != nil {
		return tools.FormAnswer{}, err
	}
	switch resp.Action {
	case "accept":
	case "cancel":
		return tools.FormAnswer{Action: tools.FormCancel}, nil
	default:
		return tools.FormAnswer{Action: tools.FormDecline}, nil
	}
	out := tools.FormAnswer{Action: tools.FormAccept, Values: map[string]any{}}
	for _, field := range f.Fields {
		value := resp.Content[field.Name]
		if list, ok := value.([]any); ok {
			words := make([]string, len(list))
			for i, v := range list {
				words[i] = fmt.Sprint(v)
			}
			value = words
		}
		if err := field.Check(value); err != nil {
			return tools.FormAnswer{}, fmt.Errorf("%s: %w", field.Label(), err)
		}
		if value != nil {
			out.Values[field.Name] = value
		}
	}
	return out, nil
}

// fieldSchema returns a field as a property of the form's JSON Schema.
func fieldSchema(f tools.FormField) map[string]any {
	p := map[string]any{"title": f.Label()}
	if f.Description != "" {
		p["description"] = f.Description
	}
	if f.Default != nil {
		p["default"] = f.Default
	}
	least, most := "minimum", "maximum"
	switch f.Kind {
	case tools.FieldNumber:
		p["type"] = "number"
	case tools.FieldInteger:
		p["type"] = "integer"
	case tools.FieldBoolean:
		p["type"] = "boolean"
	case tools.FieldChoices:
		least, most = "minItems", "maxItems"
		p["type"], p["items"] = "array", map[string]any{"type": "string", "enum": f.Options}
	case tools.FieldChoice:
		p["type"] = "string"
		if len(f.Options) > 0 {
			p["enum"] = f.Options
		}
	case tools.FieldText:
		least, most = "minLength", "maxLength"
		p["type"] = "string"
		if f.Format != "" {
			p["format"] = f.Format
		}
		if f.Pattern != "" {
			p["pattern"] = f.Pattern
		}
	}
	if f.Min != nil {
		p[least] = *f.Min
	}
	if f.Max != nil {
		p[most] = *f.Max
	}
	return p
}
