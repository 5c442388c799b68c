package host

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Command is the hidden first argument that turns the binary into a host.
const Command = "lua-host"

// Long is the argument after Command for a host that lives as long as its plugin: its
// CPU limit is higher.
const Long = "long"

// Main is the hidden subcommand `jcode lua-host`. It must run before anything else of
// the program: flags, configuration, terminal. It returns the exit code.
func Main() int { return mainWith(nil) }

func mainWith(extra map[string]lua.LGFunction) int {
	if !isPipe(os.Stdin) || !isPipe(os.Stdout) {
		fmt.Fprintln(os.Stderr, "jcode lua-host is internal: jcode starts it to run Lua scripts.")
		return 2
	}
	in, out, err := takePipes()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lua-host:", err)
		return 2
	}
	_, _ = time.Now().Zone() // loads the time zone while files can be read
	if err := serve(in, out, harden(slices.Contains(os.Args, Long)), os.Exit, extra); err != nil {
		fmt.Fprintln(os.Stderr, "lua-host:", err)
		return 2
	}
	return 0
}

// takePipes returns private copies of the two pipes, so that no library can read or write them
// as standard input and output.
func takePipes() (io.Reader, io.Writer, error) {
	in, out := os.Stdin, os.Stdout
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	os.Stdin, os.Stdout = null, os.Stderr
	return in, out, nil
}

func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
