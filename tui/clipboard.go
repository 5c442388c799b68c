package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"jcode/agent/event"
	"jcode/internal/launch"
	"jcode/internal/text"
	"jcode/internal/tidy"
	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// clipboard is a program that reaches a clipboard of this machine.
type clipboard struct {
	name string
	// write takes text on its input. types lists the available types; nil if it cannot. text and picture print
	// the content; if types is set, the type is the last argument of picture.
	write, types, text, picture []string
	// decode turns what picture printed into bytes; nil uses it unchanged.
	decode func(out []byte) ([]byte, error)
	// keep is added to its environment.
	keep []string
}

// clipboards lists the programs that may reach the clipboard, the most likely first.
func clipboards(env func(string) string) []clipboard {
	var out []clipboard
	if env("WAYLAND_DISPLAY") != "" {
		out = append(out, clipboard{name: "wl-copy", write: []string{}},
			clipboard{name: "wl-paste", types: []string{"--list-types"}, text: []string{"--no-newline"}, picture: []string{"--no-newline", "--type"}})
	}
	if env("DISPLAY") != "" {
		out = append(out, clipboard{
			name: "xclip", write: []string{"-selection", "clipboard"}, types: []string{"-selection", "clipboard", "-o", "-t", "TARGETS"},
			text: []string{"-selection", "clipboard", "-o"}, picture: []string{"-selection", "clipboard", "-o", "-t"},
		}, clipboard{name: "xsel", write: []string{"-ib"}, text: []string{"-ob"}})
	}
	return append(out, systemClipboards(env)...)
}

// clipboardWait bounds one program that reaches the clipboard: some wait for the program that filled it.
const clipboardWait = 5 * time.Second

// maxPicture bounds a picture from the clipboard, in bytes.
const maxPicture = 10 << 20

// run starts the program with arguments and returns what it prints.
func (c clipboard) run(ctx context.Context, programs launch.Programs, args []string, input string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, clipboardWait)
	defer cancel()
	out := &capped{max: 2*maxPicture + 1024}
	cmd, err := programs.Command(ctx, c.name, args...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, c.keep...)
	cmd.Stdin, cmd.Stdout = strings.NewReader(input), out
	cmd.WaitDelay = time.Second // a process that it leaves running may hold its output
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return out.Bytes(), nil
}

// capped is a buffer that refuses more than max bytes.
type capped struct {
	bytes.Buffer
	max int
}

func (c *capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > c.max {
		return 0, errors.New("what is on the clipboard is too large")
	}
	return c.Buffer.Write(b)
}

