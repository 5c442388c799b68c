package console

import (
	"os"
	"strconv"

	"github.com/charmbracelet/x/term"
)

// Columns returns the width of the terminal on stdout, or what $COLUMNS says.
func (std Streams) Columns() int {
	if f, ok := Behind(std.Out).(*os.File); ok && std.OutIsTerminal {
		if width, _, err := term.GetSize(f.Fd()); err == nil && width > 0 {
			return width
		}
	}
	if n, err := strconv.Atoi(std.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 100
}
