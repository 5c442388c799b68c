package plain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// event writes what happened.
func (p *shell) event(ev event.Event) {
	switch ev := ev.(type) {
	case event.TurnStart:
		if !p.turning { // otherwise a queued message joined the turn
			p.sum = transcript.Turn{Before: p.usage}
		}
		p.busy, p.turning = true, true
		if ev.Seq > 0 {
			p.prompts = append(p.prompts, transcript.NewPrompt(ev.Prompt, ev.At, ev.Seq, nil))
		}
		p.say("You: " + ev.Prompt)
	case event.TextDelta:
		p.text(ev.Text)
	case event.AnswerReset:
		p.say("(the answer begins again: " + ev.Reason + ")")
	case event.AssistantMessage:
		p.flush()
	case event.CallStart:
		c := transcript.NewCall(ev.ID, ev.Name, ev.Arguments, ev.At)
		p.calls[ev.ID] = c
		p.say("Tool " + ev.Name + ": " + look.OneLine(c.Brief))
	case event.CallEnd:
		p.callEnd(ev)
	case event.ApprovalAsked:
		p.approval(ev)
	case event.AskPerson:
		p.ask(ev)
	case event.AskForm:
		p.form(ev)
	case event.ApprovalClosed:
		p.closed(ev.ID)
	case event.AskClosed:
		p.closed(ev.ID)
	case event.Notice:
		p.notice(ev)
	case event.ToolsChanged:
		if news := front.ToolsChanged(ev, p.conv.State().Mode); news != "" {
			p.say(news)
		}
	case event.Retrying:
		p.say("Trying again in " + ev.Wait.Round(time.Second).String() + ": " + look.OneLine(ev.Reason))
	case event.Usage:
		p.usage = ev
	case event.Nested:
		if end, ok := ev.Event.(event.CallEnd); ok {
			p.sum.Note(end.Result.Display)
		}
	case event.Rewound:
		p.prompts = slices.DeleteFunc(p.prompts, func(it *transcript.Prompt) bool { return it.Seq >= ev.From })
	case event.Compacted:
		p.say("The conversation was summarised.")
	case event.Unsent:
		p.say("Not sent: " + front.TypedAs(ev.Prompt))
	case event.NotesUsed:
		p.sum.Used = ev.Notes
	case event.TurnEnd:
		p.turnEnd(ev)
	}
}

// text writes the lines of an answer as they are completed.
func (p *shell) text(s string) {
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

// notice writes a line that is stored with the session.
func (p *shell) notice(n event.Notice) {
	p.record.Note(transcript.KindNotice, transcript.KeptNotice{Level: n.Level, Text: text.Cut(n.Text, transcript.KeptBytes)})
	prefix := ""
	switch n.Level {
	case event.LevelError:
		prefix = "Error: "
	case event.LevelWarn:
		prefix = "Warning: "
	case event.LevelInfo:
	}
	p.say(prefix + n.Text)
}

func (p *shell) callEnd(ev event.CallEnd) {
	c := p.calls[ev.ID]
	if c == nil {
		return
	}
	delete(p.calls, ev.ID)
	c.End(ev)
	p.sum.Note(ev.Result.Display)
	p.say("Tool " + ev.Name + " " + c.Ending())
	approved := p.diffs[ev.ID]
	delete(p.diffs, ev.ID)
	if d := ev.Result.Display.Diff; d != "" {
		if d != approved { // otherwise the question showed it
			p.say(text.Visible(d))
		}
		if found := ev.Result.Display.Found; found != "" {
			p.say(text.Visible(found))
		}
	} else if c.Failed() {
		p.excerpt(c.Said(), look.FailedLines, c.Name == "exec")
	} else if found := ev.Result.Display.Found; found != "" {
		p.say(text.Visible(found))
	}
}

// excerpt writes at most limit lines of a text, the first ones or with tail the last ones, and how many it
// omits.
func (p *shell) excerpt(s string, limit int, tail bool) {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	hidden := max(len(lines)-limit, 0)
	more := "(" + text.Count(hidden, "more line") + ")"
	switch {
	case hidden == 0:
		p.say(strings.Join(lines, "\n"))
	case tail:
		p.say(more + "\n" + strings.Join(lines[hidden:], "\n"))
	default:
		p.say(strings.Join(lines[:limit], "\n") + "\n" + more)
	}
}

func (p *shell) turnEnd(ev event.TurnEnd) {
	p.flush()
	began := p.turning
	p.busy, p.turning = false, false
	switch ev.Reason {
	case event.StopInterrupted:
		p.notice(event.Notice{Level: event.LevelWarn, Text: "Interrupted. What was finished is kept."})
	case event.StopError:
		p.notice(event.Notice{Level: event.LevelError, Text: cmp.Or(ev.Error, "the turn failed")})
	case event.StopLimit:
		p.notice(event.Notice{Level: event.LevelWarn, Text: "Stopped at a limit: " + ev.Error})
	case event.StopDone:
	}
	p.sum.Took, p.sum.After = ev.Duration, p.usage
	if parts := p.sum.Parts(); began && len(parts) > 0 {
		p.say(strings.Join(parts, " · "))
		p.record.Note(transcript.KindTurn, transcript.KeptTurn{Parts: parts})
	}
	p.prompt()
}
