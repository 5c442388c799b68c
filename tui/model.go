package tui

import (
	"context"
	"os"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"jcode/agent/event"
	"jcode/tui/dialog"
	"jcode/tui/editor"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// program is the Bubble Tea model: what is shown, and where keys and events go.
type program struct {
	*loop
	*scene
	*talk
	*device

	pump    int // number of the event pump; messages of older ones are void
	unpump  context.CancelFunc
	escaped time.Time // the last Esc that had no effect
	frames  frames
	still   stillness
	opening string // sent as soon as there is a conversation

	outside  *outside
	switcher *switcher
	plans    *planning
	sender   *sender
	search   *searching
	slashes  *slashes
	complete *completion
	panels   *panels
	settings *settings
	listen   *listener
	compose  *composer
}

// What the program does, by idea. Each of these values names what it needs, in the order of this list at most those
// before it, and holds what only its idea needs.
type (
	// outside reaches beyond the program: editor, shell, clipboard, the terminal.
	outside struct {
		*loop
		*scene
		*talk
		*device
		pictures int // pasted so far
		// stop ends the running command from outside that shows its progress; nil without one.
		stop   context.CancelFunc
		shells []*shellLine // that run
		chips  transcript.Chips
	}
	// switcher switches to other sessions and roles.
	switcher struct {
		*loop
		*scene
		*talk
		enter    func(front.Session) tea.Cmd // shows a session that was opened
		moving   bool                        // another session or role is about to replace this one
		next     []nextSwitch                // that were requested meanwhile
		waiting  []event.Prompt              // sent before their conversation existed
		later    []func() tea.Cmd            // commands that were entered before there was a conversation
		unswitch context.CancelFunc          // cancels the switch of roles under way; nil without one
	}
	// planning asks what to do with a plan, and has it carried out.
	planning struct {
		*scene
		*talk
		switcher *switcher
	}
	// sender sends what was written, and takes back what is queued.
	sender struct {
		*loop
		*scene
		*talk
		switcher *switcher
	}
	// searching finds text in the transcript, a slice at a time.
	searching struct {
		*loop
		*scene
	}
	// slashes finds and runs slash commands.
	slashes struct {
		*loop
		*scene
		own     []slash // of the terminal itself, and panels
		outside *outside
		sender  *sender
	}
	// completion completes commands, their arguments, files and mentions.
	completion struct {
		*loop
		*scene
		*talk
		slashes *slashes
		outside *outside
		submit  func() tea.Cmd // sends what a choice completed
		files   fileIndex
	}
	// panels opens lists and shows what the session has used.
	panels struct {
		*loop
		*scene
		*talk
		outside  *outside
		switcher *switcher
		slashes  *slashes
		wanted   wantedLive
	}
	// settings changes settings of the session or the program.
	settings struct {
		*loop
		*scene
		*talk
		switcher *switcher
		sender   *sender
		slashes  *slashes
		themes   look.Themes
		theming  string // the theme in force; "" or "auto" follows the terminal
		few      bool   // the terminal shows sixteen colours
	}
	// listener shows what happens in the conversation.
	listener struct {
		*loop
		*scene
		*talk
		outside *outside
		plans   *planning
		sender  *sender
	}
	// composer draws a frame.
	composer struct {
		*scene
		*talk
		opt    *front.Options
		shells func() (running int, last string) // the lines that the person has run
	}
)

// tickMsg advances the spinner and the clocks while something runs.
type tickMsg struct{}

// refreshMsg asks for a frame that was postponed.
type refreshMsg struct{}

// tick is how often a running item is redrawn.
const tick = 200 * time.Millisecond

func newProgram(ctx context.Context, opt front.Options) *program {
	l := &loop{opt: opt, ctx: ctx, send: func(tea.Msg) {}}
	s := &scene{tr: transcript.New(), in: editor.New(), dark: true}
	t, d := &talk{}, &device{began: time.Now()}
	p := &program{loop: l, scene: s, talk: t, device: d, opening: opt.Prompt, still: newStillness()}
	p.outside = &outside{loop: l, scene: s, talk: t, device: d}
	p.switcher = &switcher{loop: l, scene: s, talk: t, enter: p.enter}
	p.plans = &planning{s, t, p.switcher}
	p.sender = &sender{l, s, t, p.switcher}
	p.search = &searching{l, s}
	p.slashes = &slashes{loop: l, scene: s, outside: p.outside, sender: p.sender}
	p.complete = &completion{loop: l, scene: s, talk: t, slashes: p.slashes, outside: p.outside, submit: p.submit}
	p.panels = &panels{loop: l, scene: s, talk: t, outside: p.outside, switcher: p.switcher, slashes: p.slashes}
	p.slashes.own = withPanels(ownCommands(p), opt.Panels, p.panels.openPanel)
	p.settings = &settings{loop: l, scene: s, talk: t, switcher: p.switcher, sender: p.sender, slashes: p.slashes, theming: opt.Theme, themes: look.NewThemes(opt.Themes)}
	p.listen = &listener{l, s, t, p.outside, p.plans, p.sender}
	p.compose = &composer{s, t, &l.opt, p.outside.running}
	p.look = look.Look{Theme: look.NewTheme(opt.Theme, true), Width: 80, Stamp: 1, Now: time.Now(), Links: linksWork(opt.Env), Files: look.NewFiles(opt.Cwd), Home: opt.Home}
	unknown := p.settings.ownTheme()
	var problems []string
	p.keys, problems = look.NewKeymap(opt.Keys)
	problems = append(problems, unknown...)
	p.look.Unfold = p.keys.First(look.Expand)
	p.in.ExpandKey = p.keys.First(look.PasteExpand)
	p.tr.Add(welcome(&l.opt, s, t))
	for _, msg := range problems {
		p.tr.Add(transcript.Notice(event.LevelWarn, msg))
	}
	return p
}

// linksWork reports whether a terminal knows links, or at least passes over them: the console of Linux shows them.
func linksWork(env []string) bool {
	if env == nil {
		env = os.Environ()
	}
	return !slices.Contains(env, "TERM=linux") && !slices.Contains(env, "TERM=dumb")
}

// Init starts what may take a while, after the first frame.
func (p *program) Init() tea.Cmd {
	var cmds []tea.Cmd
	if p.painter != nil {
		p.painter.Begin()
	} else { // width is measured by grapheme here; Bubble Tea's renderer must do the same
		cmds = append(cmds, func() tea.Msg { return tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeSet} })
	}
	if p.settings.automatic() {
		cmds = append(cmds, p.outside.tell(ansi.RequestBackgroundColor))
	}
	switch {
	case p.opt.Session != nil:
		cmds = append(cmds, p.enter(*p.opt.Session))
	case p.opt.Start != nil:
		p.status, p.switcher.moving = "starting", true
		cmds = append(cmds, dialog.Fetch(p, p.opt.Start, p.started))
	case p.opt.First != nil:
		cmds = append(cmds, p.panels.firstRun())
	}
	if p.opt.Trust != nil {
		cmds = append(cmds, p.Background(func(ctx context.Context) dialog.Do {
			t := p.opt.Trust(ctx)
			return func() tea.Cmd {
				if t != nil {
					p.ask(dialog.NewTrust(*t))
				}
				return nil
			}
		}))
	}
	if p.animated() { // what arrives later starts the clock by itself
		cmds = append(cmds, nextTick())
	}
	cmds = append(cmds, p.loadHistory(), p.around.look(p.loop, p.scene))
	return tea.Batch(cmds...)
}

