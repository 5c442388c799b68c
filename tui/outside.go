package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/system"
	"jcode/tui/dialog"
)

// externalEditor opens the input in $VISUAL or $EDITOR, with folded pastes in full.
func (p *outside) externalEditor() tea.Cmd {
	if p.state.Private {
		p.Flash("an editor works on a file, and a private conversation makes none: write here")
		return nil
	}
	dir, err := os.MkdirTemp("", "jcode")
	if err != nil {
		p.Flash("cannot make a file for the editor: " + err.Error())
		return nil
	}
	file := filepath.Join(dir, "prompt.md")
	if err := os.WriteFile(file, []byte(p.in.Text()), 0o600); err != nil {
		p.Flash("cannot write a file for the editor: " + err.Error())
		return nil
	}
	return p.edit(file, func(err error) tea.Cmd {
		data, rerr := os.ReadFile(file)
		if err = errors.Join(err, rerr, os.RemoveAll(dir)); err != nil {
			p.Say(event.LevelWarn, err.Error())
			return nil
		}
		s := strings.TrimRight(string(data), "\n")
		if s != p.in.Text() {
			p.in.Clear()
			p.in.Paste(s)
		}
		return nil
	})
}

// editorFor returns the command that opens a file in the person's editor.
func (p *outside) editorFor(file string) (*exec.Cmd, error) {
	var editor []string
	for _, line := range []string{p.opt.Editor, p.env("VISUAL"), p.env("EDITOR")} {
		if editor = strings.Fields(line); len(editor) > 0 {
			break
		}
	}
	if len(editor) == 0 {
		editor = []string{"vi"}
	}
	return p.opt.Programs.Own(p.ctx, editor[0], append(editor[1:], file)...)
}

// edit opens a file in the person's editor and then continues with after.
func (p *outside) edit(file string, after func(err error) tea.Cmd) tea.Cmd {
	cmd, err := p.editorFor(file)
	if err != nil {
		return after(fmt.Errorf("editor: %w", err))
	}
	return p.handOver(cmd, func(err error) tea.Msg {
		if err != nil {
			err = fmt.Errorf("editor: %w", err)
		}
		return dialog.Do(func() tea.Cmd {
			p.returned()
			return after(err)
		})
	})
}

// answers is how long after the start a terminal may take to reply to the queries sent then.
const answers = 400 * time.Millisecond

// handOver lends the terminal to another program. It waits for the terminal's replies to the queries at the
// start, which the program would read as typed.
func (p *outside) handOver(cmd *exec.Cmd, after tea.ExecCallback) tea.Cmd {
	if p.keyboard != nil { // it reads the terminal itself, not our processed input
		cmd.Stdin = p.keyboard.File
	}
	if p.painter != nil && p.painter.File() != nil { // otherwise it would write into a pipe
		cmd.Stdout = p.painter.File()
	}
	run := tea.ExecProcess(cmd, after)
	wait := answers - time.Since(p.began)
	if wait <= 0 {
		return run
	}
	return tea.Sequence(tea.Tick(wait, func(time.Time) tea.Msg { return nil }), run)
}

// lend lends the terminal to a function of this program and then continues with after.
func (p *outside) lend(use func(ctx context.Context, in, out *os.File) error, after func(err error) tea.Cmd) tea.Cmd {
	b := &borrower{ctx: p.ctx, use: use}
	if p.keyboard != nil {
		b.in, _ = p.keyboard.File.(*os.File)
	}
	if p.painter != nil {
		b.out = p.painter.File()
	}
	return tea.Exec(b, func(err error) tea.Msg {
		return dialog.Do(func() tea.Cmd {
			p.returned()
			return after(err)
		})
	})
}

// borrower has the terminal for a time.
type borrower struct {
	ctx     context.Context
	use     func(ctx context.Context, in, out *os.File) error
	in, out *os.File
}

func (b *borrower) SetStdin(r io.Reader) {
	if f, ok := r.(*os.File); ok && b.in == nil {
		b.in = f
	}
}

func (b *borrower) SetStdout(w io.Writer) {
	if f, ok := w.(*os.File); ok && b.out == nil {
		b.out = f
	}
}

func (b *borrower) SetStderr(io.Writer) {}

func (b *borrower) Run() error {
	if b.in == nil || b.out == nil {
		return errors.New("there is no terminal to lend")
	}
	return b.use(b.ctx, b.in, b.out)
}

// returned reclaims the terminal after a suspend or another program.
func (p *outside) returned() {
	if p.painter != nil {
		p.painter.Back()
	}
}

func (p *outside) env(name string) string {
	if p.opt.Env == nil {
		return os.Getenv(name)
	}
	for _, kv := range p.opt.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// suspend returns the terminal to the shell, if there is one with job control.
func (p *outside) suspend() tea.Cmd {
	if !system.JobControl() {
		p.Flash("there is no shell to go back to")
		return nil
	}
	return tea.Suspend
}
