//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/testkit/terminal"
)

// The size of the pictures in cells, their colours, and how long a screen may take.
const (
	cols, rows = 100, 30
	front      = "#c8ccd4"
	back       = "#16181d"
	limit      = 30 * time.Second
	quiet      = 400 * time.Millisecond
)

func main() {
	out := flag.String("out", "docs/screens", "folder for the pictures")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	dir, err := os.MkdirTemp("", "jcode-screens-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "screens:", err)
		}
	}()
	bin := filepath.Join(dir, "jcode")
	if msg, err := exec.CommandContext(context.Background(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("build jcode: %w: %s", err, msg)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", out, err)
	}
	return errors.Join(firstRun(bin, dir, out), tour(bin, dir, out), minute(bin, dir, out))
}

// start runs jcode in its own home, without the keys and settings of this machine.
func start(bin, dir, folder string, args ...string) (*terminal.Terminal, error) {
	work := filepath.Join(dir, folder)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, fmt.Errorf("make %s: %w", work, err)
	}
	cmd := exec.CommandContext(context.Background(), bin, args...)
	cmd.Dir = work
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasSuffix(name, "_API_KEY") && !strings.HasPrefix(name, "OPENAI_") && !strings.HasPrefix(name, "JCODE_") && name != "NO_COLOR" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "JCODE_HOME="+filepath.Join(dir, "home-"+folder), "TERM=xterm-256color", "COLORTERM=truecolor", "HOME="+dir)
	if cache, err := os.UserCacheDir(); err == nil { // what the shown commands compile need not be compiled anew
		cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	return terminal.Start(cmd, cols, rows)
}

func save(s terminal.Screen, out, name string) error {
	if err := os.WriteFile(filepath.Join(out, name+".svg"), []byte(s.SVG(front, back)), 0o644); err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	return nil
}

// firstRun shows what a person without a model sees.
func firstRun(bin, dir, out string) error {
	term, err := start(bin, dir, "first")
	if err != nil {
		return err
	}
	defer term.Close()
	if _, err := term.WaitFor(limit, "Choose how to begin", "Enter an API key"); err != nil {
		return err
	}
	return save(term.Settle(quiet, limit), out, "first-run")
}

// tour goes through the offline tour and saves a question, the transcript and some panels.
func tour(bin, dir, out string) error {
	term, err := start(bin, dir, "tour", "demo")
	if err != nil {
		return err
	}
	defer term.Close()
	if _, err := term.WaitFor(limit, "tour-language-server", "esc aside"); err != nil {
		return err
	}
	term.Type("y")
	if _, err := term.WaitFor(limit, "Run a command", "sh check.sh", "y once"); err != nil {
		return err
	}
	if err := save(term.Settle(time.Second, limit), out, "approval"); err != nil {
		return err
	}
	edit := false
	for { // answer what is asked until the tour is over
		s, err := term.Wait(limit, func(s terminal.Screen) bool {
			return s.Contains("esc aside") || s.Contains("ask for something") || s.Contains("open the browser") && s.Contains("enter choose")
		})
		if err != nil {
			return err
		}
		if s.Contains("open the browser") {
			if err := save(s, out, "sign-in"); err != nil {
				return err
			}
			term.Press("y")
			if _, err := term.Wait(limit, func(s terminal.Screen) bool { return !s.Contains("open the browser") }); err != nil {
				return err
			}
			continue
		}
		if !s.Contains("esc aside") {
			break
		}
		if !edit && s.Contains("─ Edit") {
			edit = true
			if err := save(s, out, "edit"); err != nil {
				return err
			}
		}
		term.Type("y")
		if _, err := term.Wait(limit, func(s terminal.Screen) bool { return !s.Contains("esc aside") }); err != nil {
			return err
		}
	}
	if err := save(term.Settle(quiet, limit), out, "chat"); err != nil {
		return err
	}
	return panels(term, out)
}

// panels saves what some commands show.
func panels(term *terminal.Terminal, out string) error {
	for _, name := range []string{"tools", "diff", "mcp", "agents", "help"} {
		term.Type("/" + name)
		if _, err := term.WaitFor(limit, "› /"+name); err != nil {
			return err
		}
		term.Settle(quiet/4, limit)
		term.Press("enter")
		// The menu of commands also says "esc close", while the command is still in the input.
		if _, err := term.Wait(limit, func(s terminal.Screen) bool { return s.Contains("esc close") && !s.Contains("› /"+name) }); err != nil {
			return err
		}
		if err := save(term.Settle(quiet, limit), out, name); err != nil {
			return err
		}
		term.Press("esc")
		if _, err := term.Wait(limit, func(s terminal.Screen) bool { return !s.Contains("esc close") }); err != nil {
			return err
		}
	}
	return nil
}
