package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"jcode/agent"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// RunPlain holds the conversation line by line: no alternate screen, no redraws, no
// colours, no spinners, for screen readers and logs. It ends with in, with /quit, or with
// ctx, and then returns ctx's cause. A read of in that is under way when it ends goes on
// until a line comes or in is closed.
func RunPlain(ctx context.Context, opt Options, in io.Reader, out io.Writer) error {
	p := &plain{opt: opt, out: out, calls: map[string]*callItem{}}
	s, err := p.first(ctx)
	if err != nil {
		return err
	}
	p.conv, p.events = s.Conversation, s.Events
	p.say("jcode " + opt.Version + ", plain mode. /help lists commands, /quit leaves.")
	st := p.conv.State()
	p.say("Model " + st.Model + ", mode " + string(st.Mode) + ", folder " + orElse(st.Cwd, opt.Cwd) + ".")
	p.history(s.History)
	for _, n := range s.Notices {
		p.notice(n)
	}
	if opt.Trust != nil {
		p.trust(opt.Trust(ctx))
	}
	return p.loop(ctx, in, s.EnterRole)
}

// plain is the state of the mode without a screen.
type plain struct {
	opt    Options
	out    io.Writer
	conv   Conversation
	events Events
	calls  map[string]*callItem
	line   strings.Builder // of the answer, until its end
	asks   []plainAsk
	busy   bool
	eof    bool  // nobody answers any more
	failed error // of the output
	// entered ends a switch of the role, which work carries out; nil while there is none.
	entered chan error
	work    sync.WaitGroup
}

func (p *plain) first(ctx context.Context) (Session, error) {
	switch {
	case p.opt.Session != nil:
		return *p.opt.Session, nil
	case p.opt.Start != nil:
		return p.opt.Start(ctx)
	}
	return Session{}, errors.New("no model is configured: set a key or start a local server, then run jcode again")
}

// loop takes lines and events in turn. enter, where there is one, comes before everything.
func (p *plain) loop(ctx context.Context, in io.Reader, enter func(context.Context) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer p.work.Wait()
	defer cancel()
	lines, events := make(chan string), make(chan agent.Event)
	go readLines(inner, in, lines)
	var pump sync.WaitGroup
	defer pump.Wait()
	defer cancel()
	pump.Add(1)
	go func() {
		defer pump.Done()
		defer p.events.Close()
		for {
			ev, ok := p.events.Next(inner)
			if !ok {
				return
			}
			select {
			case events <- ev:
			case <-inner.Done():
				return
			}
		}
	}()
	first := p.opt.Prompt
	if enter != nil {
		p.enterRole(inner, enter)
	}
	p.prompt()
	for p.failed == nil {
		if p.entered == nil && first != "" {
			p.conv.Prompt(agent.Prompt{Text: first})
			first, p.busy = "", true
		}
		if p.eof && !p.busy && p.entered == nil && len(p.asks) == 0 {
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
		case ev := <-events:
			p.event(ev)
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
			return // the end of the input, however it came
		}
	}
}

// say writes one or more lines.
func (p *plain) say(s string) {
	if p.line.Len() > 0 {
		p.flush()
	}
	p.write(strings.TrimRight(text.Clean(s), "\n") + "\n")
}

func (p *plain) write(s string) {
	if _, err := io.WriteString(p.out, s); err != nil && p.failed == nil {
		p.failed = fmt.Errorf("write output: %w", err)
	}
}

func (p *plain) flush() {
	s := p.line.String()
	p.line.Reset()
	if s != "" {
		p.write(text.Clean(s) + "\n")
	}
}

func (p *plain) prompt() {
	if !p.busy && len(p.asks) == 0 && p.entered == nil {
		p.write("> ")
	}
}

// take handles a line of the person; true leaves.
func (p *plain) take(ctx context.Context, line string) bool {
	if len(p.asks) > 0 {
		p.answer(ctx, line)
		return false
	}
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		p.prompt()
	case line == "/quit" || line == "/exit":
		return true
	case strings.HasPrefix(line, "/"):
		p.command(ctx, line)
	default:
		p.conv.Prompt(agent.Prompt{Text: line})
		p.busy = true
	}
	return false
}

// command runs the commands that make sense without a screen.
func (p *plain) command(ctx context.Context, line string) {
	name := firstWord(line)[1:]
	args := strings.TrimSpace(line[1+len(name):])
	var err error
	switch name {
	case "help":
		p.say("/mode MODE, /model NAME, /role NAME|off|info|set NAME VALUE, /rename TITLE, /compact, /stop, /quit")
		for _, c := range p.opt.Commands.List() {
			p.say("/" + c.Name + " " + c.Hint + ": " + c.Description)
		}
	case "stop":
		p.conv.Interrupt()
	case "mode":
		var m tools.Mode
		if m, err = tools.ParseMode(args); err == nil {
			p.conv.SetMode(m)
			if now := p.conv.State().Mode; now != m {
				p.say("Mode " + string(now) + ": the role allows no more; mode " + args + " holds when it ends.")
				break
			}
			p.say("Mode " + args + ": " + modeHelp[m] + ".")
		}
	case "model":
		err = p.conv.SetModel(args)
	case "role":
		p.role(ctx, args)
	case "rename":
		err = p.conv.Rename(args)
	case "compact":
		err = p.conv.Compact(ctx, args)
	default:
		p.foreign(ctx, name, args, line)
	}
	if err != nil {
		p.say("Error: " + err.Error())
	}
	p.prompt()
}