// Update handles one message; each type has its own method.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if p.opt.Observe != nil {
		p.opt.Observe(msg)
	}
	was := p.animated()
	cmd := p.route(msg)
	if p.painter != nil && p.painter.Failed() != nil {
		return p, tea.Quit // nobody sees anything any more
	}
	if !was && p.animated() {
		cmd = tea.Batch(cmd, nextTick())
	}
	if was && !p.animated() {
		cmd = tea.Batch(cmd, p.still.begin())
	}
	return p, tea.Batch(cmd, p.frames.changed(p.painter), p.drafts.changed(p), p.record.changed(p))
}

func (p *program) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p.key(msg)
	case tea.PasteMsg:
		return p.paste(msg.Content)
	case eventsMsg:
		if msg.pump == p.pump {
			return p.listen.events(msg.events)
		}
	case dialog.Do:
		if msg == nil {
			return nil
		}
		return msg()
	case tickMsg:
		p.look.Now = time.Now()
		p.look.Spin++
		p.hint.expire(p.look.Now)
		if p.animated() {
			return nextTick()
		}
	case stillMsg:
		if !p.animated() {
			return p.still.lasted(msg)
		}
	case liveMsg:
		p.live = msg
		return p.panels.showWanted()
	case saidMsg:
		p.hint = hint{text: string(msg), until: time.Now().Add(saidFor)}
	case changedMsg:
		return p.panels.refreshLive()
	case draftMsg:
		p.drafts.waiting = false
		return p.drafts.keep(p)
	case refreshMsg:
		p.frames.waiting = false
	case submitMsg:
		return p.typing.settle(p, msg)
	case tea.WindowSizeMsg:
		p.resize(msg.Width, msg.Height)
		if p.painter != nil {
			p.painter.Resize(p.width, p.height)
		}
	case tea.ColorProfileMsg, tea.ModeReportMsg:
		p.terminalSaid(msg)
	case tea.BackgroundColorMsg:
		p.settings.backgroundIs(msg.IsDark())
	case tea.MouseMsg:
		return p.mouse(msg)
	case tea.FocusMsg:
		p.blurred = false
	case tea.BlurMsg:
		p.blurred = true
	case tea.ResumeMsg:
		p.outside.returned()
	}
	return nil
}

