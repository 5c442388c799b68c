package acp

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/google/uuid"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
)

// question runs f in the background with a context that ends when the question is settled in another way, and
// when the client cancels the prompt.
func (o *openSession) question(id string, f func(ctx context.Context)) {
	ctx, cancel := context.WithCancelCause(o.ctx)
	o.mu.Lock()
	o.questions[id] = cancel
	o.mu.Unlock()
	o.work.Go(func() {
		defer o.closeQuestion(id)
		f(ctx)
	})
}

// closeQuestion withdraws a question that no longer needs an answer.
func (o *openSession) closeQuestion(id string) {
	o.mu.Lock()
	cancel := o.questions[id]
	delete(o.questions, id)
	o.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
}

// ask shows a question of the gate in the client. Anything but a clear yes is a no.
func (o *openSession) ask(ev event.ApprovalAsked) {
	call, announced := o.questionCall(ev.Question), false
	// What is asked about is a call that the client knows, or one that is announced and ended for the question: a
	// sub-agent's call has an ID of its own provider, which may be its parent's.
	if _, known := o.shown.calls[ev.Question.CallID]; !known || ev.Question.Label != "" {
		call.ToolCallId, announced = acp.ToolCallId("question-"+uuid.NewString()), true
	}
	o.question(ev.ID, func(ctx context.Context) {
		if announced {
			o.announce(call)
		}
		answer := tools.Answer{Scope: tools.AnswerNo, Option: -1}
		options := ev.Question.Options
		if len(options) == 0 {
			options = []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "yes, once"}, {Scope: tools.AnswerNo, Label: "no"}}
		}
		places := o.offered(options)
		offered, hunks := permissionOptions(pick(options, places)), o.hunksOf(ev.Question)
		if hunks != nil {
			offered = append(offered, acp.PermissionOption{OptionId: "hunks", Kind: acp.PermissionOptionKindAllowOnce, Name: "yes, once, but only some of its hunks …"})
		}
		chosen, err := o.request(ctx, call, offered)
		switch {
		case err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errDisconnected):
			answer.Word = "the editor could not ask: " + err.Error()
			o.say("The editor could not show a question, which counts as no: " + err.Error())
		case chosen == len(places):
			answer.Scope, answer.Hunks = o.chooseHunks(ctx, ev.Question)
		case chosen >= 0:
			answer.Scope, answer.Option = options[places[chosen]].Scope, places[chosen]
			if len(ev.Question.Options) == 0 {
				answer.Option = -1
			}
		}
		if announced {
			o.conclude(call.ToolCallId, answer.Scope != tools.AnswerNo)
		}
		// An error means that the question was settled meanwhile.
		_ = o.conv.Answer(ev.ID, answer)
	})
}

// offered returns the places of the answers that this client may give.
func (o *openSession) offered(options []tools.AnswerOption) (places []int) {
	for i, opt := range options {
		if !o.w.Brief || opt.Scope != tools.AnswerProject {
			places = append(places, i)
		}
	}
	return places
}

func pick(options []tools.AnswerOption, places []int) (out []tools.AnswerOption) {
	for _, i := range places {
		out = append(out, options[i])
	}
	return out
}

// announce makes something that is asked about known to the client as a call.
func (o *openSession) announce(c acp.ToolCallUpdate) {
	o.update(acp.SessionUpdate{ToolCall: &acp.SessionUpdateToolCall{
		ToolCallId: c.ToolCallId, Title: *c.Title, Kind: *c.Kind, Status: acp.ToolCallStatusPending,
		Content: c.Content, Locations: c.Locations, RawInput: c.RawInput,
	}})
}

// conclude ends what was announced.
func (o *openSession) conclude(id acp.ToolCallId, yes bool) {
	status := acp.ToolCallStatusFailed
	if yes {
		status = acp.ToolCallStatusCompleted
	}
	o.update(acp.SessionUpdate{ToolCallUpdate: &acp.SessionToolCallUpdate{ToolCallId: id, Status: acp.Ptr(status)}})
}

