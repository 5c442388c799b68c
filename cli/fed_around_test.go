//go:build linux || darwin

package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// fedLine is a line of the output.
type fedLine struct {
	Type, Request, Error, Kind, Text, Mode, ID, Status, Reason, Queued, Decision string

	Line    int
	OK      bool
	Busy    bool
	Result  json.RawMessage
	Prompts []string        `json:"prompt_ids"`
	Output  json.RawMessage `json:"structured_output"`

	raw string
}

// fed is a run whose standard input stays open.
type fed struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan fedLine
	seen  []fedLine
	ended sync.WaitGroup
	err   strings.Builder
}

// feed starts a run that takes lines.
func (c *chat) feed(args ...string) *fed {
	c.t.Helper()
	f := &fed{t: c.t, cmd: c.command("jcode", append([]string{"-p", "--input-format", "stream-json", "--output-format", "stream-json"}, args...)...), lines: make(chan fedLine, 1000)}
	var err error
	if f.in, err = f.cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	f.cmd.Stderr = &f.err
	if err := f.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	f.ended.Go(func() {
		defer close(f.lines)
		in := bufio.NewReader(out)
		for {
			raw, err := in.ReadString('\n')
			if err != nil {
				return
			}
			l := fedLine{raw: strings.TrimSuffix(raw, "\n")}
			if err := json.Unmarshal([]byte(raw), &l); err != nil {
				c.t.Errorf("%v: %s", err, raw)
			}
			f.lines <- l
		}
	})
	c.t.Cleanup(func() { _ = f.in.Close(); _ = f.cmd.Process.Kill() })
	return f
}

// write writes lines.
func (f *fed) write(lines ...string) {
	f.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(f.in, l+"\n"); err != nil {
			f.t.Fatalf("%v\n%s", err, f.err.String())
		}
	}
}

// until reads to a line of a type, "" for any, and returns it.
func (f *fed) until(kind string, fits ...func(fedLine) bool) fedLine {
	f.t.Helper()
	late := time.After(2 * time.Minute)
	for {
		var l fedLine
		var more bool
		select {
		case l, more = <-f.lines:
		case <-late:
			f.t.Errorf("nothing came for two minutes")
		}
		if !more {
			break
		}
		f.seen = append(f.seen, l)
		if (kind == "" || l.Type == kind) && (len(fits) == 0 || fits[0](l)) {
			return l
		}
	}
	f.t.Fatalf("no %s after\n%s\n%s", kind, f.transcript(), f.err.String())
	return fedLine{}
}

// response reads to the answer to a line.
func (f *fed) response(n int) fedLine {
	f.t.Helper()
	return f.until("response", func(l fedLine) bool { return l.Line == n })
}

func (f *fed) transcript() string {
	var b strings.Builder
	for _, l := range f.seen {
		fmt.Fprintln(&b, l.raw)
	}
	return b.String()
}

// end ends the input, reads the rest, and returns the exit code.
func (f *fed) end() int {
	f.t.Helper()
	if err := f.in.Close(); err != nil {
		f.t.Fatal(err)
	}
	for l := range f.lines {
		f.seen = append(f.seen, l)
	}
	f.ended.Wait()
	err := f.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return 0
}

func promptLine(text string) string {
	b, _ := json.Marshal(map[string]string{"type": "prompt", "text": text})
	return string(b)
}

// fromRaw returns a text of a line.
func fromRaw(t *testing.T, l fedLine, name string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(l.raw), &all); err != nil {
		t.Fatal(err)
	}
	said, _ := all[name].(string)
	return said
}