// copyText puts text on the clipboard and reports what is known: that a program has accepted it, or only that
// it was sent to the terminal, which never replies.
func (p *outside) copyText(s string) tea.Cmd {
	lines, env, programs := text.Count(strings.Count(s, "\n")+1, "line"), p.env, p.opt.Programs
	return p.Background(func(ctx context.Context) dialog.Do {
		where := writeClipboard(ctx, programs, env, s)
		remote := env("SSH_CONNECTION") != "" || env("SSH_TTY") != ""
		return func() tea.Cmd {
			var tell tea.Cmd
			if where == "" || remote { // a program here may not reach the person's clipboard
				tell = p.tell(setClipboard(env, s))
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

// writeClipboard passes text to a program that keeps it and returns the program's name; "" if none does.
func writeClipboard(ctx context.Context, programs launch.Programs, env func(string) string, s string) string {
	for _, c := range clipboards(env) {
		if c.write == nil {
			continue
		}
		if _, err := c.run(ctx, programs, c.write, s); err == nil {
			return c.name
		}
	}
	if env("TMUX") == "" {
		return ""
	}
	tmux := clipboard{name: "tmux", keep: []string{"TMUX=" + env("TMUX")}}
	for _, args := range [][]string{{"load-buffer", "-w", "-"}, {"load-buffer", "-"}} { // -w exists since version 3.2
		if _, err := tmux.run(ctx, programs, args, s); err == nil {
			return tmux.name
		}
	}
	return ""
}

// screenLimit is how many bytes of a sequence GNU screen passes on at once.
const screenLimit = 700

// setClipboard returns the sequence that puts text on a terminal's clipboard (OSC 52), wrapped as a
// multiplexer in between requires.
func setClipboard(env func(string) string, s string) string {
	seq := ansi.SetSystemClipboard(s)
	if env("STY") != "" {
		return ansi.ScreenPassthrough(seq, screenLimit)
	}
	return seq
}

// pasted is the content found on the clipboard: a picture or text.
type pasted struct {
	picture []byte
	kind    string // "png", "jpeg", "gif", "webp"
	text    string
}

// errNoClipboard is returned when no program here reads the clipboard.
var errNoClipboard = errors.New("nothing here reads the clipboard")

// pictureKinds are the types that models accept, the best first. It is never written.
var pictureKinds = []string{"png", "jpeg", "webp", "gif"}

// readClipboard returns the content of the clipboard, a picture before text. failed says what went wrong if
// nothing was found; it is errNoClipboard if no program could be asked.
func readClipboard(ctx context.Context, programs launch.Programs, env func(string) string) (got pasted, failed error) {
	failed = errNoClipboard
	all := clipboards(env)
	for _, c := range all {
		if c.picture == nil {
			continue
		}
		data, err := c.readPicture(ctx, programs)
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		kind, ok := strings.CutPrefix(http.DetectContentType(data), "image/")
		switch {
		case len(data) > maxPicture:
			return pasted{}, fmt.Errorf("the picture is larger than %d MB", maxPicture>>20)
		case ok:
			return pasted{picture: data, kind: kind}, nil
		}
		failed = err
	}
	for _, c := range all {
		if c.text == nil {
			continue
		}
		out, err := c.run(ctx, programs, c.text, "")
		switch {
		case errors.Is(err, exec.ErrNotFound):
		case err != nil && (failed == nil || errors.Is(failed, errNoClipboard)):
			failed = err
		case err == nil && len(out) > 0:
			return pasted{text: string(out)}, nil
		case errors.Is(failed, errNoClipboard):
			failed = nil
		}
	}
	return pasted{}, failed
}

// readPicture returns the picture on the clipboard, nothing if there is none.
func (c clipboard) readPicture(ctx context.Context, programs launch.Programs) ([]byte, error) {
	args := c.picture
	if c.types != nil {
		out, err := c.run(ctx, programs, c.types, "")
		if err != nil {
			return nil, err
		}
		types := strings.Split(string(out), "\n")
		i := slices.IndexFunc(pictureKinds, func(kind string) bool { return slices.Contains(types, "image/"+kind) })
		if i < 0 {
			return nil, nil
		}
		args = append(slices.Clip(args), "image/"+pictureKinds[i])
	}
	out, err := c.run(ctx, programs, args, "")
	if err != nil || c.decode == nil {
		return out, err
	}
	return c.decode(out)
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
		got, err := readClipboard(ctx, programs, env)
		file := ""
		switch {
		case err == nil && got.picture != nil && private:
			err = errors.New("its picture would become a file, and a private conversation makes none: name a file of yours with @")
		case err == nil && got.picture != nil:
			file, err = keepPicture(p.opt.Pictures, got.picture, got.kind)
		}
		return func() tea.Cmd {
			p.hint.text = ""
			switch {
			case file != "":
				p.insertPicture(file, got.picture)
			case got.text != "":
				return paste(got.text)
			case !asked:
			case errors.Is(err, errNoClipboard):
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

// pictureLife is how long pictures from the clipboard are kept: what was sent is in the session, this is for
// drafts and for earlier prompts that are sent again.
const pictureLife = 30 * 24 * time.Hour

// keepPicture writes a picture into a folder, readable by the person only, and removes old ones; "" means a
// folder for temporary files.
func keepPicture(dir string, data []byte, kind string) (file string, err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "jcode")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	tidy.Folder(dir, tidy.Limits{Age: pictureLife})
	f, err := os.CreateTemp(dir, "picture-*."+kind) // mode 0600
	if err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	return f.Name(), nil
}
