package clipboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"jcode/internal/launch"
)

// program is a program that reaches a clipboard of this machine.
type program struct {
	name string
	// write takes text on its input. types lists the available types; nil if it cannot. text and picture print
	// the content; if types is set, the type is the last argument of picture.
	write, types, text, picture []string
	// decode turns what picture printed into bytes; nil uses it unchanged.
	decode func(out []byte) ([]byte, error)
	// keep is added to its environment.
	keep []string
}

// reaching lists the programs that may reach the clipboard, the most likely first.
func reaching(env func(string) string) []program {
	var out []program
	if env("WAYLAND_DISPLAY") != "" {
		out = append(out, program{name: "wl-copy", write: []string{}},
			program{name: "wl-paste", types: []string{"--list-types"}, text: []string{"--no-newline"}, picture: []string{"--no-newline", "--type"}})
	}
	if env("DISPLAY") != "" {
		out = append(out, program{
			name: "xclip", write: []string{"-selection", "clipboard"}, types: []string{"-selection", "clipboard", "-o", "-t", "TARGETS"},
			text: []string{"-selection", "clipboard", "-o"}, picture: []string{"-selection", "clipboard", "-o", "-t"},
		}, program{name: "xsel", write: []string{"-ib"}, text: []string{"-ob"}})
	}
	return append(out, systemPrograms(env)...)
}

// wait bounds one program that reaches the clipboard: some wait for the program that filled it.
const wait = 5 * time.Second

// maxPicture bounds a picture from the clipboard, in bytes.
const maxPicture = 10 << 20

// run starts the program with arguments and returns what it prints.
func (c program) run(ctx context.Context, programs launch.Programs, args []string, input string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	out := &capped{max: 2*maxPicture + 1024}
	cmd, err := programs.Command(ctx, c.name, args...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, c.keep...)
	cmd.Stdin, cmd.Stdout = strings.NewReader(input), out
	cmd.WaitDelay = time.Second // a process that it leaves running may hold its output
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return out.Bytes(), nil
}

// capped is a buffer that refuses more than max bytes.
type capped struct {
	bytes.Buffer
	max int
}

func (c *capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > c.max {
		return 0, errors.New("what is on the clipboard is too large")
	}
	return c.Buffer.Write(b)
}
