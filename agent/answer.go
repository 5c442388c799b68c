package agent

import (
	"context"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/internal/text"
)

// sayUnpriced says once that a cost limit has no effect, because the model's price is unknown.
func (t *turn) sayUnpriced(name string) {
	c := t.c
	c.mu.Lock()
	say := c.opt.MaxCost > 0 && !c.unpriced
	c.unpriced = c.unpriced || say
	c.mu.Unlock()
	if say {
		c.Notify(event.LevelWarn, "the price of %s is unknown, so --max-cost cannot stop it: set models[].prices in the config", name)
	}
}

// answerEnded checks an answer without calls, and reports one that was cut or is empty.
func (t *turn) answerEnded(ctx context.Context, resp model.Response) (bool, error) {
	switch {
	case resp.Finish == model.FinishPause:
		return true, nil // the provider continues once it gets its own answer back
	case resp.Finish == "length":
		t.c.Notify(event.LevelWarn, "the answer was cut at the model's output limit: %s", howToGoOn(t.c.opt.Headless))
	case resp.Finish == "content_filter":
		t.c.Notify(event.LevelWarn, "the provider refused to answer: what it was asked last is left out of what is sent from now on; write it in other words, or choose another model")
		if err := leaveOut(ctx, t); err != nil {
			return false, err
		}
	case resp.Finish != "" && resp.Finish != "stop" && resp.Finish != "tool_calls":
		t.c.Notify(event.LevelWarn, "the provider ended the answer for a reason of its own: %s", text.Valid(resp.Finish))
	case history.Blank(resp.Text):
		t.c.Notify(event.LevelWarn, "the model gave an empty answer")
	}
	if t.step < t.c.Tuning().MaxSteps { // otherwise what arrived begins the next turn
		if joined, err := t.join(ctx); joined || err != nil {
			return joined, err
		}
	}
	if (t.c.opt.Headless || t.c.parent != nil) && t.c.agents.Unfinished() { // nobody would ask for their answers later
		t.c.agents.Wait(ctx, "", true)
		return t.c.agents.Unfinished(), nil
	}
	return false, nil
}

// howToGoOn says how the person resumes an answer that was cut.
func howToGoOn(headless bool) string {
	if headless {
		return "jcode -c -p continue resumes it, where the session is kept"
	}
	return "/continue resumes it"
}

// commitAnswer stores an answer, counts its tokens and notifies the subscribers.
func (t *turn) commitAnswer(ctx context.Context, resp model.Response, calls []pendingCall) (int64, error) {
	m := t.c.current()
	whole := resp
	whole.Usage = resp.Usage.Plus(resp.Wasted) // all that was paid for; the context counts the last attempt only
	cost, priced := m.price(resp)
	if !priced {
		t.sayUnpriced(m.Name)
	}
	seq, err := t.appendAnswer(context.WithoutCancel(ctx), resp, calls, cost)
	if err != nil {
		return 0, err
	}
	t.finish = resp.Finish
	if !history.Blank(resp.Text) {
		t.text = resp.Text
	}
	u := whole.Usage
	t.c.spent.count(history.UsageRow(u, resp.Model, cost))
	t.c.out.measured.Saw(resp.Usage, t.c.out.history.Len())
	t.c.emit(event.AssistantMessage{Seq: seq, Text: resp.Text, Reasoning: resp.Reasoning, Calls: len(calls)})
	t.emitUsage(u, priced)
	return seq, nil
}

func (t *turn) emitUsage(step model.Usage, priced bool) {
	context := t.c.out.measured.Expect(t.c.out.system, nil, &t.c.out.history)
	t.c.mu.Lock()
	window := t.c.settings.model.Window
	t.c.counted.context, t.c.counted.priced = context, priced
	t.c.mu.Unlock()
	total, cost := t.c.spent.sum()
	ev := event.Usage{Step: step, Total: total, Context: context, Window: window, Cost: cost, Priced: priced}
	t.c.emit(ev)
}
