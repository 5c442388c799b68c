package tui

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// promptList lists prompts, the last one first; Enter calls show with the chosen one.
func promptList(all []*transcript.Prompt, show func(pr *transcript.Prompt)) *dialog.Picker {
	rows := make([]command.Row, 0, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		r := command.Row{ID: strconv.Itoa(i), Name: look.OneLine(all[i].Prompt), Detail: all[i].Prompt}
		if !all[i].At.IsZero() {
			r.State = all[i].At.Local().Format("15:04")
		}
		rows = append(rows, r)
	}
	pk := dialog.NewPicker("Prompts of this conversation", rows, func(r command.Row) tea.Cmd {
		if i, err := strconv.Atoi(r.ID); err == nil && i < len(all) {
			show(all[i])
		}
		return nil
	})
	pk.Enter, pk.Empty = "go there", "there is no prompt yet"
	return pk
}

// goToPrompt opens the list of this conversation's prompts.
func goToPrompt(p *scene) tea.Cmd {
	p.Open(promptList(p.tr.Prompts(), func(pr *transcript.Prompt) { p.tr.Reveal(&p.look, pr) }))
	return nil
}

// efforts are the values that most models know, with what they mean. They are never written.
var efforts = []command.Row{
	{ID: "default", Name: "default", Info: "what the model does by itself"},
	{ID: "none", Name: "none", Info: "answers at once"},
	{ID: "low", Name: "low", Info: "thinks a little"},
	{ID: "medium", Name: "medium"},
	{ID: "high", Name: "high", Info: "thinks long: slower, and costs more"},
}

// effortNames completes /effort.
func effortNames(args string) (out []string) {
	for _, r := range efforts {
		if strings.HasPrefix(r.ID, args) {
			out = append(out, r.ID)
		}
	}
	return out
}

// effort sets how much the model thinks; without a value, one is chosen from a list.
func (p *settings) effort(value string) tea.Cmd {
	c, ok := p.opt.Commands.Find("set")
	if !ok {
		p.Flash("how much the model thinks can't be chosen here")
		return nil
	}
	set := func(value string) tea.Cmd {
		if value == "default" {
			value = ""
		}
		run := func(ctx context.Context) (command.Outcome, error) { return c.Run(ctx, "reasoning_effort "+value) }
		return dialog.Fetch(p, run, func(out command.Outcome, err error) tea.Cmd {
			if err != nil {
				p.Say(event.LevelError, "effort: "+err.Error())
				return nil
			}
			if p.conv != nil {
				p.state = p.conv.State()
			}
			p.Flash(out.Notice)
			return nil
		})
	}
	if value = strings.TrimSpace(value); value != "" {
		return set(value)
	}
	now, known := cmp.Or(p.state.Effort, "default"), false
	var rows []command.Row
	for _, r := range efforts {
		r.Current = r.ID == now
		known = known || r.Current
		rows = append(rows, r)
	}
	if !known { // a role or a config has one of its own
		rows = append(rows, command.Row{ID: now, Name: now, Current: true})
	}
	p.options("How much "+cmp.Or(look.OneLine(p.state.Model), "the model")+" thinks", rows, func(r command.Row) tea.Cmd { return set(r.ID) })
	return nil
}
