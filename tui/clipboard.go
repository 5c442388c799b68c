package tui

import (
	"context"
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tui/clipboard"
	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// copyText puts text on the clipboard and reports what is known: that a program has accepted it, or only that
// it was sent to the terminal, which never replies.
func (p *outside) copyText(s string) tea.Cmd {
	lines, env, programs := text.Count(strings.Count(s, "\n")+1, "line"), p.env, p.opt.Programs
	return p.Background(func(ctx context.Context) dialog.Do {
		where := clipboard.Write(ctx, programs, env, s)
		remote := env("SSH_CONNECTION") != "" || env("SSH_TTY") != ""
		return func() tea.Cmd {
			var tell tea.Cmd
			if where == "" || remote { // a program here may not reach the person's clipboard
				tell = p.tell(clipboard.Sequence(env, s))
			}
			switch where {
			case "":
				p.Flash("sent " + lines + " to the terminal's clipboard: paste to check, it does not answer")
			case "tmux":
				p.Flash("copied " + lines + " to tmux (prefix ] pastes), which passes it to the terminal if it may")
			default:
				p.Flash("copied " + lines)
			}
			return tell
		}
	})
}

// pasteClipboard puts the content of the clipboard into the input: a picture as a chip, text as a paste.
// Terminals do not pass pictures on, so the clipboard itself is asked; asked says that the person must be
// told if there is nothing, paste takes a text.
func (p *outside) pasteClipboard(asked bool, paste func(string) tea.Cmd) tea.Cmd {
	if asked {
		p.Flash("reading the clipboard …")
	}
	env, private, programs := p.env, p.state.Private, p.opt.Programs
	return p.Background(func(ctx context.Context) dialog.Do {
		got, err := clipboard.Read(ctx, programs, env)
		file := ""
		switch {
		case err == nil && got.Picture != nil && private:
			err = errors.New("its picture would become a file, and a private conversation makes none: name a file of yours with @")
		case err == nil && got.Picture != nil:
			file, err = clipboard.Keep(p.opt.Pictures, got.Picture, got.Kind)
		}
		return func() tea.Cmd {
			p.hint.text = ""
			switch {
			case file != "":
				p.insertPicture(file, got.Picture)
			case got.Text != "":
				return paste(got.Text)
			case !asked:
			case errors.Is(err, clipboard.ErrNone):
				p.Say(event.LevelWarn, noClipboard(env))
			case err != nil:
				p.Say(event.LevelWarn, "The clipboard could not be read: "+text.Clean(err.Error()))
			default:
				p.Flash("the clipboard is empty")
			}
			return nil
		}
	})
}

// noClipboard says what to do when no program reads the clipboard.
func noClipboard(env func(string) string) string {
	const instead = " A picture also comes in as a file: drag it here, or name it with @."
	switch {
	case env("WAYLAND_DISPLAY") != "":
		return "Nothing here reads the clipboard: install wl-clipboard." + instead
	case env("DISPLAY") != "":
		return "Nothing here reads the clipboard: install xclip." + instead
	case env("SSH_CONNECTION") != "" || env("SSH_TTY") != "":
		return "The clipboard is on the machine that you sit at, and its pictures do not come through a remote terminal." + instead
	}
	return "Nothing here reads the clipboard." + instead
}

// insertPicture writes a picture as a chip. What is sent is its file's name, and to a model that accepts
// images the picture itself.
func (p *outside) insertPicture(file string, data []byte) {
	p.pictures++
	word := strings.TrimRight(fileWord(file), " ")
	p.named(word, transcript.Label("Picture #"+strconv.Itoa(p.pictures), data))
	p.in.Chip(p.chips[word], word)
	p.menu.close()
}
