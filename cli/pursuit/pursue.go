package pursuit

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
)

// pursue goes on with a conversation until ctx ends.
func (p *Pursuit) pursue(ctx context.Context, conv Conversation, turns <-chan event.Event) {
	for {
		timer := time.NewTimer(p.waits())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-p.wake:
		case <-timer.C:
		case ev := <-turns:
			if end, over := ev.(event.TurnEnd); over {
				p.turnEnded(ctx, conv, end)
			} else {
				p.keep(conv)
			}
		}
		timer.Stop()
		p.timely(ctx, conv)
	}
}

// waits returns how long nothing is to be done but what a turn causes.
func (p *Pursuit) waits() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := time.Hour
	if l := p.state.Loop; l != nil && l.due {
		wait = time.Second // not only a turn keeps a conversation busy
	} else if l != nil {
		wait = min(wait, time.Until(l.Next))
	}
	if g := p.state.Goal; g != nil && !g.retry.IsZero() {
		wait = min(wait, time.Until(g.retry))
	}
	return max(wait, 0)
}

// keep saves what goes on.
func (p *Pursuit) keep(conv Conversation) {
	p.mu.Lock()
	err := p.save()
	p.mu.Unlock()
	if err != nil {
		conv.Notify(event.LevelWarn, "the loop or the goal can't be kept for a resume: %v", err)
	}
}

func busy(conv Conversation) bool { return conv.State().Busy || len(conv.Queue()) > 0 }

// timely does what is due, unless a turn runs: it is done after that.
func (p *Pursuit) timely(ctx context.Context, conv Conversation) {
	now := time.Now()
	p.mu.Lock()
	if p.conv != conv {
		p.mu.Unlock()
		return
	}
	var retry, repeat string
	if g := p.state.Goal; g != nil && g.Paused == "" && !g.retry.IsZero() && !now.Before(g.retry) && !busy(conv) {
		g.retry = time.Time{}
		retry = g.onward(g.Said)
	}
	if l := p.state.Loop; l != nil && !now.Before(l.Next) && retry == "" {
		if l.due = busy(conv); !l.due {
			l.Next = now.Add(l.Every)
			l.Times++
			repeat = l.Prompt
		}
	}
	p.mu.Unlock()
	if retry != "" {
		conv.Prompt(event.Prompt{Text: retry, Shown: "(goal) once more"})
	}
	if repeat == "" {
		return
	}
	said, err := p.opt.Expand(ctx, repeat)
	if err != nil {
		_, _ = p.StopLoop()
		conv.Notify(event.LevelError, "the loop has ended: %v", err)
		return
	}
	conv.Prompt(said)
	p.keep(conv)
}

// mostErrors is how many turns in a row may fail by something that passes.
const mostErrors = 6

// turnEnded counts a turn, and judges the goal.
func (p *Pursuit) turnEnded(ctx context.Context, conv Conversation, end event.TurnEnd) {
	defer p.keep(conv)
	p.mu.Lock()
	if p.conv != conv {
		p.mu.Unlock()
		return
	}
	g := p.state.Goal
	now := conv.Usage()
	if g != nil && g.Paused == "" {
		g.Turns++
		g.Worked += end.Duration
		g.count(p.began, now)
	}
	p.began = now
	ended := end.Reason == event.StopInterrupted && p.state.Loop != nil
	if ended {
		p.state.Loop = nil
	}
	why, judged := p.verdict(g, end)
	if why != "" {
		g.Paused = why
	}
	p.mu.Unlock()
	if ended {
		conv.Notify(event.LevelInfo, "The loop has ended.")
	}
	if why != "" {
		conv.Notify(event.LevelWarn, "The goal is paused: %s. /goal continue goes on, /goal stop ends it.", why)
	}
	if judged && !busy(conv) {
		p.judged(ctx, conv, g)
	}
}

// verdict says what a turn means for a goal: why it is paused, "" for nothing, and whether it is judged now. mu is
// held.
func (p *Pursuit) verdict(g *goal, end event.TurnEnd) (pause string, judged bool) {
	if g == nil || g.Paused != "" {
		return "", false
	}
	switch {
	case end.Reason == event.StopInterrupted:
		return "interrupted", false
	case end.Reason == event.StopLimit:
		return end.Error, false
	case end.Reason == event.StopError && p.opt.Passing(end.Err) && g.errors+1 < mostErrors && g.over() == "":
		wait := time.Minute << g.errors
		g.errors++
		g.retry = time.Now().Add(wait)
		p.conv.Notify(event.LevelInfo, "The goal waits %s after an error.", wait)
		return "", false
	case end.Reason == event.StopError:
		return end.Error, false
	}
	g.errors, g.retry = 0, time.Time{}
	return "", true
}

// judged asks whether the goal holds, and sends the model on where it does not.
func (p *Pursuit) judged(ctx context.Context, conv Conversation, g *goal) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	if p.state.Goal != g {
		p.mu.Unlock()
		return
	}
	g.judging = cancel
	p.mu.Unlock()
	holds, said, err := p.opt.Holds(ctx, g.Target)
	p.mu.Lock()
	g.judging = nil
	if p.state.Goal != g || ctx.Err() != nil {
		p.mu.Unlock()
		return
	}
	now := conv.Usage() // judging costs too
	g.count(p.began, now)
	p.began = now
	g.Said = text.Truncate(text.OneLine(said), 300, "…")
	var notice, prompt string
	level := event.LevelInfo
	switch over := g.over(); {
	case err != nil:
		g.Paused = fmt.Sprintf("it can't be checked: %v", err)
	case holds:
		p.state.Goal = nil
		notice = fmt.Sprintf("The goal holds after %s: %s", g.used(), g.name())
	case over != "":
		g.Paused = over
	default:
		prompt = g.onward(said)
	}
	if g.Paused != "" {
		level, notice = event.LevelWarn, "The goal is paused: "+g.Paused+". /goal shows it."
	}
	p.mu.Unlock()
	if notice != "" {
		conv.Notify(level, "%s", notice)
	}
	if prompt != "" && !busy(conv) { // what the person has said meanwhile comes first
		conv.Prompt(event.Prompt{Text: prompt, Shown: "(goal) not yet: " + cmp.Or(g.Said, "go on")})
	}
}

// over says which limit the goal has met, "" for none.
func (g *goal) over() string {
	switch {
	case g.Turns >= g.MaxTurns:
		return "its " + text.Count(g.MaxTurns, "turn") + " are used up"
	case g.MaxCost > 0 && g.Cost >= g.MaxCost:
		return "its " + text.Dollars(g.MaxCost) + " are used up"
	}
	return ""
}

// First is the prompt with which work on a goal begins.
func (t Target) First() string {
	if t.Command != "" {
		return "Work until this command succeeds: " + t.Command + "\nIt is run after each of your turns, and you are told what it printed. Change what it tests, not the test, unless the test is wrong."
	}
	return "Work until this goal is reached: " + t.Text + "\nAfter each of your turns the conversation is checked for whether it is. So show it: run what proves it. If it can't be reached, say why."
}

// onward sends the model on.
func (g *goal) onward(said string) string {
	var b strings.Builder
	if g.Command != "" {
		fmt.Fprintf(&b, "The command does not succeed yet: %s\n", g.Command)
	} else {
		fmt.Fprintf(&b, "The goal is not reached yet: %s\n", g.Text)
	}
	if said = strings.TrimSpace(said); said != "" {
		fmt.Fprintf(&b, "%s\n", text.CutTail(said, 4000))
	}
	b.WriteString("Go on.")
	return b.String()
}
