package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/tools"
)

// ask sends the history to the model and streams the answer to the subscribers.
func (t *turn) ask(ctx context.Context, offered []tools.Entry) (model.Response, error) {
	t.c.mu.Lock()
	m, role, scope := t.c.settings.model, t.c.settings.role, t.c.settings.scope
	t.c.mu.Unlock()
	before := t.c.out.system
	t.c.out.build(t.c.opt.System, t.c.record.row.ID, role, scope)
	t.c.out.rebuilt = t.c.out.rebuilt || before != "" && before != t.c.out.system
	messages, tokens := t.c.out.history.ToSend(m.Sees)
	if len(role.FewShot) > 0 {
		messages, tokens = append(slices.Clip(role.FewShot), messages...), tokens+history.Tokens(role.FewShot)
	}
	req := model.Request{
		Model: m.ID, Session: t.c.record.row.ID, Rebuilt: t.c.out.rebuilt, Agent: t.c.opt.Label, System: t.c.out.system, Messages: messages, Tools: definitions(offered),
		Search: m.searches(offered), Temperature: m.Temperature, TopP: m.TopP, ReasoningEffort: m.ReasoningEffort, MaxOutputTokens: m.MaxOutputTokens,
	}
	t.c.out.measured.Offer(req.Tools)
	t.c.out.asked = req
	t.c.out.asked.Messages = nil
	req.Answer = t.answer
	if _, known := m.price(model.Response{Model: m.ID, Usage: model.Usage{Input: 1}}); !known && m.ID != "" && m.Cost != nil {
		t.sayUnpriced(m.Name)
	}
	resp, err := m.Client.Stream(ctx, req, t.relay)
	t.c.out.rebuilt = t.c.out.rebuilt && err != nil
	if resp.Usage == (model.Usage{}) {
		resp.Usage = model.Usage{
			Input: model.EstimateText(req.System) + t.c.out.measured.Tools() + tokens, Estimated: true,
			Output: model.EstimateMessage(&model.Message{Text: resp.Text, Reasoning: resp.Reasoning, Calls: resp.Calls}),
		}
	}
	return resp, err
}

// learned takes the window that a provider named.
func (t *turn) learned(window int) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	t.c.settings.learnWindow(window)
}

// build builds the system prompt unless it is built.
func (o *outgoing) build(system func(sessionID string, role Role, scope *tools.Scope) string, id string, role Role, scope *tools.Scope) {
	if !o.prompted && system != nil {
		o.system, o.prompted = system(id, role, scope), true
	}
}

// relay converts the client's events into the conversation's.
func (t *turn) relay(ev model.Event) {
	switch ev := ev.(type) {
	case model.TextEvent:
		t.c.emit(event.TextDelta{Text: ev.Delta})
	case model.ReasoningEvent:
		t.c.emit(event.ReasoningDelta{Text: ev.Delta})
	case model.CallEvent:
		t.c.emit(event.CallWriting{Index: ev.Index, Name: ev.Name, Bytes: ev.Bytes})
	case model.RetryEvent:
		t.c.emit(event.Retrying{Attempt: ev.Attempt, Wait: ev.Wait, Reason: ev.Reason})
	case model.ResetEvent:
		t.c.emit(event.AnswerReset{Reason: ev.Reason})
	case model.NoticeEvent:
		t.c.Notify(event.LevelInfo, "%s", ev.Text)
	}
}

// recover handles a request that failed or was interrupted. Text that had arrived is kept; calls are not,
// since none of them ran.
func (t *turn) recover(ctx context.Context, resp model.Response, err error) (more bool, _ error) {
	var fault *model.Error
	void := func() { // what arrived of a request that is made again
		if resp.Text != "" || resp.Reasoning != "" {
			t.c.emit(event.AnswerReset{Reason: fault.Text})
		}
	}
	if ctx.Err() == nil && errors.As(err, &fault) {
		switch fault.Class {
		case model.ClassOverflow:
			if !t.overflowed {
				t.overflowed = true
				t.step--
				void()
				t.learned(fault.Window)
				return true, t.c.compactor().overflow(ctx, fault)
			}
			return false, fmt.Errorf("the conversation does not fit the model's context window, also after compaction: use /new, or a model with a larger window (%w)", err)
		case model.ClassTool:
			// If a provider refuses one tool after another, something else is the cause.
			if key := t.refusal(fault.Tool); key.wire != "" && !t.c.out.dropped[key] && t.refused < mostRefused {
				t.c.out.dropped[key] = true
				t.step--
				t.refused++
				void()
				t.c.Notify(event.LevelWarn, "the provider refused the tool %s: it is left out", key.wire)
				return true, nil
			}
		case model.ClassImage:
			if more, err := t.dropPicture(ctx, fault); more || err != nil {
				void()
				return more, err
			}
		default: // nothing that another request would fix
		}
	}
	if !history.Blank(resp.Text) {
		resp.Calls = nil
		if _, werr := t.commitAnswer(ctx, resp, nil); werr != nil {
			return false, errors.Join(err, werr)
		}
	}
	return false, err
}

// mostRefused is how many tools one request may lose.
const mostRefused = 2

// dropPicture removes a picture that the provider refused from the history, permanently, and says so. more is
// false when the picture is not found.
func (t *turn) dropPicture(ctx context.Context, fault *model.Error) (more bool, err error) {
	if !t.c.out.history.DropPicture(fault.Image) {
		return false, nil
	}
	if _, err := t.c.opt.Store.History().RefusePicture(context.WithoutCancel(ctx), t.c.record.row.ID, fault.Image); err != nil {
		return false, err
	}
	t.step--
	t.c.Notify(event.LevelWarn, "a picture was taken out of the conversation, because the provider refused it: %s", fault.Text)
	return true, nil
}

// refusal names a tool that the provider of the current model rejected.
func (t *turn) refusal(wire string) refused {
	return refused{t.c.current().ID, wire}
}

func definitions(offered []tools.Entry) []model.Tool {
	out := make([]model.Tool, len(offered))
	for i, e := range offered {
		out[i] = definition(e)
	}
	return out
}

func definition(e tools.Entry) model.Tool {
	return model.Tool{
		Name: e.Spec.Wire, Description: e.Spec.Description, Parameters: e.Spec.Parameters,
		Freeform: e.Spec.Freeform, Grammar: e.Spec.Grammar,
	}
}
