package tui

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/dialog"
	"jcode/tui/editor"
	"jcode/tui/front"
	"jcode/tui/keyboard"
	"jcode/tui/look"
	"jcode/tui/screen"
	"jcode/tui/transcript"
)

// program is the Bubble Tea model: what is shown, and where keys and events go.
type program struct {
	opt  front.Options // never written
	ctx  context.Context
	send func(tea.Msg)

	width, height int
	look          look.Look
	keys          look.Keymap
	dark          bool

	tr   *transcript.View
	told transcript.Item // the last answer of a command
	in   *editor.Editor
	hist recall

	conv front.Conversation
	pump int // number of the event pump; messages of older ones are void
	stop context.CancelFunc

	turn  turn
	state event.State
	usage event.Usage
	queue []event.Queued
	todo  []tools.TodoItem
	// agents are the sub-agents of the conversation, in start order.
	agents []roster.State

	stack dialog.Stack // what is open in place of the input

	typing  typing
	vi      editor.Vi
	hint    hint
	blurred bool
	escaped time.Time // the last Esc that had no effect
	status  string    // what the program waits for ("starting"), shown above the input
	drafts  drafts
	stash   stash
	around  around
	record  record
	failing sync.Map // what could not be stored last time, by what the warning says of it

	frames   frames
	painter  *screen.Painter  // nil if Bubble Tea draws
	keyboard *keyboard.Reader // nil if Bubble Tea reads
	began    time.Time

	opening    string // sent as soon as there is a conversation
	answeredIn string // the role of the last answer

	listen   listener
	plans    planning
	complete completion
	switcher switcher
	settings settings
	panels   panels
	compose  composer
	outside  outside
	slashes  slashes
	sender   sender
	search   searching
}

// What the program does, by idea. Each of these values belongs to one program and holds what only its idea
// needs.
type (
	// listener shows what happens in the conversation.
	listener struct{ *program }
	// slashes finds and runs slash commands.
	slashes struct{ *program }
	// sender sends what was written, and takes back what is queued.
	sender struct{ *program }
	// searching finds text in the transcript, a slice at a time.
	searching struct{ *program }
	// planning asks what to do with a plan, and has it carried out.
	planning struct{ *program }
	// completion completes commands, their arguments, files and mentions.
	completion struct {
		*program
		menu  menu
		files fileIndex
	}
	// switcher switches to other sessions and roles.
	switcher struct {
		*program
		moving  bool             // another session or role is about to replace this one
		next    []nextSwitch     // that were requested meanwhile
		waiting []event.Prompt   // sent before their conversation existed
		later   []func() tea.Cmd // commands that were entered before there was a conversation
		// unswitch cancels the switch of roles under way; nil without one.
		unswitch context.CancelFunc
	}
	// settings changes settings of the session or the program.
	settings struct {
		*program
		themes  look.Themes
		theming string // the theme in force; "" or "auto" follows the terminal
		few     bool   // the terminal shows sixteen colours
	}
	// panels opens lists and shows what the session has used.
	panels struct{ *program }
	// composer draws a frame.
	composer struct{ *program }
	// outside reaches beyond the program: editor, shell, clipboard, mouse, the terminal.
	outside struct {
		*program
		pictures int // pasted so far
		// stop ends the running command from outside that shows its progress; nil without one.
		stop   context.CancelFunc
		shells []*shellLine // that run
		chips  transcript.Chips
	}
)

// tickMsg advances the spinner and the clocks while something runs.
type tickMsg struct{}

// refreshMsg asks for a frame that was postponed.
type refreshMsg struct{}

// tick is how often a running item is redrawn.
const tick = 200 * time.Millisecond

func newProgram(ctx context.Context, opt front.Options) *program {
	p := &program{opt: opt, opening: opt.Prompt, ctx: ctx, tr: transcript.New(), in: editor.New(), dark: true, began: time.Now(), send: func(tea.Msg) {}}
	p.complete.program, p.switcher.program, p.panels.program, p.compose.program = p, p, p, p
	p.outside.program, p.listen.program, p.plans.program = p, p, p
	p.slashes.program, p.sender.program, p.search.program = p, p, p
	p.settings = settings{program: p, theming: opt.Theme, themes: look.NewThemes(opt.Themes)}
	p.look = look.Look{Theme: look.NewTheme(opt.Theme, true), Width: 80, Stamp: 1, Now: time.Now(), Links: linksWork(opt.Env), Files: look.NewFiles(opt.Cwd)}
	unknown := p.settings.ownTheme()
	var problems []string
	p.keys, problems = look.NewKeymap(opt.Keys)
	problems = append(problems, unknown...)
	p.look.Unfold = p.keys.First(look.Expand)
	p.in.ExpandKey = p.keys.First(look.PasteExpand)
	p.tr.Add(p.compose.welcome())
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
	cmds = append(cmds, p.loadHistory(), p.around.look(p))
	return tea.Batch(cmds...)
}

// Background runs work outside the loop; the func that it returns runs inside.
func (p *program) Background(work func(ctx context.Context) dialog.Do) tea.Cmd {
	ctx := p.ctx
	return func() tea.Msg { return work(ctx) }
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
	return p, tea.Batch(cmd, p.frames.changed(p.painter), p.drafts.changed(p), p.record.changed(p))
}

func (p *program) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p.key(msg)
	case tea.PasteMsg:
		return p.paste(msg.Content)
	case eventsMsg:
		return p.listen.events(msg)
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
		return p.outside.mouse(msg)
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

func (p *program) resize(w, h int) {
	p.width, p.height = max(w, 1), max(h, 1)
	if width := max(p.width-1, 1); width != p.look.Width {
		p.look.Width = width
		p.restyle()
	}
}

// restyle makes everything cached under the current look stale.
func (p *program) restyle() { p.look.Stamp++ }

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

// Say shows the person a line in the transcript.
func (p *program) Say(level event.Level, msg string) {
	p.tr.Add(transcript.Notice(level, msg))
	p.record.Note(transcript.KindNotice, transcript.KeptNotice{Level: level, Text: text.Cut(msg, transcript.KeptBytes)})
}

// hint is a short message in the status line that vanishes by itself.
type hint struct {
	text  string
	until time.Time
}

func (p *program) Flash(text string) {
	p.hint = hint{text: text, until: time.Now().Add(2 * time.Second)}
}

func (h *hint) expire(now time.Time) {
	if h.text != "" && now.After(h.until) {
		h.text = ""
	}
}
