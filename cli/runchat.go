package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"
)

// runChat opens the terminal UI.
func runChat(ctx context.Context, f *flags, std Streams, words []string) error {
	if !f.Plain && (!std.InIsTerminal || !std.OutIsTerminal) {
		return usageError("the chat needs a terminal: use jcode -p PROMPT to print an answer instead")
	}
	if f.OutputSchema != "" || f.Output != "" {
		return usageError("--output-schema and -o are for answers of -p")
	}
	for {
		err := runChatIn(ctx, f, std, words)
		to, moved := errors.AsType[*moveError](err)
		if !moved {
			return err
		}
		f.Resume, f.Continue, f.Fork, f.Worktree, f.Carry, f.Mode = to.session, false, false, to.tree, to.carry, to.mode
		f.Model, words = cmp.Or(to.model, f.Model), nil
	}
}

// runChatIn opens the terminal UI in the checkout or the worktree that the command line names.
func runChatIn(ctx context.Context, f *flags, std Streams, words []string) error {
	a, err := newAppOfSession(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	at, done, err := standBeside(ctx, a, words)
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
