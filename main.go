// Command jcode is a coding agent in the terminal.
package main

import (
	"os"

	"jcode/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.System())) }
