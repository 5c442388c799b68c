package console

import (
	"os"

	"github.com/charmbracelet/x/term"
)

func isTTY(f *os.File) bool { return term.IsTerminal(f.Fd()) }
