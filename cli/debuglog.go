package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/cli/core"
	webcli "jcode/cli/web"
	"jcode/internal/secret"
	"jcode/tools"
)

// maxDebugLog is the size at which a new log is started; one old file is kept.
const maxDebugLog = 10 << 20

// debugLog writes what happens to <data>/logs/jcode.log, for --debug. Keys never reach it: their values are
// replaced wherever they occur.
type debugLog struct {
	log       *slog.Logger
	private   func() bool // nothing must be written now
	following sync.WaitGroup
}

// openDebugLog opens the log if the flag asks for it.
func (a *app) openDebugLog(context.Context) error {
	if !a.flags.Debug {
		return nil
	}
	dir := filepath.Join(a.paths.Data, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return console.Usage("--debug: %w", err)
	}
	path := filepath.Join(dir, "jcode.log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxDebugLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return console.Usage("--debug: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return console.Usage("--debug: %w", err)
	}
	d := &debugLog{log: slog.New(slog.NewTextHandler(&scrubber{out: file, secrets: a.secrets()}, nil)), private: a.privateNow}
	d.log.Info("start", "version", Version(), "cwd", a.cwd, "model", a.flags.Model, "mode", string(a.mode))
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, d)
	a.list = append(a.list, d.extension())
	a.onClose(func() {
		d.following.Wait() // the conversations are closed by now
		d.log.Info("end")
		if err := file.Close(); err != nil {
			fmt.Fprintln(a.std.Err, "jcode: --debug:", err)
		}
	})
	return nil
}

// secrets returns the values of the keys that this run knows.
func (a *app) secrets() []string {
	out := append(slices.Collect(maps.Values(a.models.Settings().Keys)), a.std.Getenv(webcli.KeyEnv(a.config.WebSearch)))
	for _, p := range a.models.Settings().Known() {
		if p.KeyEnv != "" {
			out = append(out, a.std.Getenv(p.KeyEnv))
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return len(v) < 8 }) // a shorter one may occur in ordinary words
}

// BeforeCall changes nothing.
func (d *debugLog) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall logs how a call ended.
func (d *debugLog) AfterCall(call tools.Call, out tools.Outcome) {
	if d.private() {
		return
	}
	d.log.Info("call", "name", out.Call.Name, "id", call.ID, "origin", string(call.Caller.Origin), "ok", !out.Result.Failed,
		"kind", string(out.Result.Kind), "ms", out.Duration.Milliseconds(), "by", string(out.Decision.By), "bytes", len(out.Result.Text))
}

// extension returns what it adds to jcode.
func (d *debugLog) extension() core.Extension {
	return core.Extension{Opened: d.opened}
}

// opened is a point of the extension: it logs a conversation's events until it is closed.
func (d *debugLog) opened(conv *agent.Conversation, _ bool) {
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
func (d *debugLog) write(log *slog.Logger, ev event.Event) {
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
