package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/tools"
)

// ask sends the history to the model and streams the answer to the subscribers.
func (c *Conversation) ask(ctx context.Context, t *turn, offered []tools.Entry) (model.Response, error) {
	c.mu.Lock()
	m, role, scope := c.model, c.role, c.scope
	c.mu.Unlock()
	if !c.prompted && c.opt.System != nil {
		c.system, c.prompted = c.opt.System(c.row.ID, role, scope), true
	}
	messages, tokens := c.history.toSend(m.Sees)
	if len(role.FewShot) > 0 {
		messages, tokens = append(slices.Clip(role.FewShot), messages...), tokens+historyTokens(role.FewShot)
	}
	req := model.Request{
		Model: m.ID, Session: c.row.ID, Agent: c.opt.Label, System: c.system, Messages: messages, Tools: definitions(offered),
		Temperature: m.Temperature, TopP: m.TopP, ReasoningEffort: m.ReasoningEffort, MaxOutputTokens: m.MaxOutputTokens,
	}
	c.measured.tools = toolTokens(req.Tools)
	resp, err := m.Client.Stream(ctx, req, c.relay)
	if resp.Usage == (model.Usage{}) {
		resp.Usage = model.Usage{
			Input: model.EstimateText(req.System) + c.measured.tools + tokens, Estimated: true,
			Output: model.EstimateMessage(&model.Message{Text: resp.Text, Reasoning: resp.Reasoning, Calls: resp.Calls}),
		}
	}
	return resp, err
}

// relay turns the client's events into the conversation's.
func (c *Conversation) relay(ev model.Event) {
	switch ev := ev.(type) {
	case model.TextEvent:
		c.emit(TextDelta{ev.Delta})
	case model.ReasoningEvent:
		c.emit(ReasoningDelta{ev.Delta})
	case model.CallEvent:
		c.emit(CallWriting{Index: ev.Index, Name: ev.Name, Bytes: ev.Bytes})
	case model.RetryEvent:
		c.emit(Retrying{Attempt: ev.Attempt, Wait: ev.Wait, Reason: ev.Reason})
	case model.ResetEvent:
		c.emit(AnswerReset{ev.Reason})
	case model.NoticeEvent:
		c.Notify(LevelInfo, "%s", ev.Text)
	}
}

// recover deals with a request that failed or was interrupted. Text that had arrived is
// kept; calls are not, since none of them ran.
func (c *Conversation) recover(ctx context.Context, t *turn, resp model.Response, err error) (more bool, _ error) {
	var fault *model.Error
	if ctx.Err() == nil && errors.As(err, &fault) {
		switch fault.Class {
		case model.ClassOverflow:
			if !t.overflowed {
				t.overflowed = true
				t.step--
				if resp.Text != "" || resp.Reasoning != "" {
					c.emit(AnswerReset{fault.Text})
				}
				c.learnWindow(fault.Window)
				return true, c.compactOverflow(ctx, fault)
			}
			return false, fmt.Errorf("the conversation does not fit the model's context window, also after compaction: use /new, or a model with a larger window (%w)", err)
		case model.ClassTool:
			// A provider that refuses one tool after the other means something else.
			if key := c.refusal(fault.Tool); key.wire != "" && !c.dropped[key] && t.refused < mostRefused {
				c.dropped[key] = true
				t.step--
				t.refused++
				c.Notify(LevelWarn, "the provider refused the tool %s: it is left out", key.wire)
				return true, nil
			}
		case model.ClassImage:
			if more, err := c.dropPicture(ctx, t, fault); more || err != nil {
				return more, err
			}
		default: // nothing that another request would mend
		}
	}
	if !blank(resp.Text) {
		resp.Calls = nil
		if _, werr := c.commitAnswer(ctx, t, resp, nil); werr != nil {
			return false, errors.Join(err, werr)
		}
	}
	return false, err
}

// mostRefused is how many tools one request may lose.
const mostRefused = 2

// refusedPicture takes the place of a picture that a provider refused.
const refusedPicture = "[a picture was left out: the provider refused it]"

// dropPicture takes a picture that the provider refused out of the history, for good, and
// says so. more is false when it is not there.
func (c *Conversation) dropPicture(ctx context.Context, t *turn, fault *model.Error) (more bool, err error) {
	for i := range c.history.messages {
		m := &c.history.messages[i]
		kept := m.Images[:0:0]
		for _, img := range m.Images {
			if sha256.Sum256(img.Data) != fault.Image {
				kept = append(kept, img)
				continue
			}
			m.Text = appendLine(m.Text, cmp.Or(img.Text, refusedPicture))
			more = true
		}
		m.Images = kept
	}
	if !more {
		return false, nil
	}
	c.history.changed()
	if _, err := c.opt.Store.RefusePicture(context.WithoutCancel(ctx), c.row.ID, fault.Image); err != nil {
		return false, err
	}
	t.step--
	c.Notify(LevelWarn, "a picture was taken out of the conversation, because the provider refused it: %s", fault.Text)
	return true, nil
}

// refusal names a tool that the provider of the current model would not take.
func (c *Conversation) refusal(wire string) refused {
	c.mu.Lock()
	defer c.mu.Unlock()
	return refused{c.model.ID, wire}
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

// owners names whose tools came or went, for the event.
func owners(now []tools.Entry, before map[string]bool) string {
	set := map[string]bool{}
	for _, e := range now {
		if !before[e.Spec.Name] {
			set[e.Owner] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ",")
}

// changeLine tells the model in one line what came and went.
func changeLine(ev ToolsChanged, snap tools.Snapshot) string {
	var parts []string
	if len(ev.Added) > 0 {
		parts = append(parts, "Tools now available: "+wireList(ev.Added, snap)+".")
	}
	if len(ev.Removed) > 0 {
		parts = append(parts, "No longer available: "+list(ev.Removed)+".")
	}
	return strings.Join(parts, " ")
}

func wireList(names []string, snap tools.Snapshot) string {
	wires := make([]string, len(names))
	for i, n := range names {
		wires[i] = n
		if e, ok, _ := snap.Lookup(n); ok {
			wires[i] = e.Spec.Wire
		}
	}
	return list(wires)
}

func list(names []string) string {
	const most = 30
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