func (p *plain) foreign(ctx context.Context, name, args, line string) {
	c, ok := p.opt.Commands.Find(name)
	if !ok {
		p.say("Unknown command /" + name + ". /help lists them.")
		return
	}
	out, err := c.Run(ctx, args)
	if err != nil {
		p.say("Error: " + err.Error())
		return
	}
	if out.Notice != "" {
		p.say(out.Notice)
	}
	if out.Prompt != "" {
		p.conv.Prompt(agent.Prompt{Text: out.Prompt, Shown: orElse(out.Shown, line), Skill: out.Skill, Model: out.Model, Allow: out.Allow})
		p.busy = true
	}
}

// event writes what happened.
func (p *plain) event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.TurnStart:
		p.busy = true
		p.say("You: " + ev.Prompt)
	case agent.TextDelta:
		p.text(ev.Text)
	case agent.AnswerReset:
		p.say("(the answer begins again: " + ev.Reason + ")")
	case agent.AssistantMessage:
		p.flush()
	case agent.CallStart:
		c := newCall(ev.ID, ev.Name, ev.Arguments, ev.At)
		p.calls[ev.ID] = c
		p.say("Tool " + ev.Name + ": " + oneLine(c.brief))
	case agent.CallEnd:
		p.callEnd(ev)
	case agent.ApprovalAsked:
		p.approval(ev)
	case agent.AskPerson:
		p.ask(ev)
	case agent.AskForm:
		p.form(ev)
	case agent.ApprovalClosed:
		p.closed(ev.ID)
	case agent.AskClosed:
		p.closed(ev.ID)
	case agent.Notice:
		p.notice(ev)
	case agent.ToolsChanged:
		p.say(toolsChanged(ev))
	case agent.Retrying:
		p.say("Trying again in " + ev.Wait.Round(time.Second).String() + ": " + oneLine(ev.Reason))
	case agent.Compacted:
		p.say("The conversation was summarised.")
	case agent.TurnEnd:
		p.turnEnd(ev)
	}
}

// text writes the lines of an answer as they become whole.
func (p *plain) text(s string) {
	p.line.WriteString(s)
	all := p.line.String()
	i := strings.LastIndexByte(all, '\n')
	if i < 0 {
		return
	}
	p.line.Reset()
	p.line.WriteString(all[i+1:])
	p.write(text.Clean(all[:i]) + "\n")
}

func (p *plain) notice(n agent.Notice) {
	switch n.Level {
	case agent.LevelError:
		p.say("Error: " + n.Text)
	case agent.LevelWarn:
		p.say("Warning: " + n.Text)
	case agent.LevelInfo:
		p.say(n.Text)
	}
}

func (p *plain) callEnd(ev agent.CallEnd) {
	c := p.calls[ev.ID]
	if c == nil {
		return
	}
	delete(p.calls, ev.ID)
	c.end(ev)
	status := c.status
	if status == "done" && c.failed() {
		status = "failed"
	}
	p.say(strings.TrimSpace("Tool " + ev.Name + " " + status + ". " + c.outcome()))
	if d := ev.Result.Display.Diff; d != "" {
		p.say(text.Visible(d))
		if found := ev.Result.Display.Found; found != "" {
			p.say(text.Visible(found))
		}
	} else if c.failed() {
		p.excerpt(c.said(), failedLines, c.name == "exec")
	}
}

// excerpt writes at most limit lines of a text, the first or with tail the last ones, and
// how many it leaves out.
func (p *plain) excerpt(s string, limit int, tail bool) {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	hidden := max(len(lines)-limit, 0)
	more := "(" + count(hidden, "more line") + ")"
	switch {
	case hidden == 0:
		p.say(strings.Join(lines, "\n"))
	case tail:
		p.say(more + "\n" + strings.Join(lines[hidden:], "\n"))
	default:
		p.say(strings.Join(lines[:limit], "\n") + "\n" + more)
	}
}

func (p *plain) turnEnd(ev agent.TurnEnd) {
	p.flush()
	p.busy = false
	switch ev.Reason {
	case agent.StopInterrupted:
		p.say("Interrupted. What was finished is kept.")
	case agent.StopError:
		p.say("Error: " + orElse(ev.Error, "the turn failed"))
	case agent.StopLimit:
		p.say("Stopped at a limit: " + ev.Error)
	case agent.StopDone:
	}
	p.prompt()
}

// history writes the session so far, without tool output.
func (p *plain) history(rows []session.Message) {
	for _, m := range rows {
		switch m.Role {
		case session.RoleUser:
			p.say("You: " + shownPrompt(m.Parts))
		case session.RoleAssistant:
			if s := partText(m.Parts, session.PartText); s != "" {
				p.say(s)
			}
			for _, c := range m.Calls {
				p.say("Tool " + c.Name + " " + string(c.Status) + ".")
			}
		}
	}
}
