package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// isCommand reports whether the input is one line with a known command: its Enter need not wait, since pasted
// text does not begin like that.
func (p *program) isCommand() bool {
	if p.in.Lines() != 1 || p.in.Len() < 2 || !p.in.Begins("/") {
		return false
	}
	_, ok := p.slashes.find(look.FirstWord(p.in.Text())[1:])
	return ok
}

// submit sends the input: a command, a shell line or a prompt.
func (p *program) submit() tea.Cmd {
	s := p.in.Text()
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return nil
	}
	switch {
	case strings.HasPrefix(trimmed, "/") && !strings.Contains(look.FirstWord(trimmed)[1:], "/"):
		return p.slashes.run(trimmed)
	case strings.HasPrefix(trimmed, "!") && p.opt.Shell != nil:
		return tea.Batch(p.sender.sent(s), p.outside.shell(strings.TrimSpace(trimmed[1:])))
	}
	if p.state.ReadOnly && !p.switcher.moving {
		p.Flash("this session is read only here; /fork continues in a copy")
		return nil
	}
	prompt := event.Prompt{Text: strings.TrimRight(s, " \n")}
	if err := p.outside.attachImages(&prompt); err != nil {
		p.Say(event.LevelWarn, err.Error())
		return nil
	}
	if n := len(prompt.Images); n > 0 && p.conv != nil && !p.conv.Sees() {
		p.Say(event.LevelWarn, front.BlindNotice(p.state.Model, n))
	}
	if p.plans.isOwn(prompt.Text) {
		return tea.Batch(p.sender.sent(s), p.plans.carryOutOwn(prompt))
	}
	cmd := p.sender.sent(s)
	p.sender.prompt(prompt)
	return cmd
}

// prompt passes a message to the conversation, or keeps it until its conversation is ready.
func (p *sender) prompt(m event.Prompt) {
	p.tr.ToBottom()
	if p.conv == nil || p.switcher.moving {
		p.switcher.waiting = append(p.switcher.waiting, m)
		p.Flash("sent as soon as " + map[bool]string{true: "the role is entered", false: "the session is ready"}[p.switcher.unswitch != nil])
		return
	}
	p.conv.Prompt(m)
}

// sent empties the input and remembers what was in it.
func (p *sender) sent(s string) tea.Cmd {
	p.record.Acted = true
	p.hist.add(s)
	p.in.Reset()
	p.vi.Fresh()
	p.menu.close()
	p.tr.Chosen, p.tr.Marked = -1, transcript.Marking{}
	h := p.opt.History
	if h == nil {
		return nil
	}
	p.drafts.kept = p.in.Generation()
	ctx, generation, kept := p.ctx, p.in.Generation(), p.stash.with("")
	return func() tea.Msg {
		err := h.Add(ctx, s)
		if err == nil {
			err = p.drafts.write(ctx, h, generation, kept)
		}
		return p.warnedOnce(ctx, "the prompt could not be added to the history", err)
	}
}

// takeBack moves all queued messages back into the input.
func (p *sender) takeBack() {
	if p.conv == nil || len(p.queue) == 0 {
		p.Flash("nothing is queued")
		return
	}
	p.giveBack(p.conv.Unqueue(""))
}

// giveBack puts messages that were not sent back into the input, before its current content.
func (s *scene) giveBack(messages []event.Prompt) {
	if len(messages) == 0 {
		return
	}
	var parts []string
	for _, m := range messages {
		parts = append(parts, front.TypedAs(m))
	}
	if !s.in.Empty() {
		parts = append(parts, s.in.Text())
	}
	s.in.SetText(strings.Join(parts, "\n"))
}

// unquote removes the quotes and backslashes that a terminal adds to a dragged file's name.
func unquote(s string) string {
	if n := len(s); n > 1 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		s = s[1 : n-1]
	}
	return strings.ReplaceAll(strings.TrimPrefix(s, "file://"), `\ `, " ")
}
