package acp

import (
	"context"
	"errors"
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
	o.question(ev.ID, func(ctx context.Context) {
		answer := tools.Answer{Scope: tools.AnswerNo, Option: -1}
		options := ev.Question.Options
		if len(options) == 0 {
			options = []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "yes, once"}, {Scope: tools.AnswerNo, Label: "no"}}
		}
		chosen, err := o.request(ctx, o.questionCall(ev.Question), permissionOptions(options))
		switch {
		case err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errDisconnected):
			answer.Word = "the editor could not ask: " + err.Error()
			o.say("The editor could not show a question, which counts as no: " + err.Error())
		case chosen >= 0:
			answer.Scope, answer.Option = options[chosen].Scope, chosen
			if len(ev.Question.Options) == 0 {
				answer.Option = -1
			}
		}
		// An error means that the question was settled meanwhile.
		_ = o.conv.Answer(ev.ID, answer)
	})
}

// request sends a permission request and returns the index of the chosen option, -1 when the
// client cancelled it.
func (o *openSession) request(ctx context.Context, call acp.ToolCallUpdate, options []acp.PermissionOption) (int, error) {
	var resp acp.RequestPermissionResponse
	err := o.server.conn.call(ctx, acp.ClientMethodSessionRequestPermission, acp.RequestPermissionRequest{
		SessionId: acp.SessionId(o.id), ToolCall: call, Options: options,
	}, &resp)
	if err != nil {
		return -1, err
	}
	if resp.Outcome.Selected == nil {
		return -1, nil
	}
	i, err := strconv.Atoi(string(resp.Outcome.Selected.OptionId))
	if err != nil || i < 0 || i >= len(options) {
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
	id := q.CallID
	if id == "" {
		id = "question-" + uuid.NewString()
	}
	u := acp.ToolCallUpdate{
		ToolCallId: acp.ToolCallId(id), Title: acp.Ptr(text.Visible(q.Heading())), Kind: acp.Ptr(kindOf(q.Tool)),
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
		chosen, err := o.request(ctx, acp.ToolCallUpdate{
			ToolCallId: acp.ToolCallId("trust-" + uuid.NewString()), Title: acp.Ptr("Trust " + t.Folder + "?"),
			Kind: acp.Ptr(acp.ToolKindOther), Status: acp.Ptr(acp.ToolCallStatusPending),
			Content: []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(
				"This folder's files would run or allow:\n\n" + fenced(text.Visible(strings.Join(t.Items, "\n"))),
			))},
		}, []acp.PermissionOption{
			{OptionId: "0", Kind: acp.PermissionOptionKindAllowAlways, Name: "trust what is listed"},
			{OptionId: "1", Kind: acp.PermissionOptionKindRejectOnce, Name: "not now"},
		})
		if ctx.Err() != nil && o.ctx.Err() != nil {
			return // the session ends: nothing was decided
		}
		if err := t.Decide(o.ctx, err == nil && chosen == 0); err != nil {
			o.say(err.Error())
		}
		o.say(map[bool]string{true: "The folder is trusted.", false: "What this folder brings along stays off."}[err == nil && chosen == 0])
	})
}