// request sends a permission request and returns the index of the chosen option, -1 when the
// client cancelled it.
func (o *openSession) request(ctx context.Context, call acp.ToolCallUpdate, options []acp.PermissionOption) (int, error) {
	var resp acp.RequestPermissionResponse
	err := o.client.conn.call(ctx, acp.ClientMethodSessionRequestPermission, acp.RequestPermissionRequest{
		SessionId: acp.SessionId(o.id), ToolCall: call, Options: options,
	}, &resp)
	if err != nil {
		return -1, err
	}
	if resp.Outcome.Selected == nil {
		return -1, nil
	}
	i := slices.IndexFunc(options, func(p acp.PermissionOption) bool { return p.OptionId == resp.Outcome.Selected.OptionId })
	if i < 0 {
		return -1, errors.New("the client chose an option that was not offered: " + string(resp.Outcome.Selected.OptionId))
	}
	return i, nil
}

// permissionOptions mirrors the answers of the terminal's dialog; the name says what is stored.
func permissionOptions(options []tools.AnswerOption) []acp.PermissionOption {
	out := make([]acp.PermissionOption, len(options))
	for i, opt := range options {
		kind := acp.PermissionOptionKindRejectOnce
		switch opt.Scope {
		case tools.AnswerOnce:
			kind = acp.PermissionOptionKindAllowOnce
		case tools.AnswerSession, tools.AnswerProject:
			kind = acp.PermissionOptionKindAllowAlways
		case tools.AnswerNo:
		}
		name := opt.Label
		if rules := strings.Join(opt.Rules, ", "); rules != "" && !strings.Contains(name, rules) {
			name += ": " + rules
		}
		out[i] = acp.PermissionOption{OptionId: acp.PermissionOptionId(strconv.Itoa(i)), Kind: kind, Name: text.Visible(name)}
	}
	return out
}

// questionCall describes the call that a question is about: the whole command or diff, and the lines that
// must be seen.
func (o *openSession) questionCall(q tools.Question) acp.ToolCallUpdate {
	u := acp.ToolCallUpdate{
		ToolCallId: acp.ToolCallId(q.CallID), Title: acp.Ptr(text.Visible(q.Heading())), Kind: acp.Ptr(kindOf(q.Tool)),
		Status: acp.Ptr(acp.ToolCallStatusPending),
	}
	if q.Command != "" {
		u.Content = append(u.Content, acp.ToolContent(acp.TextBlock(fenced(text.Visible(q.Command)))))
	}
	if len(q.Details) > 0 {
		u.Content = append(u.Content, acp.ToolContent(acp.TextBlock(text.Visible(strings.Join(q.Details, "\n\n")))))
	}
	for _, f := range fileDiffs(q.Diff, o.cwd, sideBefore) {
		u.Content = append(u.Content, acp.ToolCallContent{Diff: f.content()})
		u.Locations = append(u.Locations, acp.ToolCallLocation{Path: f.path, Line: acp.Ptr(f.line)})
	}
	if len(q.Arguments) > 0 {
		u.RawInput = q.Arguments
	}
	return u
}

// askTrust asks about what the folder brings; without a yes it stays inert.
func (o *openSession) askTrust() {
	t := o.w.Trust(o.ctx)
	if t == nil {
		return
	}
	o.question("trust", func(ctx context.Context) {
		call := acp.ToolCallUpdate{
			ToolCallId: acp.ToolCallId("trust-" + uuid.NewString()), Title: acp.Ptr("Trust " + t.Folder + "?"),
			Kind: acp.Ptr(acp.ToolKindOther), Status: acp.Ptr(acp.ToolCallStatusPending),
			Content: []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(
				"This folder's files would run or allow:\n\n" + fenced(text.Visible(strings.Join(t.Items, "\n"))),
			))},
		}
		o.announce(call)
		chosen, err := o.request(ctx, call, []acp.PermissionOption{
			{OptionId: "0", Kind: acp.PermissionOptionKindAllowAlways, Name: "trust what is listed"},
			{OptionId: "1", Kind: acp.PermissionOptionKindRejectOnce, Name: "not now"},
		})
		o.conclude(call.ToolCallId, err == nil && chosen == 0)
		if ctx.Err() != nil && o.ctx.Err() != nil {
			return // the session ends: nothing was decided
		}
		decide := t.Later
		if err == nil && chosen == 0 {
			decide = t.Accept
		}
		if err := decide(o.ctx); err != nil {
			o.say(err.Error())
		}
		o.say(map[bool]string{true: "The folder is trusted.", false: "What can run code in this folder stays off."}[err == nil && chosen == 0])
	})
}