// terminalSaid records what the terminal can do.
func (p *program) terminalSaid(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.ColorProfileMsg:
		if p.painter != nil {
			p.painter.Profile(msg.Profile)
		}
		if few := msg.Profile == colorprofile.ANSI; few != p.settings.few {
			p.settings.few = few
			p.settings.follow()
		}
		if coarse := msg.Profile == colorprofile.ANSI256; coarse != p.settings.themes.Coarse {
			p.settings.themes.Coarse = coarse
			p.settings.setTheme(p.settings.theming)
		}
	case tea.ModeReportMsg:
		if p.painter != nil && msg.Mode == ansi.ModeSynchronizedOutput && msg.Value == ansi.ModeReset {
			p.painter.Sync()
		}
	}
}

func nextTick() tea.Cmd { return tea.Tick(tick, func(time.Time) tea.Msg { return tickMsg{} }) }

// animated reports whether something on the screen moves by itself.
func (p *program) animated() bool {
	if p.turn.busy || p.status != "" || len(p.outside.shells) > 0 || p.hint.text != "" || working(p.agents) {
		return true
	}
	m, ok := p.stack.Front().(dialog.Animated)
	return ok && m.Moving()
}

// backgroundIs follows the terminal's background if the theme must.
func (p *settings) backgroundIs(dark bool) {
	if dark == p.dark {
		return
	}
	p.dark = dark
	p.follow()
}

// automatic reports whether the theme must fit the terminal.
func (p *settings) automatic() bool {
	return p.theming == "" || p.theming == "auto"
}

// follow switches to the theme that fits the terminal, if it must.
func (p *settings) follow() {
	if p.automatic() {
		p.setTheme("auto")
	}
}

// setTheme draws everything in a theme. With sixteen colours the shades of dark and light would all become a
// few strong ones.
func (p *settings) setTheme(name string) {
	p.theming = name
	if p.few && p.automatic() {
		name = "ansi16"
	}
	p.look.Theme = p.themes.New(name, p.dark)
	p.restyle()
}

// hint is a short message in the status line that vanishes by itself.
type hint struct {
	text  string
	until time.Time
}

func (h *hint) expire(now time.Time) {
	if h.text != "" && now.After(h.until) {
		h.text = ""
	}
}
