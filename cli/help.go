package cli

import (
	_ "embed"
	"fmt"

	"github.com/alecthomas/kong"
)

// overview is `jcode --help`: one screen that names every command and flag of the grammar.
//
//go:embed help.txt
var overview string

// printHelp prints the overview, or what is specific to a command: only the overview lists the flags of all
// commands.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil || node.Hidden {
		node = nil
		for _, p := range ctx.Path {
			if p.Command != nil && !p.Command.Hidden {
				node = p.Command
			}
		}
	}
	if node == nil {
		_, err := fmt.Fprint(ctx.Stdout, overview)
		return err
	}
	for _, f := range ctx.Model.Flags {
		f.Hidden = f.Hidden || f.Name != "help"
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprint(ctx.Stdout, "\nThe flags of jcode --help hold too.\n")
	return err
}
