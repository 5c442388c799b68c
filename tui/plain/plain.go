package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tui/front"
	"jcode/tui/transcript"
)

// Run holds the conversation line by line: no alternate screen, no redraws, no colours, no spinners, for
// screen readers and logs. It ends with in, with /quit, or with ctx, and then returns ctx's cause. A pending
// read of in continues until a line arrives or in is closed.
func Run(ctx context.Context, opt front.Options, in io.Reader, out io.Writer) error {
	p := &shell{opt: opt, out: out, calls: map[string]*transcript.Call{}, diffs: map[string]string{}, ended: make(chan func())}
	s, err := p.first(ctx)
	if err != nil {
		return err
	}
	return p.loop(ctx, in, s)
}

// shell is the state of the mode without a screen.
type shell struct {
	opt  front.Options
	out  io.Writer
	conv front.Conversation
	// events are those of conv, until unplug is called.
	events chan event.Event
	unplug func()
	// prompts are the session's prompts, oldest first.
	prompts []*transcript.Prompt
	calls   map[string]*transcript.Call
	diffs   map[string]string // approved unchanged, by their call
	sum     transcript.Turn
	usage   event.Usage
	record  front.Shown     // of what is written in addition to the messages
	line    strings.Builder // of the answer, until its end
	ended   chan func()     // what the loop does with the results of background work
	shells  []*shellRun     // that run
	asks    []plainAsk
	busy    bool // a prompt is being answered
	// turning says that its turn has begun.
	turning bool
	eof     bool  // no more answers can be given
	failed  error // of the output
	// entered signals the end of a switch of roles; nil without one.
	entered chan error
	work    sync.WaitGroup // the background work
}

func (p *shell) first(ctx context.Context) (front.Session, error) {
	switch {
	case p.opt.Session != nil:
		return *p.opt.Session, nil
	case p.opt.Start != nil:
		return p.opt.Start(ctx)
	}
	return front.Session{}, errors.New("no model is configured: set a key or start a local server, then run jcode again")
}

// loop handles lines and events in turn. If the first session has a role, it is entered before anything else.
func (p *shell) loop(ctx context.Context, in io.Reader, start front.Session) error {
	inner, cancel := context.WithCancel(ctx)
	defer p.work.Wait()
	defer cancel()
	lines := make(chan string)
	go readLines(inner, in, lines)
	p.plug(inner, start)
	p.say("jcode " + p.opt.Version + ", plain mode. /help lists commands, /quit leaves.")
	p.open(start)
	if p.opt.Trust != nil {
		p.trust(p.opt.Trust(ctx))
	}
	first := p.opt.Prompt
	if start.EnterRole != nil {
		p.enterRole(inner, start.EnterRole)
	}
	p.prompt()
	for p.failed == nil {
		p.keep(ctx)
		if p.entered == nil && len(p.asks) == 0 && first != "" {
			p.send(first)
			first = ""
		}
		if p.eof && p.idle() {
			return nil
		}
		taken := lines
		if p.entered != nil && len(p.asks) == 0 {
			taken = nil // they wait for the role
		}
		select {
		case err := <-p.entered:
			if p.roleEntered(err) != nil && first != "" {
				p.say("Not sent: " + first) // it was meant for the role
				first = ""
			}
		case line, ok := <-taken:
			if !ok {
				p.eof, lines = true, nil
				p.refuseAll()
				continue
			}
			if p.take(inner, line) {
				return nil
			}
		case ev := <-p.events:
			p.event(ev)
		case do := <-p.ended:
			do()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return p.failed
}

func readLines(ctx context.Context, in io.Reader, lines chan<- string) {
	defer close(lines)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" || err == nil {
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return // the input has ended, for whatever reason
		}
	}
}

// say writes one or more lines.
func (p *shell) say(s string) {
	p.flush()
	p.write(strings.TrimRight(text.Clean(s), "\n") + "\n")
}

func (p *shell) write(s string) {
	if _, err := io.WriteString(p.out, s); err != nil && p.failed == nil {
		p.failed = fmt.Errorf("write output: %w", err)
	}
}

func (p *shell) flush() {
	s := p.line.String()
	p.line.Reset()
	if s != "" {
		p.write(text.Clean(s) + "\n")
	}
}

func (p *shell) prompt() {
	if p.idle() {
		p.write("> ")
	}
}

// idle reports whether nothing runs and no question is open.
func (p *shell) idle() bool {
	return !p.busy && len(p.shells) == 0 && p.entered == nil && len(p.asks) == 0
}

// keep stores what was written in addition to the messages, as soon as the session is stored.
func (p *shell) keep(ctx context.Context) {
	id := p.conv.State().Session
	if p.opt.Keep == nil || id == "" || len(p.record.Pending) == 0 {
		return
	}
	list := p.record.Pending
	p.record.Pending = nil
	if err := p.opt.Keep(context.WithoutCancel(ctx), id, list); err != nil {
		p.say("Warning: " + err.Error())
	}
}

// history writes the session so far, without tool output.
func (p *shell) history(rows []session.Message, shown []session.Shown) {
	t := transcript.New()
	t.AddHistory(rows, shown)
	p.prompts = t.Prompts()
	for _, it := range t.Items {
		switch it := it.(type) {
		case *transcript.Prompt:
			p.say("You: " + it.Prompt)
		case *transcript.Call:
			p.past(it)
		case *transcript.Group:
			for _, m := range it.Members {
				if c, ok := m.(*transcript.Call); ok {
					p.past(c)
				}
			}
		case *transcript.Thought: // it is not written while it arrives either
		default:
			p.say(it.Text())
		}
	}
}

// past writes a past call: a call of the model with how it ended, a line of the person with its output.
func (p *shell) past(c *transcript.Call) {
	if c.Name == "!" {
		p.say(c.Text())
		if why := c.Result.Display.Summary; why != "" {
			p.say("Failed: " + why)
		}
		return
	}
	p.say(strings.TrimSpace("Tool " + c.Name + " " + c.Brief + ": " + c.Ending()))
}
