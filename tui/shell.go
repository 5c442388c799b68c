package tui

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
)

// shell runs a `!` line as the person; its output goes to the transcript.
func (p *outside) shell(line string) tea.Cmd {
	if line == "" {
		return nil
	}
	args, err := json.Marshal(map[string]string{"cmd": line})
	if err != nil {
		p.say(event.LevelError, err.Error())
		return nil
	}
	c := newCall("", "exec", args, time.Now())
	c.name = "!"
	p.tr.add(c)
	p.tr.toBottom()
	p.status = "running " + firstWord(line)
	send, start := p.send, time.Now()
	return p.background(func(ctx context.Context) do {
		err := p.opt.Shell(ctx, line, func(out string) {
			send(do(func() tea.Cmd { c.progress("", out); return nil }))
		})
		return func() tea.Cmd {
			p.status = ""
			res := tools.Result{Text: c.tail}
			if err != nil {
				res.Failed = true
				if why := err.Error(); strings.HasPrefix(why, "exit ") { // shown in the row, as for the model's commands
					res.Display.Summary = why
				} else {
					res.Text = strings.TrimLeft(strings.TrimRight(c.tail, "\n")+"\n"+why, "\n")
				}
			}
			c.open = true
			c.end(event.CallEnd{Status: "done", Result: res, Duration: time.Since(start)})
			p.record.note(shownShell, keptShell{Line: line, Output: text.CutTail(res.Text, keptBytes), Why: res.Display.Summary, Failed: res.Failed, Took: c.took})
			return nil
		}
	})
}
