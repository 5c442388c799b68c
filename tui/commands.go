package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/look"
)

// slash is a command as the menu, the help and the runner see it.
type slash struct {
	name, hint, help string
	run              func(args string) tea.Cmd
	complete         func(args string) []string
	about            func(value string) string // what a value that complete offers stands for
	// outside completes with values that another part of the program knows, which may take a moment.
	outside func(ctx context.Context, args string) []command.Choice
	verbs   command.Verbs
}

// ownCommands returns the commands that concern the terminal itself. Each closure is one command of the program p.
func ownCommands(p *program) []slash {
	return []slash{
		{name: "help", help: "keys and commands", run: func(_ string) tea.Cmd { return p.showHelp() }},
		{name: "keys", help: "all keys and what they do", run: func(_ string) tea.Cmd { return p.showHelp() }},
		{name: "new", help: "begin a fresh session", run: func(_ string) tea.Cmd { return p.switcher.newSession("") }},
		{name: "clear", help: "begin a fresh session", run: func(_ string) tea.Cmd { return p.switcher.newSession("") }},
		{name: "session", hint: "[name]", help: "continue the session of a name, or begin it", run: func(args string) tea.Cmd { return p.switcher.session(args) }},
		{name: "resume", hint: "[text]", help: "continue an earlier session", run: func(args string) tea.Cmd { return p.switcher.resume(args) }},
		{name: "live", hint: "[number]", help: "the sessions in the background; enter shows one here", run: func(args string) tea.Cmd { return p.panels.liveSessions(args) }},
		{name: "fork", hint: "[prompt]", help: "go on in a copy of this session, or of its first prompts", run: func(args string) tea.Cmd { return p.switcher.fork(args) }, complete: func(string) []string { return p.promptNumbers() }, about: func(number string) string { return p.promptOf(number) }},
		{name: "rewind", hint: "[message] [files|both]", help: "go back to before an earlier prompt", run: func(args string) tea.Cmd { return p.slashes.rewind(args) }},
		{name: "login", help: "enter a key, or the address of your own server", run: func(_ string) tea.Cmd { return p.panels.login() }},
		{name: "undo", help: "restore the files changed by the last turn", run: func(_ string) tea.Cmd { return p.slashes.undo() }},
		{name: "rename", hint: "<title>", help: "give this session a title", run: func(args string) tea.Cmd { return p.settings.rename(args) }},
		{name: "model", hint: "[name]", help: "choose the model", run: func(args string) tea.Cmd { return p.settings.model(args) }},
		{name: "effort", hint: "[value]", help: "choose how much the model thinks", run: func(args string) tea.Cmd { return p.settings.effort(args) }, complete: effortNames},
		{name: "prompts", help: "this conversation's prompts; enter goes to one", run: func(_ string) tea.Cmd { return goToPrompt(p.scene) }},
		{name: "role", hint: "[name|off|info|set name value]", help: "work in a role, show it, change its values", run: func(args string) tea.Cmd { return p.settings.role(args) }, complete: func(args string) []string { return p.settings.roleNames(args) }},
		{name: "mode", hint: "[plan|ask|edits|auto|yolo]", help: "how much runs without asking", run: func(args string) tea.Cmd { return p.settings.mode(args) }, complete: modeNames},
		{name: "theme", hint: "[name]", help: "choose the colours", run: func(args string) tea.Cmd { return p.settings.theme(args) }, complete: func(args string) []string { return withPrefix(p.settings.themes.Names(), args) }},
		{name: "find", hint: "<text>", help: "search what is on the screen and above", run: func(term string) tea.Cmd { return p.search.findText(term) }},
		{name: "compact", hint: "[what to keep]", help: "summarise the conversation so far", run: func(args string) tea.Cmd { return p.settings.compact(args) }},
		{name: "trust", help: "look again at what this folder would run, and decide", run: func(_ string) tea.Cmd { return p.panels.askTrust() }},
		{name: "stop", help: "stop the running turn, as esc does", run: func(_ string) tea.Cmd { p.Interrupt(); return nil }},
		{name: "diff", help: "files that this session changed", run: func(_ string) tea.Cmd { return p.panels.changes() }},
		{name: "todo", help: "the plan", run: func(_ string) tea.Cmd { return p.panels.showTodo() }},
		{name: "context", help: "what fills the context", run: func(_ string) tea.Cmd { return p.panels.showContext() }},
		{name: "cost", help: "tokens and money used", run: func(_ string) tea.Cmd { return p.panels.showCost() }},
		{name: "copy", hint: "[n]", help: "copy the last answer, or its n-th code block", run: func(args string) tea.Cmd { return p.outside.copyAnswer(args) }, complete: func(args string) []string { return p.blockNumbers(args) }, about: func(number string) string { return p.blockOf(number) }},
		{name: "editor", help: "write in $EDITOR", run: func(_ string) tea.Cmd { p.in.Reset(); return p.outside.externalEditor() }},
		{name: "quit", help: "leave; the session is kept", run: func(_ string) tea.Cmd { return p.quit() }},
		{name: "exit", help: "leave; the session is kept", run: func(_ string) tea.Cmd { return p.quit() }},
	}
}

