package editorscli

import (
	"context"
	"errors"
	"os/signal"
	"syscall"

	"jcode/cli/acp"
	"jcode/cli/console"
)

// Cmd serves an editor.
type Cmd struct{}

// Help is printed by `jcode acp --help`.
func (Cmd) Help() string {
	return `An editor starts this command and speaks the Agent Client Protocol with it. In Zed's settings:

    "agent_servers": {
      "jcode": { "type": "custom", "command": "jcode", "args": ["acp"], "env": {} }
    }

docs/editors.md has JetBrains, Neovim and Emacs.`
}

// Run serves until the editor closes stdin.
func (Cmd) Run(ctx context.Context, std Setup) error {
	if std.Chosen {
		return console.Usage("jcode acp: the editor chooses the session: -p, -c, -r and --fork have no use here")
	}
	signal.Ignore(syscall.SIGPIPE) // an editor that is gone is a write error, and children end in an orderly way
	if err := acp.Serve(ctx, std.In, std.Out, Host{std.Jcode}); err != nil && !errors.Is(err, context.Canceled) {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	return nil
}
