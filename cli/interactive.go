package cli

import "context"

// runChat opens the terminal UI.
func runChat(_ context.Context, _ *flags, _ Streams, _ []string) error {
	return usageError("%w", errNoUI)
}

func (c *demoCmd) show(_ context.Context, _ *flags, _ Streams) error {
	return usageError("%w", errNoUI)
}