// withPanels adds the panels to the commands of the terminal itself.
func withPanels(own []slash, list []command.Panel, open func(pl *command.Panel, args string) tea.Cmd) []slash {
	for i := range list {
		pl := &list[i]
		if !slices.ContainsFunc(own, func(c slash) bool { return c.name == pl.Name }) {
			own = append(own, slash{name: pl.Name, help: pl.Help, outside: pl.Choices, verbs: pl.All(), run: func(args string) tea.Cmd { return open(pl, args) }})
		}
	}
	return own
}

// OwnCommands lists the names of the terminal's own commands: nothing else can use them.
func OwnCommands() []string {
	var names []string
	for _, c := range ownCommands(nil) {
		names = append(names, c.name)
	}
	return names
}

// OwnHelp lists the terminal's own commands with the form of their arguments and what they do.
func OwnHelp() []command.Command {
	var list []command.Command
	for _, c := range ownCommands(nil) {
		list = append(list, command.Command{Name: c.name, Hint: c.hint, Description: c.help})
	}
	return list
}

// describe says what the command does, after the form of its arguments.
func (c slash) describe() string {
	if c.hint == "" {
		return text.Clean(c.help)
	}
	return text.Clean(c.hint + "  " + c.help)
}

// list returns everything that / offers: own commands, panels, and commands from outside. If a name occurs
// twice, the first one keeps it.
func (p *slashes) list() []slash {
	all := slices.Clone(p.own)
	seen := map[string]bool{}
	for _, c := range all {
		seen[c.name] = true
	}
	for _, c := range p.opt.Commands.List() {
		if !seen[c.Name] {
			seen[c.Name] = true
			all = append(all, p.foreign(c))
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all
}

// foreign adapts a command from outside.
func (p *slashes) foreign(c command.Command) slash {
	s := slash{name: c.Name, hint: c.Hint, help: c.Description, outside: c.Choices, verbs: c.Verbs}
	if c.Origin != "" {
		s.help += " (" + c.Origin + ")"
	}
	s.run = func(args string) tea.Cmd {
		line := strings.TrimSpace("/" + c.Name + " " + args)
		if n, last := p.outside.running(); n > 0 && c.Apart != nil && c.Apart(args) {
			answered(p.scene, line, "", fmt.Errorf("not while ! %s runs: wait for its end, or end it (%s)", look.OneLine(last), p.keys.First(look.Interrupt)))
			return nil
		}
		if c.Work != nil {
			return p.work(c, args, line)
		}
		run := func(ctx context.Context) (command.Outcome, error) { return c.Run(ctx, args) }
		return dialog.Fetch(p, run, func(out command.Outcome, err error) tea.Cmd {
			// It may have changed files, or the branch.
			return tea.Batch(p.outcome(line, out, err), p.outside.around.read(p.loop, p.scene, p.outside.talk))
		})
	}
	return s
}

// work runs a command that may take a while: its progress is shown, and Esc ends it.
func (p *slashes) work(c command.Command, args, line string) tea.Cmd {
	if p.outside.stop != nil {
		p.Flash("another command is still running (esc stops it)")
		return nil
	}
	ctx, stop := context.WithCancel(p.ctx)
	p.outside.stop = stop
	p.status = line + " (esc stops it)"
	send := p.send
	return p.Background(func(context.Context) dialog.Do {
		out, err := c.Work(ctx, args, func(how string) {
			send(dialog.Do(func() tea.Cmd {
				if p.outside.stop != nil {
					p.status = how + " (esc stops it)"
				}
				return nil
			}))
		})
		stop()
		return func() tea.Cmd {
			p.outside.stop, p.status = nil, ""
			return p.outcome(line, out, err)
		}
	})
}

// outcome shows or sends the outcome of a command.
func (p *slashes) outcome(line string, out command.Outcome, err error) tea.Cmd {
	switch {
	case err != nil:
		answered(p.scene, line, "", err)
		return nil
	case out.Page != "" && out.Wide != nil:
		p.Open(dialog.TablePage(out.Page, out.Wide))
	case out.Page != "":
		p.Open(dialog.NewPage(out.Page, out.Notice))
	case out.Notice != "":
		answered(p.scene, line, out.Notice, nil)
		p.told = p.tr.Last()
	}
	if out.Draft != "" {
		p.in.SetText(out.Draft)
	}
	if out.Prompt != "" {
		p.sender.prompt(event.Prompt{Text: out.Prompt, Shown: cmp.Or(out.Shown, line), Skill: out.Skill, Model: out.Model, Allow: out.Allow})
	}
	return nil
}

// find returns the command with exactly that name.
func (p *slashes) find(name string) (slash, bool) {
	for _, c := range p.list() {
		if c.name == name {
			return c, true
		}
	}
	return slash{}, false
}

// line runs a line that names a command exactly; ok is false for any other.
func (p *slashes) line(line string) (cmd tea.Cmd, ok bool) {
	name, isCommand := strings.CutPrefix(look.FirstWord(line), "/")
	c, known := p.find(name)
	if !isCommand || !known {
		return nil, false
	}
	return c.run(strings.TrimSpace(line[1+len(name):])), true
}

// run runs "/name arguments". An unknown command is reported, never guessed, and stays in the input.
func (p *slashes) run(line string) tea.Cmd {
	name := look.FirstWord(line)[1:]
	c, ok := p.find(name)
	if !ok {
		p.Flash("unknown command /" + name + " (/help lists them)")
		p.menu.close()
		return nil
	}
	args := strings.TrimSpace(line[1+len(name):])
	p.tr.ToBottom() // its output is shown there
	// The draft must be gone before a command opens another session, which looks for one.
	return tea.Sequence(p.sender.sent(line), c.run(args))
}

// change runs something that changes the conversation outside the loop, and reports a failure.
func (p *switcher) change(what string, f func(ctx context.Context, c front.Conversation) error) tea.Cmd {
	conv := p.conv
	if conv == nil {
		return p.whenReady(func() tea.Cmd { return p.change(what, f) })
	}
	return p.Background(func(ctx context.Context) dialog.Do {
		err := f(ctx, conv)
		return func() tea.Cmd {
			p.state = conv.State()
			if err != nil {
				p.failed(what, err)
			}
			return nil
		}
	})
}

// failed reports why a change failed.
func (s *scene) failed(what string, err error) {
	said := err.Error()
	if !strings.HasPrefix(said, what+" ") { // otherwise the error says what it is about
		said = what + ": " + said
	}
	s.Say(event.LevelError, said)
}

func (p *settings) rename(title string) tea.Cmd {
	if title == "" {
		p.Flash("usage: /rename <title>")
		return nil
	}
	return p.switcher.change("rename", func(_ context.Context, c front.Conversation) error { return c.Rename(title) })
}

func (p *settings) model(name string) tea.Cmd {
	if name != "" {
		return p.switcher.change("model", func(_ context.Context, c front.Conversation) error { return c.SetModel(name) })
	}
	return pick(p.loop, p.scene, "Models", "no model is known: /model NAME takes any", p.opt.Models, func(r command.Row) tea.Cmd {
		return p.switcher.change("model", func(_ context.Context, c front.Conversation) error { return c.SetModel(r.ID) })
	})
}

func (p *settings) mode(name string) tea.Cmd {
	if name == "" {
		var rows []command.Row
		for _, m := range tools.Modes() {
			if m.Under(p.state.MaxMode) != m {
				continue
			}
			rows = append(rows, command.Row{ID: string(m), Name: string(m), Info: front.ModeHelp(m), Current: m == p.state.Mode})
		}
		p.Open(dialog.NewPicker("Approval modes", rows, func(r command.Row) tea.Cmd { return p.mode(r.ID) }))
		return nil
	}
	m, err := tools.ParseMode(name)
	if err != nil {
		p.Flash(err.Error())
		return nil
	}
	if p.conv == nil {
		return p.switcher.whenReady(func() tea.Cmd { return p.mode(name) })
	}
	p.conv.SetMode(m)
	p.state = p.conv.State()
	if most := p.state.MaxMode; m.Under(most) != m {
		p.Flash(front.Highest(most))
		return nil
	}
	if p.state.Mode != m {
		p.Flash("the role " + p.state.Role + " allows at most mode " + string(p.state.Mode) + "; mode " + name + " holds when it ends")
		return nil
	}
	p.Flash("mode " + name + ": " + front.ModeHelp(m))
	return nil
}

// nextMode switches to the next mode (Shift+Tab): from the usual one to plan, then to those that ask less; yolo must be
// chosen by name.
func (p *settings) nextMode() tea.Cmd {
	order := []tools.Mode{tools.ModeAsk, tools.ModePlan, tools.ModeEdits, tools.ModeAuto}
	order = slices.DeleteFunc(order, func(m tools.Mode) bool { return m.Under(p.state.MaxMode) != m })
	next := (slices.Index(order, p.state.Mode) + 1) % len(order)
	return p.mode(string(order[next]))
}

func modeNames(args string) []string { return withPrefix(tools.Modes(), args) }

// withPrefix returns the names that begin with a prefix.
func withPrefix[S ~string](names []S, prefix string) []string {
	var out []string
	for _, name := range names {
		if strings.HasPrefix(string(name), prefix) {
			out = append(out, string(name))
		}
	}
	return out
}

// save stores a setting.
func (p *settings) save(key, value string) tea.Cmd {
	if p.opt.Save == nil {
		return nil
	}
	save := p.opt.Save
	return func() tea.Msg { return p.warned(p.ctx, "the setting could not be saved", save(key, value)) }
}

// compact summarises in the background; Esc stops it.
func (p *settings) compact(keep string) tea.Cmd {
	return p.switcher.change("compact", func(ctx context.Context, c front.Conversation) error { return c.Compact(ctx, keep) })
}
