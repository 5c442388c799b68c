package instructions

import (
	"context"
	_ "embed" // the prompt
	"strings"

	"jcode/tools/command"
)

//go:embed init.md
var initPrompt string

// Init returns the `/init` command: it has the agent write an AGENTS.md for the project, or
// improve the one there is.
func Init() command.Command {
	return command.Command{
		Name:        "init",
		Description: "write or improve AGENTS.md for this project",
		Hint:        "[what matters most]",
		Origin:      "builtin",
		Run: func(_ context.Context, args string) (command.Outcome, error) {
			args = strings.TrimSpace(args)
			out := command.Outcome{Prompt: strings.TrimSpace(initPrompt), Shown: strings.TrimSpace("/init " + args)}
			if args != "" {
				out.Prompt += "\n\nThe user adds: " + args
			}
			return out, nil
		},
	}
}
