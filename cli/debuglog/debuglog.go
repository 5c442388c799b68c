package debuglog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/internal/secret"
	"jcode/tools"
)

const (
	maxSize     = 10 << 20 // bytes at which a new log is started; one old file is kept
	shortSecret = 8        // bytes below which a value is not replaced
)

// Log writes what happens to <data>/logs/jcode.log, for --debug. Keys never reach it: their values are
// replaced wherever they occur.
type Log struct {
	log       *slog.Logger
	file      *os.File
	private   func() bool // nothing must be written now
	following sync.WaitGroup
}

// Options say what a log leaves out.
type Options struct {
	Data    string      // the data folder
	Secrets []string    // values that are replaced
	Private func() bool // nothing must be written now
}

// Open opens the log; begun is what its first line says.
func Open(o Options, begun ...any) (*Log, error) {
	dir := filepath.Join(o.Data, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, console.Usage("--debug: %w", err)
	}
	path := filepath.Join(dir, "jcode.log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxSize {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, console.Usage("--debug: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, console.Usage("--debug: %w", err)
	}
	// A short value may occur in ordinary words.
	secrets := slices.DeleteFunc(slices.Clone(o.Secrets), func(v string) bool { return len(v) < shortSecret })
	d := &Log{log: slog.New(slog.NewTextHandler(&scrubber{out: file, secrets: secrets}, nil)), file: file, private: o.Private}
	d.log.Info("start", begun...)
	return d, nil
}

// Close ends the log, after the conversations.
func (d *Log) Close() error {
	d.following.Wait()
	d.log.Info("end")
	return d.file.Close()
}

// BeforeCall changes nothing.
func (d *Log) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall logs how a call ended.
func (d *Log) AfterCall(call tools.Call, out tools.Outcome) {
	if d.private() {
		return
	}
	d.log.Info("call", "name", out.Call.Name, "id", call.ID, "origin", string(call.Caller.Origin), "ok", !out.Result.Failed,
		"kind", string(out.Result.Kind), "ms", out.Duration.Milliseconds(), "by", string(out.Decision.By), "bytes", len(out.Result.Text))
}

// Extension returns what it adds to jcode.
func (d *Log) Extension() core.Extension {
	return core.Extension{Opened: d.opened}
}

// opened is a point of the extension: it logs a conversation's events until it is closed.
func (d *Log) opened(conv *agent.Conversation, _ bool) {
	sub := conv.Observe()
	d.following.Go(func() {
		for {
			ev, ok := sub.Next(context.Background()) // ends with the conversation
			if !ok {
				return
			}
			if !conv.Private() {
				d.write(d.log, ev)
			}
		}
	})
}

// write logs one event: of what was said only its size, of calls what AfterCall does not know.
func (d *Log) write(log *slog.Logger, ev event.Event) {
	switch ev := ev.(type) {
	case event.TextDelta, event.ReasoningDelta, event.CallWriting, event.CallProgress, event.CallEnd:
	case event.TurnStart:
		log.Info("turn", "seq", ev.Seq, "bytes", len(ev.Prompt))
	case event.Preparing:
		log.Info("preparing", "bytes", len(ev.Prompt.Text), "doing", ev.Doing)
	case event.Unsent:
		log.Info("unsent", "bytes", len(ev.Prompt.Text), "error", ev.Err)
	case event.QueueChanged:
		log.Info("queue", "waiting", len(ev.Queued))
	case event.AssistantMessage:
		log.Info("answer", "seq", ev.Seq, "bytes", len(ev.Text), "calls", ev.Calls)
	case event.Nested:
		d.write(log.With("agent", ev.Label, "session", ev.Session), ev.Event)
	default:
		log.Info(strings.TrimPrefix(fmt.Sprintf("%T", ev), "event."), "event", eventText(ev))
	}
}

// eventText encodes an event's fields as JSON; raw JSON in it remains text.
func eventText(ev event.Event) string {
	if end, ok := ev.(event.TurnEnd); ok {
		end.Err = nil // its text is in Error
		ev = end
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(ev); err != nil { // JSON cannot represent it
		return fmt.Sprintf("%+v", ev)
	}
	return strings.TrimSpace(b.String())
}

// scrubber replaces secrets in what passes through it, line by line.
type scrubber struct {
	out     io.Writer
	secrets []string
}

// Write writes one line of the log.
func (s *scrubber) Write(line []byte) (int, error) {
	text := string(line)
	for _, hidden := range s.secrets {
		text = strings.ReplaceAll(text, hidden, secret.Mark)
	}
	if _, err := io.WriteString(s.out, text); err != nil {
		return 0, err
	}
	return len(line), nil
}
