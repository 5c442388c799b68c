package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"jcode/internal/system"
	"jcode/tui/front"
	"jcode/tui/keyboard"
	"jcode/tui/screen"
)

// ErrInterrupted is returned when SIGINT ended the program.
var ErrInterrupted = errors.New("interrupted")

// Run shows the program until the person quits or ctx ends. It restores the terminal, also after a panic,
// which is returned as an error. When ctx ends it returns the cause.
func Run(ctx context.Context, opt front.Options) error {
	inner, cancel := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer cancel()
	p := newProgram(inner, opt)
	options, out := p.terminal()
	prog := tea.NewProgram(p, options...)
	p.send = prog.Send
	if p.painter != nil {
		p.painter.Wake = func() { go prog.Send(refreshMsg{}) }
		if err := p.painter.Enter(); err != nil {
			return err
		}
	}
	if opt.Changed != nil {
		pumps.Go(func() { follow(inner, opt.Changed, prog.Send) })
	}
	if opt.Visible != nil && p.painter != nil {
		pumps.Go(func() { drawWhileVisible(inner, opt.Visible, p.painter, prog.Send) })
	}
	if opt.Live != nil {
		pumps.Go(func() { followLive(inner, opt.Live, prog.Send) })
	}
	if opt.Said != nil {
		pumps.Go(func() { passOn(inner, opt.Said, prog.Send) })
	}
	pumps.Go(func() { // a signal or a parent ends the program in an orderly way
		<-inner.Done()
		prog.Quit()
	})
	_, err := prog.Run()
	cancel()
	if p.painter != nil {
		err = errors.Join(err, p.painter.Leave())
	}
	showCursor(out)
	p.leaveText(err)
	p.leave()
	if kept := p.record.keepNow(ctx, p); kept != nil && err == nil {
		return kept
	}
	if kept := p.drafts.keepNow(ctx, p); kept != nil && err == nil {
		return fmt.Errorf("keep the draft: %w", kept)
	}
	if p.painter != nil && err == nil {
		err = p.painter.Failed()
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	case err != nil:
		return fmt.Errorf("terminal: %w", err)
	}
	return nil
}

// terminal returns the options for Bubble Tea and the output. On a terminal, the program paints it itself,
// and Bubble Tea's own ticker has almost nothing to do: slow as it is, it is the cost of an idle program.
func (p *program) terminal() (options []tea.ProgramOption, out io.Writer) {
	opt := p.opt
	options = []tea.ProgramOption{tea.WithoutSignalHandler()}
	if in := p.input(); in != nil {
		options = append(options, tea.WithInput(in))
	}
	env := opt.Env
	if env == nil {
		env = os.Environ()
	}
	options = append(options, tea.WithEnvironment(env))
	if out = opt.Output; out == nil {
		out = os.Stdout
	}
	tty, ok := out.(term.File)
	if !ok || !system.HasTTY() || !term.IsTerminal(tty.Fd()) {
		return append(options, tea.WithOutput(out), tea.WithFPS(60)), out
	}
	p.painter = screen.New(tty, env)
	if w, h, err := term.GetSize(tty.Fd()); err == nil && w > 0 && h > 0 { // otherwise the size arrives later
		p.resize(w, h)
		p.painter.Resize(w, h)
	}
	return append(options, tea.WithOutput(p.painter), tea.WithFPS(1)), p.painter
}

// input returns the reader for keys; nil leaves reading to Bubble Tea. A terminal is read in whole sequences.
func (p *program) input() io.Reader {
	in := p.opt.Input
	if in == nil {
		in = os.Stdin
	}
	tty, ok := in.(keyboard.File)
	if !ok || !system.HasTTY() || !term.IsTerminal(tty.Fd()) {
		return p.opt.Input
	}
	p.keyboard = keyboard.NewReader(tty)
	return p.keyboard
}

// drawWhileVisible draws while somebody looks.
func drawWhileVisible(ctx context.Context, visible <-chan bool, painter *screen.Painter, send func(tea.Msg)) {
	for {
		select {
		case on := <-visible:
			if on {
				painter.Show()
				send(refreshMsg{})
			} else {
				painter.Hide()
			}
		case <-ctx.Done():
			return
		}
	}
}

// showCursor makes sure that the shell has its cursor: some terminals keep its visibility per screen, and the
// one that was left may have hidden it on both.
func showCursor(out io.Writer) {
	if f, ok := out.(term.File); ok && term.IsTerminal(f.Fd()) {
		// The program has ended: an error can no longer be reported.
		_, _ = io.WriteString(out, ansi.SetModeTextCursorEnable)
	}
}

// leftLines is how much of the conversation stays in the terminal, in lines.
const leftLines = 200

// leaveText writes the end of the conversation to the terminal that was left, where the shell's scrollback keeps it.
func (p *program) leaveText(failed error) {
	if p.painter == nil || failed != nil || p.opt.Leave == "none" {
		return
	}
	var out io.Writer = os.Stdout
	if p.opt.Output != nil {
		out = p.opt.Output
	}
	if lines := p.tr.Tail(&p.look, leftLines); lines != nil {
		// The program has ended: an error can no longer be reported.
		_, _ = io.WriteString(out, strings.Join(lines, "\r\n")+"\r\n\r\n")
	}
}
