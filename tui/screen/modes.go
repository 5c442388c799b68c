package screen

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Report is what a terminal is told in addition to the picture: its title, what the program is doing, and
// whether that takes a while. Terminals that do not support it ignore it.
type Report struct {
	title   string
	status  tea.ProgramStatus
	working bool
}

// ReportOf returns the parts of a frame that are not the picture.
func ReportOf(v tea.View) Report {
	r := Report{title: v.WindowTitle, working: v.ProgressBar != nil}
	if v.ProgramStatus != nil {
		r.status = *v.ProgramStatus
	}
	return r
}

// Begin turns on what the program needs of a terminal that is already in raw mode: bracketed paste, the
// mouse, focus events, keys with all their modifiers. It asks at once whether updates can be shown
// atomically: a late reply may reach another program.
func (p *Painter) Begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turnOn()
	if p.asks {
		p.write(ansi.RequestModeSynchronizedOutput)
	}
}

// asksModes reports whether a terminal can be asked for its modes: over ssh the reply may take long, and
// Apple's terminal displays the question.
func asksModes(env []string) bool {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if name == "SSH_TTY" || name == "TERM_PROGRAM" && strings.Contains(value, "Apple") {
			return false
		}
	}
	return true
}

// Back takes over the screen again after another program had it.
func (p *Painter) Back() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active {
		p.write(ansi.SetModeAltScreenSaveCursor)
		p.entered()
	}
	p.lines = nil
}

// entered records that the alternate screen is on, and its content unknown.
func (p *Painter) entered() {
	p.active, p.lines, p.shown, p.shape, p.saved = true, nil, false, 0, nowhere
	p.turnOn()
}

func (p *Painter) turnOn() {
	if p.modes {
		return
	}
	p.modes = true
	p.write(ansi.SetModeBracketedPaste + ansi.SetModeFocusEvent + ansi.SetModeUnicodeCore + ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr +
		ansi.SetModifyOtherKeys2 + ansi.PushKittyKeyboard(ansi.KittyDisambiguateEscapeCodes|ansi.KittyReportAlternateKeys))
}

// turnOff undoes turnOn and clears title and progress, on the screen where they were set.
func (p *Painter) turnOff() {
	if !p.modes {
		return
	}
	p.modes = false
	off := modesOff()
	if p.told.working {
		off += ansi.ResetProgressBar
	}
	if p.told.title != "" {
		off += ansi.SetWindowTitle("")
	}
	p.told = Report{}
	p.write(off)
}

func modesOff() string {
	return wholeScreen + ansi.PopKittyKeyboard(1) + ansi.ResetModifyOtherKeys + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr +
		ansi.ResetModeUnicodeCore + ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste
}

// Restored is what gives a terminal back to its shell on which a painter drew that can't do so itself any more.
func Restored() string {
	return modesOff() + ansi.ResetProgressBar + ansi.SetWindowTitle("") + ansi.ResetModeAltScreenSaveCursor + ansi.SetCursorStyle(0) + ansi.SetModeTextCursorEnable + "\r"
}

// tell returns the bytes for what differs from what the terminal was told before.
func (p *Painter) tell(r Report) string {
	s := ""
	if r.title != p.told.title {
		s += ansi.SetWindowTitle(r.title)
	}
	if r.status != p.told.status {
		s += ansi.SetProgramStatus(r.status)
	}
	switch {
	case r.working && !p.told.working:
		s += ansi.SetIndeterminateProgressBar
	case !r.working && p.told.working:
		s += ansi.ResetProgressBar
	}
	p.told = r
	return s
}

// Say writes a sequence that draws nothing. While another program has the terminal it is dropped: that
// program would receive it.
func (p *Painter) Say(seq string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active {
		p.write(seq)
	}
}

// write passes bytes on; a failure ends the program at its next message.
func (p *Painter) write(s string) {
	if _, err := io.WriteString(p.tty, s); err != nil && p.failure == nil {
		p.failure = fmt.Errorf("write to the terminal: %w", err)
	}
}

// withoutModes removes from Bubble Tea's output the keyboard modes, which it always sets and resets, and its
// queries, which it sends a second after the start.
func withoutModes(b []byte) []byte {
	return without(b, ansi.RequestModeSynchronizedOutput, ansi.RequestModeUnicodeCore, ansi.SetModifyOtherKeys2, ansi.ResetModifyOtherKeys, ansi.PushKittyKeyboard(1), ansi.PopKittyKeyboard(1))
}

// without removes sequences.
func without(b []byte, seqs ...string) []byte {
	for _, seq := range seqs {
		b = bytes.ReplaceAll(b, []byte(seq), nil)
	}
	return b
}
