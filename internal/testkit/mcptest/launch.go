package mcptest

import (
	"os"
	"path/filepath"
)

const (
	// marker makes a test binary act as the fault server.
	marker = "JCODE_MCPTEST"
	// LogVariable names the environment variable with the file to which a server logs
	// what it receives: one JSON object a line, see Event.
	LogVariable = "JCODE_MCPTEST_LOG"
)

// Main acts as the fault server and never returns if this process was started as one. A TestMain calls it
// first.
func Main() {
	if os.Getenv(marker) == "" {
		return
	}
	os.Exit(Run(os.Args[1:]))
}

// Command is the command that starts a fault server.
type Command struct {
	Path string
	Args []string
	Env  map[string]string
}

// Server returns the command that starts this test binary as a fault server. A mode may
// carry a value: `slow=2s`, `big=20000000`.
func Server(mode string, args ...string) Command {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	return Command{Path: path, Args: append([]string{mode}, args...), Env: map[string]string{marker: "1"}}
}

// Logging returns the same command with a log file in dir; the file's path is the second result.
func (c Command) Logging(dir string) (Command, string) {
	path := filepath.Join(dir, "server.log")
	env := map[string]string{LogVariable: path}
	for k, v := range c.Env {
		env[k] = v
	}
	c.Env = env
	return c, path
}
