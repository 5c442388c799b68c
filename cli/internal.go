package cli

import (
	"fmt"
	"os"

	"jcode/cli/console"
	"jcode/cli/tour"
	"jcode/lua/host"
	"jcode/tools/sandbox"
)

// internalCommand runs the hidden subcommands with which jcode starts itself. They are handled
// before flags and configuration.
func internalCommand(args []string) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch args[0] {
	case host.Command:
		return host.Main(), true
	case sandbox.Command:
		return sandbox.Main(args[1:]), true
	case tour.LanguageServer:
		if err := tour.ServeLanguage(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(console.Clean(os.Stderr), "jcode:", err)
			return console.ExitModel, true
		}
		return 0, true
	}
	return 0, false
}
