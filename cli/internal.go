package cli

import "jcode/lua/host"

// internalCommand runs the hidden subcommands with which jcode starts itself: they come
// before flags, configuration and everything else.
func internalCommand(args []string) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	if args[0] == host.Command {
		return host.Main(), true
	}
	return 0, false
}
