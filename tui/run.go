package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// ErrInterrupted says that SIGINT ended the program.
var ErrInterrupted = errors.New("interrupted")

// Run shows the program until the person quits or ctx ends. It leaves the terminal as it
// was, also after a panic, which comes back as an error. When ctx ends it gives the cause.
func Run(ctx context.Context, opt Options) error {
	inner, cancel := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer cancel()
	p := newProgram(inner, opt)
	options := []tea.ProgramOption{tea.WithFPS(120), tea.WithoutSignalHandler()}
	if opt.Input != nil {
		options = append(options, tea.WithInput(opt.Input))
	}
	out := opt.Output
	if out == nil {
		out = os.Stdout
	}
	var prog *tea.Program
	if tty, ok := out.(term.File); ok && runtime.GOOS != "windows" && term.IsTerminal(tty.Fd()) {
		p.painter = newPainter(tty, func() { go prog.Send(refreshMsg{}) })
		out = p.painter
	}
	options = append(options, tea.WithOutput(out))
	if opt.Env != nil {
		options = append(options, tea.WithEnvironment(opt.Env))
	}
	prog = tea.NewProgram(p, options...)
	p.send = prog.Send
	pumps.Add(1)
	go func() { // a signal or a parent ends the program in good order
		defer pumps.Done()
		<-inner.Done()
		prog.Quit()
	}()
	_, err := prog.Run()
	cancel()
	showCursor(out)
	p.leave()
	if kept := p.drafts.keepNow(ctx, p); kept != nil && err == nil {
		return fmt.Errorf("keep the draft: %w", kept)
	}
	if p.painter != nil && err == nil {
		err = p.painter.failed()
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

// showCursor makes sure that the shell has its cursor: some terminals keep its visibility
// per screen, and the one that was left may have hidden it on both.
func showCursor(out io.Writer) {
	if f, ok := out.(term.File); ok && term.IsTerminal(f.Fd()) {
		// The program is over: nobody is left to hear of an error.
		_, _ = io.WriteString(out, ansi.SetModeTextCursorEnable)
	}
}
