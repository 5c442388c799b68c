package cli

// internalCommand runs the hidden subcommands with which jcode starts itself: they come
// before flags, configuration and everything else.
func internalCommand(args []string) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	return 0, false
}
