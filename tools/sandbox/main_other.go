//go:build !linux

package sandbox

import (
	"fmt"
	"os"
)

// exitRefused is the exit code when the confinement itself fails: the command did not run.
const exitRefused = 125

// Main is the hidden subcommand. This system can't confine commands.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "jcode: sandbox: not available on this system")
	return exitRefused
}

// Kernel returns the kernel's version of Landlock: none.
func Kernel() int { return 0 }

func probe(string) Report { return unavailable("there is none for this system") }
