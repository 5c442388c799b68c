//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/testkit/terminal"
)

// The project and the script of the moving picture: a prompt, a question with a diff, a test, and /undo.
const (
	sumText = `package calc

// Mean returns the mean of the numbers.
func Mean(numbers []float64) float64 {
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	return sum / float64(len(numbers))
}
`
	testText = `package calc

import "testing"

func TestMeanOfNothingIsZero(t *testing.T) {
	if got := Mean(nil); got != 0 {
		t.Errorf("got %v", got)
	}
}
`
	script = `{"text": "I run the test first.", "tool_calls": [{"name": "exec", "arguments": {"cmd": "go test ./..."}}]}
{"text": "The mean of no numbers is 0/0. I return early.", "tool_calls": [{"name": "read", "arguments": {"path": "calc.go"}}]}
{"tool_calls": [{"name": "edit", "arguments": {"path": "calc.go", "old_string": "\tsum := 0.0\n", "new_string": "\tif len(numbers) == 0 {\n\t\treturn 0\n\t}\n\tsum := 0.0\n"}}]}
{"tool_calls": [{"name": "exec", "arguments": {"cmd": "go test ./..."}}]}
{"text": "Done: ` + "`Mean(nil)`" + ` is 0 now, and the test passes."}
`
)

// cast collects the shots of a moving picture.
type cast struct {
	term  *terminal.Terminal
	shots []terminal.Shot
}

// take shows the present screen for a time.
func (c *cast) take(d time.Duration) {
	c.shots = append(c.shots, terminal.Shot{Screen: c.term.Settle(quiet/4, limit), For: d})
}

// write types a text word by word.
func (c *cast) write(text string) {
	for word := range strings.SplitAfterSeq(text, " ") {
		c.term.Type(word)
		c.take(150 * time.Millisecond)
	}
}

// wait shows the screen that has the texts for a time.
func (c *cast) wait(d time.Duration, texts ...string) error {
	if _, err := c.term.WaitFor(limit, texts...); err != nil {
		return err
	}
	c.take(d)
	return nil
}

// answer says yes to the question on the screen, once it takes keys: one that opened just now takes none.
func (c *cast) answer() {
	time.Sleep(time.Second)
	c.term.Type("y")
}

// minute saves the moving picture of the README.
func minute(bin, dir, out string) error {
	work := filepath.Join(dir, "calc")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", work, err)
	}
	for name, text := range map[string]string{"go.mod": "module calc\n\ngo 1.26\n", "calc.go": sumText, "calc_test.go": testText, "../talk.jsonl": script} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	term, err := start(bin, dir, "calc", "-m", "replay:../talk.jsonl")
	if err != nil {
		return err
	}
	defer term.Close()
	c := &cast{term: term}
	steps := []func() error{
		func() error { return c.wait(time.Second, "replay") },
		func() error {
			c.write("make the mean of nothing zero")
			c.take(400 * time.Millisecond)
			term.Press("enter")
			return c.wait(2*time.Second, "esc aside", "go test")
		},
		func() error { c.answer(); return c.wait(3*time.Second, "esc aside", "+", "return 0") },
		func() error {
			c.answer()
			return c.wait(2*time.Second, "Run a command", "esc aside", "go test ./...")
		},
		func() error { c.answer(); return c.wait(3*time.Second, "the test passes") },
		func() error {
			c.write("/undo")
			c.take(400 * time.Millisecond)
			term.Press("enter")
			return c.wait(4*time.Second, "calc.go", "/redo")
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("the moving picture: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "minute.svg"), []byte(terminal.Cast(c.shots, front, back)), 0o644); err != nil {
		return fmt.Errorf("save the moving picture: %w", err)
	}
	return nil
}
