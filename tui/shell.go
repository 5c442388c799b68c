package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// shellLine is a `!` line that runs.
type shellLine struct {
	line string
	stop context.CancelFunc
}

// shell runs a `!` line as the person; its output goes to the transcript.
func (p *outside) shell(line string) tea.Cmd {
	if line == "" {
		return nil
	}
	args, err := json.Marshal(map[string]string{"cmd": line})
	if err != nil {
		p.Say(event.LevelError, err.Error())
		return nil
	}
	c := transcript.NewCall("", "exec", args, time.Now())
	c.Name = "!"
	p.tr.Add(c)
	p.tr.ToBottom()
	ctx, stop := context.WithCancel(p.ctx)
	run := &shellLine{line, stop}
	p.shells = append(p.shells, run)
	send, start := p.send, time.Now()
	return p.Background(func(context.Context) dialog.Do {
		err := p.opt.Shell(ctx, line, func(out string) {
			send(dialog.Do(func() tea.Cmd { c.Progress("", out); return nil }))
		})
		stopped := ctx.Err() != nil
		stop()
		return func() tea.Cmd {
			p.shells = slices.DeleteFunc(p.shells, func(r *shellLine) bool { return r == run })
			res, status := tools.Result{Text: c.Tail}, "done"
			var moved command.InBackground
			switch {
			case errors.As(err, &moved):
				res.Display.Summary = string(moved)
			case stopped:
				status, res.Failed = string(session.StatusInterrupted), true
			case err != nil:
				res.Failed = true
				if why := err.Error(); strings.HasPrefix(why, "exit ") { // shown in the row, as for the model's commands
					res.Display.Summary = why
				} else {
					res.Text = strings.TrimLeft(strings.TrimRight(c.Tail, "\n")+"\n"+why, "\n")
				}
			}
			c.Open = true
			c.End(event.CallEnd{Status: status, Result: res, Duration: time.Since(start)})
			p.record.Note(transcript.KindShell, transcript.KeptShell{Line: line, Output: text.CutTail(res.Text, transcript.KeptBytes), Why: res.Display.Summary, Failed: res.Failed, Took: c.Took})
			return p.around.read(p.loop, p.scene, p.talk)
		}
	})
}

// running returns how many `!` lines run, and the one that was started last.
func (p *outside) running() (n int, last string) {
	if n = len(p.shells); n > 0 {
		last = p.shells[n-1].line
	}
	return n, last
}

// endShell ends the `!` line that was started last, with everything that it started.
func endShell(p *outside) { p.shells[len(p.shells)-1].stop() }

// shellRow names the `!` line that was started last, and its keys; "" if none runs.
func (p *composer) shellRow() string {
	running, last := p.shells()
	if running == 0 {
		return ""
	}
	th := p.look.Theme
	keys := "  " + p.keys.First(look.Interrupt) + " ends it"
	if key := p.keys.First(look.Background); key != "" && p.opt.ToBackground != nil {
		keys += " · " + key + toTheJobs
	}
	said := "! " + look.OneLine(last)
	if more := running - 1; more > 0 {
		said += " and " + strconv.Itoa(more) + " more"
	}
	const head = "  " // the row of the line moves
	if p.width-cells.Width(head)-cells.Width(keys) < 12 {
		keys = "  " + p.keys.First(look.Interrupt) + " ends it"
	}
	room := max(p.width-cells.Width(head)-cells.Width(keys), 1)
	return cells.Render(look.Clip([]cells.Span{{Text: head}, {Text: cells.FitMiddle(said, room)}, {Text: keys, Style: th.Faint}}, p.width))
}

// toTheJobs says what the key for it does with a running command.
const toTheJobs = " puts it to the jobs"

// jobsHint names the key that moves a command of the model to the jobs, once one has run for a moment; "" where a `!`
// line names it already.
func (p *composer) jobsHint() string {
	key := p.keys.First(look.Background)
	if running, _ := p.shells(); key == "" || running > 0 || p.opt.ToBackground == nil {
		return ""
	}
	for _, c := range p.turn.calls {
		if movable(c) && c.Ran(p.look.Now) >= 3*time.Second {
			return "  " + key + toTheJobs
		}
	}
	return ""
}

// movable reports whether a call is a command that runs.
func movable(c *transcript.Call) bool { return c.Name == "exec" && !c.Waits }

// commandRuns reports whether a command runs that can be moved to the jobs.
func commandRuns(p *outside) bool {
	if p.opt.ToBackground == nil {
		return false
	}
	if len(p.shells) > 0 {
		return true
	}
	for _, c := range p.turn.calls {
		if movable(c) {
			return true
		}
	}
	return false
}

// toBackground moves the running commands to the jobs.
func toBackground(p *outside) tea.Cmd {
	return p.Background(func(context.Context) dialog.Do {
		n := p.opt.ToBackground()
		return func() tea.Cmd {
			if n == 0 {
				p.Flash("no command runs any more")
			} else {
				p.Flash(text.Count(n, "command") + " moved to the background: /jobs")
			}
			return nil
		}
	})
}
