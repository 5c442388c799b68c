package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	backgroundcli "jcode/cli/background"
	"jcode/cli/config"
	"jcode/cli/console"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/ptty"
	"jcode/session"
)

// runChat opens the terminal UI.
func runChat(ctx context.Context, f *flags, std Streams, words []string) error {
	if begins, err := beginsInBackground(ctx, f, std, words); begins {
		return err
	}
	if !f.Plain && (!std.InIsTerminal || !std.OutIsTerminal) {
		return console.Usage("the chat needs a terminal: use jcode -p PROMPT to print an answer instead")
	}
	if f.OutputSchema != "" || f.Output != "" {
		return console.Usage("--output-schema and -o are for answers of -p")
	}
	for {
		err := runChatIn(ctx, f, std, words)
		if away, detached := errors.AsType[*backgroundcli.Detached](err); detached {
			dir, err := os.Getwd()
			if err != nil {
				return console.Usage("working folder: %w", err)
			}
			if away.Then != 0 {
				return backgroundcli.MoveAndShow(ctx, newBackgroundSetup(f, std), f.again(away), dir, away.Then)
			}
			return backgroundcli.Run(ctx, newBackgroundSetup(f, std), f.again(away), dir, false)
		}
		if other, leaves := errors.AsType[*backgroundcli.Elsewhere](err); leaves {
			return backgroundcli.ShowOther(ctx, newBackgroundSetup(f, std), other.Process)
		}
		to, moved := errors.AsType[*worktreescli.Move](err)
		if !moved {
			return err
		}
		f.Resume, f.Continue, f.Fork, f.Worktree, f.Carry, f.Mode = to.Session, false, false, to.Tree, to.Carry, to.Mode
		f.Model, words = cmp.Or(to.Model, f.Model), nil
	}
}

// beginsInBackground begins the chat in the background if the command line says so, and reports whether it does.
func beginsInBackground(ctx context.Context, f *flags, std Streams, words []string) (bool, error) {
	switch {
	case !f.Detachable && !f.Detach:
		return false, nil
	case f.Plain:
		return true, console.Usage("a session in plain mode keeps to its terminal: --detachable and --detach are for the screen")
	case std.held != nil: // it is there
		return false, nil
	case f.Detach && strings.TrimSpace(strings.Join(words, "")) == "":
		return true, console.Usage("--detach needs a prompt: jcode --detach \"fix the tests\"")
	}
	return true, backgroundcli.Run(ctx, newBackgroundSetup(f, std), std.args, std.dir, !f.Detach)
}

// runChatIn opens the terminal UI in the checkout or the worktree that the command line names.
func runChatIn(ctx context.Context, f *flags, std Streams, words []string) error {
	a, err := newAppOfSession(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	if elsewhere, err := goesElsewhere(ctx, a, std); elsewhere || err != nil {
		return err
	}
	at, done, err := enterPlace(ctx, a, words)
	if err != nil {
		return err
	}
	defer done()
	prompt := strings.TrimSpace(strings.Join(words, " "))
	if f.Resume == pickSession && prompt == "" {
		prompt = "/resume"
	}
	return at.chat(ctx, prompt)
}

// goesElsewhere shows the session of the command line where it runs in the background, if the person wants that, or
// begins a chat there if that is their setting.
func goesElsewhere(ctx context.Context, a *app, std Streams) (done bool, err error) {
	if std.held != nil || !ptty.Supported || a.flags.Plain {
		return false, nil
	}
	if a.flags.Continue || a.flags.Resume != "" && a.flags.Resume != pickSession {
		if pid, id := runsInBackground(ctx, a); pid != 0 && console.Confirm(std.In, std.Out, "Session "+session.ShortID(id)+" runs in the background. Show it here?") {
			a.close()
			return true, (&backgroundcli.AttachCmd{Session: strconv.Itoa(pid)}).Run(ctx, newBackgroundSetup(a.flags, std))
		}
	}
	if !config.IsOn(a.config.Detachable) {
		return false, nil
	}
	a.close()
	return true, backgroundcli.Run(ctx, newBackgroundSetup(a.flags, std), std.args, std.dir, true)
}

// runsInBackground returns the process in which the session runs that the command line continues, 0 for none.
func runsInBackground(ctx context.Context, a *app) (pid int, id string) {
	id, err := continued(ctx, a)
	l, errLive := newLive(a.std)
	if err != nil || errLive != nil || id == "" || a.flags.Fork {
		return 0, ""
	}
	list, _ := l.List(ctx) // a process that doesn't answer is none that can be shown
	for _, s := range list {
		if s.SessionID == id && s.Background != nil {
			return s.Pid, id
		}
	}
	return 0, ""
}
