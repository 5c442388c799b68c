package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/text"
	"jcode/mcp/wire"
)

// callLimits bound one call.
type callLimits struct {
	idle  time.Duration // since the last sign of progress
	total time.Duration
}

// progressEvery bounds how often progress is shown.
const progressEvery = 100 * time.Millisecond

// timeoutError ends a call that showed no progress for too long.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }

// runningCall is a call in flight, with its timers.
type runningCall struct {
	limits callLimits
	cancel context.CancelCauseFunc
	show   func(string)

	mu     sync.Mutex
	timer  *time.Timer
	begun  time.Time
	paused time.Time // when its timers were paused; zero while they run
	ended  bool
	shown  time.Time
}

// call runs `tools/call` and returns the raw result. sent is false only when no byte of
// the request can have reached the server.
func (s *session) call(ctx context.Context, tool string, args json.RawMessage, limits callLimits, show func(string)) (raw json.RawMessage, sent bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	token := s.tokens.Add(1)
	running := &runningCall{limits: limits, cancel: cancel, show: show, begun: time.Now()}
	key := strconv.FormatInt(token, 10)
	s.mu.Lock()
	s.calls[key] = running
	paused := s.asking > 0
	s.mu.Unlock()
	running.start(paused)
	defer func() {
		running.stop()
		s.mu.Lock()
		delete(s.calls, key)
		s.mu.Unlock()
	}()
	params := &sdk.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(token)
	return s.request(ctx, "tools/call", func(ctx context.Context) error {
		_, err := s.cs.CallTool(ctx, params)
		return err
	})
}

func (c *runningCall) start(paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(c.wait(), c.expire)
	if paused {
		c.stopClock()
	}
}

// wait returns the time until the next limit.
func (c *runningCall) wait() time.Duration {
	return min(c.limits.idle, max(c.limits.total-time.Since(c.begun), time.Millisecond))
}

func (c *runningCall) expire() {
	c.mu.Lock()
	over := time.Since(c.begun) >= c.limits.total
	done := c.ended || !c.paused.IsZero()
	c.mu.Unlock()
	if done {
		return
	}
	if over {
		c.cancel(&timeoutError{fmt.Sprintf("timed out: it ran for %s in all (maxCallTime)", secondsText(c.limits.total))})
		return
	}
	c.cancel(&timeoutError{fmt.Sprintf("timed out after %s without progress (callTimeout)", secondsText(c.limits.idle))})
}

func secondsText(d time.Duration) string {
	if d%time.Second == 0 && d < 10*time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return d.String()
}

// touch restarts the idle timer at a sign of progress and reports whether to show it.
func (c *runningCall) touch() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended && c.paused.IsZero() {
		c.timer.Reset(c.wait())
	}
	if time.Since(c.shown) < progressEvery {
		return false
	}
	c.shown = time.Now()
	return !c.ended
}

// pause stops the timers while a person is asked; resume restarts them. The time in between is part of
// neither limit.
func (c *runningCall) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopClock()
}

// stopClock stops the timers. The caller holds mu.
func (c *runningCall) stopClock() {
	if c.paused.IsZero() {
		c.paused = time.Now()
		c.timer.Stop()
	}
}

func (c *runningCall) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.paused.IsZero() {
		return
	}
	c.begun = c.begun.Add(time.Since(c.paused))
	c.paused = time.Time{}
	c.timer.Reset(c.wait())
}

func (c *runningCall) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.timer.Stop()
}

// progress handles a progress notification.
func (s *session) progress(p *sdk.ProgressNotificationParams) {
	raw, err := json.Marshal(p.ProgressToken)
	if err != nil {
		return
	}
	s.mu.Lock()
	c := s.calls[wire.IDKey(raw)]
	s.mu.Unlock()
	if c == nil || !c.touch() || c.show == nil {
		return
	}
	line := text.FirstLine(p.Message, 200)
	if line == "" {
		line = strconv.FormatFloat(p.Progress, 'g', -1, 64)
		if p.Total > 0 {
			line += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
		}
	}
	c.show(line)
}

// running returns the number of calls in flight.
func (s *session) running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// drained waits until no call runs, the connection is lost, or stop is closed. Each call has
// a limit of its own.
func (s *session) drained(stop <-chan struct{}) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.running() > 0 {
		select {
		case <-tick.C:
		case <-s.link.Lost():
			return
		case <-stop:
			return
		}
	}
}

// elicit passes a server's question to the owner. The timers of the calls are paused, and the
// question ends with the last call that was running at the time.
func (s *session) elicit(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(s.ctx, cancel)
	defer stop()
	s.mu.Lock()
	s.asking++
	for _, c := range s.calls {
		c.pause()
	}
	inCall := len(s.calls) > 0
	s.mu.Unlock()
	if inCall {
		go func() { // a question ends with the calls that it may belong to
			s.drained(ctx.Done())
			cancel()
		}()
	}
	asked := *p
	asked.RequestedSchema = s.link.Tap().Form(p.RequestedSchema)
	result, err := s.hooks.elicit(ctx, &asked)
	s.mu.Lock()
	if s.asking--; s.asking == 0 {
		for _, c := range s.calls { // also those that began meanwhile
			c.resume()
		}
	}
	s.mu.Unlock()
	if err != nil && (ctx.Err() != nil || errors.Is(err, context.Canceled)) {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	return result, err
}

// plainError returns the text of a failed call for people and the model.
func plainError(err error) string { return text.Clean(text.Valid(err.Error())) }
