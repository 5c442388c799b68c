package endpoint

import (
	"context"
	"fmt"
	"time"

	"jcode/agent/model"
)

// Protocol is one request of one protocol, driven by Ask.
type Protocol interface {
	// Attempt sends the request once.
	Attempt(ctx context.Context, say *Speaker) (model.Response, *Failure)
	// Adapt looks for another form of a refused request, and returns a notice for the person; false when there
	// is none.
	Adapt(bad *Failure) (notice string, ok bool)
	// Sent is the body that was sent last.
	Sent() []byte
}

// Ask sends a request, and repeats it as long as that may help.
func (e *Endpoint) Ask(ctx context.Context, req *model.Request, p Protocol, emit func(model.Event)) (model.Response, error) {
	ctx = asking(ctx, req.Model)
	say := NewSpeaker(emit)
	wasted := model.Usage{}
	for attempt := 1; ; {
		resp, bad := p.Attempt(ctx, say)
		resp.Wasted = resp.Wasted.Plus(wasted)
		if bad == nil {
			return resp, nil
		}
		wasted = wasted.Plus(bad.Used)
		if ctx.Err() != nil {
			return say.kept(resp), fmt.Errorf("asking %s: %w", e.Name(), context.Cause(ctx))
		}
		if notice, ok := adapt(req, p, bad); ok {
			say.over(resp, bad.Err.Text)
			emit(model.NoticeEvent{Text: notice})
			continue
		}
		if req.Purpose == model.PurposeTitle {
			bad.Most = 1 // not worth a wait
		}
		wait, again := e.again(bad, attempt)
		if !again {
			return say.kept(resp), bad.Err
		}
		say.over(resp, bad.Err.Text)
		emit(model.RetryEvent{Attempt: attempt, Wait: wait, Reason: bad.Err.Error()})
		if !Sleep(ctx, wait) {
			return say.kept(resp), fmt.Errorf("waiting to ask %s again: %w", e.Name(), context.Cause(ctx))
		}
		attempt++
	}
}

// adapt asks the protocol for another form of a refused request. A refusal without one may be about a picture
// or a tool.
func adapt(req *model.Request, p Protocol, bad *Failure) (string, bool) {
	if !bad.Bad {
		return "", false
	}
	if sum, ok := badPicture(bad.Fault, p.Sent(), req); ok {
		bad.Err.Class, bad.Err.Image = model.ClassImage, sum
		return "", false
	}
	if notice, ok := p.Adapt(bad); ok {
		return notice, true
	}
	if i := toolIndex(bad.Fault, req.Tools); i >= 0 {
		bad.Err.Class, bad.Err.ToolIndex, bad.Err.Tool = model.ClassTool, i, req.Tools[i].Name
	}
	return "", false
}

// again reports whether another attempt is worthwhile, and after what wait.
func (e *Endpoint) again(bad *Failure, attempt int) (time.Duration, bool) {
	if !bad.Retry {
		return 0, false
	}
	if bad.Wait > e.limits.MaxWait {
		bad.Err.Text += fmt.Sprintf("; the server asks to wait %s, which is too long", bad.Wait.Round(time.Second))
		return 0, false
	}
	if attempt >= min(e.limits.Attempts, bad.Most) {
		if attempt > 1 {
			bad.Err.Text += fmt.Sprintf("; gave up after %d attempts", attempt)
		}
		return 0, false
	}
	return max(bad.Wait, backoff(e.limits, attempt)), true
}

// Watch limits an attempt by the endpoint's idle limit. The returned context ends when the server is silent
// for too long; stop must be called.
func (e *Endpoint) Watch(parent context.Context) (ctx context.Context, s *Silence, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	s = watchSilence(e.limits.Idle, cancel)
	return ctx, s, func() { s.stop(); cancel(nil) }
}

// Speaker passes events on and knows what the person has seen: text that turns out void is withdrawn only
// when other text replaces it.
type Speaker struct {
	emit  func(model.Event)
	spoke bool           // the current attempt has emitted something
	void  string         // why an earlier attempt's output is void; "" when nothing is
	seen  model.Response // what the last attempt with any output had emitted
}

// NewSpeaker returns a Speaker that passes events to emit.
func NewSpeaker(emit func(model.Event)) *Speaker { return &Speaker{emit: emit} }

// Say passes an event of the answer on.
func (s *Speaker) Say(e model.Event) {
	if s.void != "" {
		s.emit(model.ResetEvent{Reason: s.void})
		s.void, s.seen = "", model.Response{}
	}
	s.spoke = true
	s.emit(e)
}

// Void withdraws what this attempt has emitted: the answer starts over.
func (s *Speaker) Void(reason string) { s.over(model.Response{}, reason) }

// over ends an attempt that failed.
func (s *Speaker) over(resp model.Response, reason string) {
	if s.spoke {
		s.seen, s.void, s.spoke = resp, reason, false
	}
}

// kept returns the answer that stays on the screen when no more attempts are made.
func (s *Speaker) kept(resp model.Response) model.Response {
	if s.spoke {
		return resp
	}
	return s.seen
}
