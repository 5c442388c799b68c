package cli

import (
	_ "embed"
	"fmt"

	"jcode/internal/commandline"
)

// overview is `jcode --help`: one screen that names every command and flag of the grammar.
//
//go:embed help.txt
var overview string

// printHelp prints the overview, or what is specific to a command: only the overview lists the flags of all
// commands.
func printHelp(c *commandline.Command, std Streams) error {
	for c.Hidden {
		c = c.Parent
	}
	if c.Parent == nil {
		_, err := fmt.Fprint(std.Out, overview)
		return err
	}
	return c.PrintHelp(std.Out, "The global flags of jcode --help apply as well.")
}
