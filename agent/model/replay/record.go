package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/internal/text"
)

// Recorder writes the answers of models as a script that this package's Client can play. One file may record
// several clients, since a session may change its model.
type Recorder struct {
	canonical func(wire string) string
	// Skip reports whether answers must not be recorded now; nil means never.
	Skip func() bool

	mu     sync.Mutex
	file   *os.File
	begun  bool // the first answer has replaced what was in the file
	failed bool
}

// NewRecorder opens a script at path, readable by its owner only. The first answer that is recorded replaces
// what is in the file; where none is, it stays. canonical translates wire names; nil keeps them.
func NewRecorder(path string, canonical func(wire string) string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record session: %w", err)
	}
	return &Recorder{file: f, canonical: canonical}, nil
}

// Close ends the script.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}

// Wrap returns a client that records the answers of c.
func (r *Recorder) Wrap(c model.Client) model.Client { return recorded{r, c} }

type recorded struct {
	r *Recorder
	c model.Client
}

// Stream asks the wrapped client. Only whole turns are recorded; titles and summaries are not part of a
// script. A failure to write the file is reported once.
func (c recorded) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	resp, err := c.c.Stream(ctx, req, emit)
	if err != nil || req.Purpose != model.PurposeTurn {
		return resp, err
	}
	if werr := c.r.write(req.Agent, resp); werr != nil {
		emit(model.NoticeEvent{Text: "the session is no longer recorded: " + werr.Error()})
	}
	return resp, nil
}

func (r *Recorder) write(agent string, resp model.Response) error {
	if r.Skip != nil && r.Skip() {
		return nil
	}
	t := Turn{Agent: agent, Text: resp.Text, Reasoning: resp.Reasoning}
	for _, c := range resp.Calls {
		name := c.Name
		if r.canonical != nil {
			name = r.canonical(name)
		}
		t.Calls = append(t.Calls, TurnCall{Name: name, Arguments: scriptArguments(c.Arguments)})
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed {
		return nil
	}
	if !r.begun {
		r.begun = true
		if err := empty(r.file); err != nil {
			r.failed = true
			return err
		}
	}
	if _, err := r.file.Write(append(text.JSONLine(line), '\n')); err != nil {
		r.failed = true
		return err
	}
	return nil
}

// empty makes a file empty. What is no regular file, such as a pipe, has nothing to replace.
func empty(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// scriptArguments keeps an object as it is, and anything else as a string.
func scriptArguments(s string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(s), &object) == nil && object != nil {
		return json.RawMessage(s)
	}
	return json.RawMessage(endpoint.AppendString(nil, s))
}
