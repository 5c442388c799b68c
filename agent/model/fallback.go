package model

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Fallback is a Client that uses a second model when the first one fails for good.
type Fallback struct {
	first, second Client
	model         string

	mu    sync.Mutex
	until time.Time // the first one is not asked before
}

// restAfterFailure is how long a model is not asked after its server failed.
const restAfterFailure = 5 * time.Minute

// NewFallback returns a client that asks first and, when that fails for good, second for the given model. It
// does not fall back on an overflow, a refused tool or a cancel: the second one would fail in the same way,
// or is not wanted.
func NewFallback(first, second Client, model string) *Fallback {
	return &Fallback{first: first, second: second, model: model}
}

// Stream asks the first model, then the second.
func (f *Fallback) Stream(ctx context.Context, req Request, emit func(Event)) (Response, error) {
	if f.resting() {
		return f.turnTo(ctx, req, emit)
	}
	spoke := false
	resp, err := f.first.Stream(ctx, req, func(e Event) {
		switch e.(type) {
		case TextEvent, ReasoningEvent, CallEvent:
			spoke = true
		case ResetEvent:
			spoke = false
		}
		emit(e)
	})
	var bad *Error
	if err == nil || ctx.Err() != nil || !errors.As(err, &bad) || !bad.fallsBack() {
		return resp, err
	}
	f.rest()
	emit(NoticeEvent{Text: fmt.Sprintf("%s failed (%s); continuing with %s", req.Model, bad.Text, f.model)})
	if spoke {
		emit(ResetEvent{Reason: bad.Text})
	}
	return f.turnTo(ctx, req, emit)
}

// turnTo asks the second model. Its answer carries the ID under which it was asked for.
func (f *Fallback) turnTo(ctx context.Context, req Request, emit func(Event)) (Response, error) {
	req.Model = f.model
	resp, err := f.second.Stream(ctx, req, emit)
	resp.Model = f.model
	return resp, err
}

// fallsBack reports whether another model may do better.
func (e *Error) fallsBack() bool {
	switch e.Class {
	case ClassAuth, ClassCredit, ClassNetwork, ClassServer:
		return true
	case ClassRequest:
		return e.Status == 404 // no such model
	case ClassOverflow, ClassTool, ClassReplay:
	}
	return false
}

func (f *Fallback) resting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.until)
}

func (f *Fallback) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = time.Now().Add(restAfterFailure)
}
