package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
)

// seen collects events.
type seen struct {
	events []model.Event
	text   strings.Builder // what is on the screen at the end
	resets int
	waits  []time.Duration
	notes  []string
}

func (s *seen) emit(e model.Event) {
	s.events = append(s.events, e)
	switch e := e.(type) {
	case model.TextEvent:
		s.text.WriteString(e.Delta)
	case model.ResetEvent:
		s.text.Reset()
		s.resets++
	case model.RetryEvent:
		s.waits = append(s.waits, e.Wait)
	case model.NoticeEvent:
		s.notes = append(s.notes, e.Text)
	}
}

func ask(text string) model.Request {
	return model.Request{Model: "test-model", System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: text}}}
}

func stream(t *testing.T, c model.Client, req model.Request) (model.Response, *seen, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := &seen{}
	resp, err := c.Stream(ctx, req, s.emit)
	return resp, s, err
}

func classOf(t *testing.T, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("want a *model.Error, have %T: %v", err, err)
	}
	return e
}
