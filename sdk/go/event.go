package sdk

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
)

// Event is a line of what happens. docs/scripting.md lists the types and their fields.
type Event struct {
	Type string          `json:"type"`
	Raw  json.RawMessage `json:"-"`
}

// Decode reads the fields.
func (e Event) Decode(v any) error { return json.Unmarshal(e.Raw, v) }

// Text returns a field that is a text.
func (e Event) Text(field string) string {
	var all map[string]any
	_ = json.Unmarshal(e.Raw, &all) // it was read before
	said, _ := all[field].(string)
	return said
}

// Result is how a turn ended: the event result.
type Result struct {
	OK         bool            `json:"ok"`
	Text       string          `json:"text"`
	Error      string          `json:"error"`
	Structured json.RawMessage `json:"structured_output"`
	SessionID  string          `json:"session_id"`
	Steps      int             `json:"steps"`
	PromptIDs  []string        `json:"prompt_ids"`
}

// Prompt sends a prompt and returns what happens up to its result, which is the last event. It is over early where the
// caller leaves the loop; the turn goes on then, and Interrupt ends it.
func (s *Session) Prompt(ctx context.Context, text string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := &reader{more: make(chan struct{}, 1)}
		s.mu.Lock()
		s.readers[r] = true
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			delete(s.readers, r)
			s.mu.Unlock()
		}()
		var queued struct {
			ID   string `json:"id"`
			Said string `json:"said"`
		}
		if err := s.Do(ctx, "prompt", map[string]any{"text": text}, &queued); err != nil {
			yield(Event{}, err)
			return
		}
		if queued.ID == "" { // a command that did all there was to do
			raw, _ := json.Marshal(map[string]any{"type": "result", "ok": true, "text": queued.Said, "session_id": s.ID}) // texts can be encoded
			yield(Event{Type: "result", Raw: raw}, nil)
			return
		}
		for {
			ev, err := r.next(ctx)
			if err != nil {
				yield(Event{}, err)
				return
			}
			if ev.Type == "unsent" && ev.Text("queued") == queued.ID {
				yield(Event{}, &Error{"failed", ev.Text("error")})
				return
			}
			var res Result
			last := ev.Type == "result" && ev.Decode(&res) == nil && slices.Contains(res.PromptIDs, queued.ID)
			if !yield(ev, nil) || last {
				return
			}
		}
	}
}

// Ask sends a prompt and returns its result alone.
func (s *Session) Ask(ctx context.Context, text string) (res Result, err error) {
	for ev, failed := range s.Prompt(ctx, text) {
		if failed != nil {
			return res, failed
		}
		if ev.Type == "result" {
			err = ev.Decode(&res)
		}
	}
	return res, err
}

// reader holds events until somebody reads them.
type reader struct {
	mu     sync.Mutex
	events []Event
	closed bool
	more   chan struct{}
}

func (r *reader) add(ev Event) {
	r.mu.Lock()
	r.events = append(r.events, ev)
	r.mu.Unlock()
	r.ring()
}

func (r *reader) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.ring()
}

func (r *reader) ring() {
	select {
	case r.more <- struct{}{}:
	default: // it rings already
	}
}

func (r *reader) next(ctx context.Context) (Event, error) {
	for {
		r.mu.Lock()
		if len(r.events) > 0 {
			ev := r.events[0]
			r.events = r.events[1:]
			r.mu.Unlock()
			return ev, nil
		}
		closed := r.closed
		r.mu.Unlock()
		if closed {
			return Event{}, ErrEnded
		}
		select {
		case <-r.more:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}
