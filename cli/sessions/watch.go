package sessionscli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"jcode/agent/event/wire"
	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/internal/text"
	"jcode/remote"
)

type watchCmd struct {
	Session string `arg:"" optional:"" help:"End of the ID or part of the title; not needed if only one is open."`
	JSON    bool   `name:"json" help:"Print events as lines of JSON, as --output-format stream-json does."`
}

// watched writes an event for people.
func watched(out *bufio.Writer, line json.RawMessage) {
	var ev struct {
		Type, Prompt, Delta, Name, Message, Content, Text, Reason, By, Agent string
		Arguments                                                            json.RawMessage
		Question                                                             wire.Question
		Options                                                              []string
		OK                                                                   bool
	}
	if json.Unmarshal(line, &ev) != nil || ev.Agent != "" {
		return
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(out, format+"\n", args...) //nolint:errcheck // the error sticks and comes with Flush
	}
	switch ev.Type {
	case "turn_start":
		say("\n> %s", text.Visible(ev.Prompt))
	case "assistant":
		if ev.Text != "" {
			say("%s", text.Clean(ev.Text))
		}
	case "tool_call":
		say("* %s %s", text.Visible(ev.Name), text.Visible(text.Cut(string(ev.Arguments), 200)))
	case "tool_result":
		if !ev.OK {
			say("  failed: %s", text.Visible(text.Cut(ev.Content, 300)))
		}
	case "notice":
		say("- %s", text.Visible(ev.Message))
	case "approval_asked":
		say("? %s", text.Visible(ev.Question.Title))
		for i, o := range ev.Question.Options {
			say("  %d  %s", i+1, text.Visible(o.Label))
		}
		for i, h := range ev.Question.Hunks {
			say("  --hunks %d  %s", i+1, text.Visible(fmt.Sprintf("%s line %d +%d -%d", h.File, h.Line, h.Added, h.Removed)))
		}
	case "ask":
		say("? %s", text.Visible(ev.Text))
		for i, o := range ev.Options {
			say("  %d  %s", i+1, text.Visible(o))
		}
	case "approval_closed", "ask_closed":
		say("  answered%s", map[bool]string{true: " by " + text.Visible(ev.By)}[ev.By != ""])
	case "turn_end":
		say("(%s)", ev.Reason)
	}
	_ = out.Flush() // a reader that is gone ends the command with its next signal
}

// watching prints what happens in a session, over as many connections as that takes.
type watching struct {
	live live.Sessions
	show func(line json.RawMessage)

	session string
	pid     int    // of the process that was followed last
	last    uint64 // number of the last event, in that process
	seq     int64  // of the last message that was shown
}

// Run prints what happens in an open session until it is closed.
func (c *watchCmd) Run(ctx context.Context, std Setup) error {
	l, err := std.Live()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(std.Out, 64<<10)
	w := &watching{live: l, show: func(line json.RawMessage) {
		if c.JSON {
			console.WriteLine(out, line)
			return
		}
		watched(out, line)
	}}
	f := newHeard(ctx)
	client, s, err := l.Find(ctx, c.Session, f.handlers())
	if err != nil {
		return err
	}
	w.session = s.SessionID
	away := absence{since: time.Now(), within: live.LostFor}
	for {
		why, err := w.follow(ctx, client, f)
		switch {
		case ctx.Err() != nil:
			return console.Interrupted()
		case err != nil:
			return &console.Exit{Code: console.ExitModel, Err: err}
		case why == whyRefused: // its process is ending: what was known of the session still holds, and how long it is looked for
			select {
			case <-time.After(live.LookAgain):
			case <-ctx.Done():
			}
		case why == remote.WhyClosed:
			away = absence{since: time.Now(), within: live.ClosedFor, closed: true}
		default:
			away = absence{since: time.Now(), within: live.LostFor}
			fmt.Fprintln(std.Err, "jcode: the connection to the session is lost; it is looked for")
		}
		f = newHeard(ctx)
		client, err = l.Await(ctx, w.session, time.Until(away.since.Add(away.within)), f.handlers())
		switch {
		case ctx.Err() != nil:
			return console.Interrupted()
		case err != nil && away.closed: // and that was all
			return nil
		case err != nil:
			return &console.Exit{Code: console.ExitModel, Err: err}
		}
	}
}

// absence is a time without the session.
type absence struct {
	since  time.Time
	within time.Duration // how long it is looked for
	closed bool          // it ended as it should
}

// heard is what comes over one connection.
type heard struct {
	ctx   context.Context
	stop  context.CancelFunc
	lines chan json.RawMessage
	ended chan string // why
}

func newHeard(ctx context.Context) *heard {
	f := &heard{lines: make(chan json.RawMessage, 1000), ended: make(chan string, 2)}
	f.ctx, f.stop = context.WithCancel(ctx) // ends a handler that waits
	return f
}

// Why a session is not followed, besides what its process says.
const (
	whyLost    = "lost"    // the connection ended without a word
	whyRefused = "refused" // it could not be attached
)

func (f *heard) handlers() remote.Handlers {
	return remote.Handlers{
		Event: func(ev remote.Event) {
			select {
			case f.lines <- ev.Event:
			case <-f.ctx.Done():
			}
		},
		Ended:   func(e remote.Ended) { f.ended <- e.Why },
		Stopped: func(error) { f.ended <- whyLost },
	}
}

// follow shows what is new until the connection or the session ends, and says why it did. It closes the client.
func (w *watching) follow(ctx context.Context, client *remote.Client, f *heard) (why string, err error) {
	defer client.Close()
	defer f.stop()
	p := remote.Attach{Session: w.session, Role: remote.Watch}
	if client.Welcome.Pid == w.pid {
		p.After = &w.last
	}
	var at remote.Attached
	if err := client.Call(ctx, "attach", p, &at); err != nil {
		return whyRefused, nil //nolint:nilerr // it has just gone: it is looked for again
	}
	w.pid = client.Welcome.Pid
	if !at.Resumed {
		w.last = at.Last
		w.begin(at.History, at.Now)
	}
	for {
		select {
		case line := <-f.lines:
			w.take(line)
		case why := <-f.ended:
			for len(f.lines) > 0 {
				w.take(<-f.lines)
			}
			return why, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// begin shows what is stored and going on, without the messages that were shown before.
func (w *watching) begin(history, now []json.RawMessage) {
	known := w.seq
	for _, line := range history {
		if seq, ok := messageOf(line); ok && seq > known {
			known = 0 // all that follows is new
		}
		if known == 0 {
			w.take(line)
		}
	}
	for _, line := range now {
		if seq, ok := messageOf(line); !ok || seq > w.seq {
			w.take(line)
		}
	}
}

// take shows a line, and notes how far that is.
func (w *watching) take(line json.RawMessage) {
	var head struct{ N, To uint64 }
	if json.Unmarshal(line, &head) == nil {
		w.last = max(w.last, head.N, head.To)
	}
	if seq, numbered := messageOf(line); numbered {
		w.seq = max(w.seq, seq)
	}
	w.show(line)
}

// messageOf returns the number of the message that a line is of, if it begins one.
func messageOf(line json.RawMessage) (seq int64, ok bool) {
	var head struct {
		Type, Agent string
		Seq         int64
	}
	if json.Unmarshal(line, &head) != nil || head.Agent != "" {
		return 0, false
	}
	return head.Seq, (head.Type == "turn_start" || head.Type == "assistant") && head.Seq > 0
}
