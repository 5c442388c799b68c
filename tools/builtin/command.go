package builtin

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/capture"
	"jcode/internal/proc"
	"jcode/internal/terminal"
	"jcode/internal/text"
	"jcode/tools"
)

// command is one started command with its output.
type command struct {
	line    string
	dir     string
	started time.Time
	proc    *proc.Process
	capture *capture.Capture
	read    []*os.File // reading ends of the pipes: one for both streams, or one for each
	drained chan struct{}
	term    *terminal.Terminal // nil if it has none
	input   *os.File           // where there are no terminals, what is typed goes into this pipe

	files *commandFiles // nil if its changes are not recorded

	// changed lists the protected files that a command created or changed. told are those that were
	// reported, and tell reports to the person.
	changed func() []string
	tell    func(news string)
	// reading says that the command may only read, sandboxed that it runs in the sandbox of mode auto.
	reading, sandboxed bool
	telling            sync.Mutex
	told               []string
	// move asks the waiting call to leave the command to the background, as a job.
	move chan struct{}
}

// outputs are the settings for capturing the output of a command.
type outputs struct {
	// apart separates standard output and standard error, for scripts. Otherwise both go through
	// one pipe, which keeps the order in which they are written.
	apart bool
	// logged opens a log from the start, for a command in the background.
	logged bool
	// tty gives the command a terminal.
	tty bool
}

// openTerminal gives a command a terminal, or where there are none, a pipe to write to. It returns the ends of the command,
// which are closed once it is started.
func (s *Shell) openTerminal(c *command, spec *proc.Spec) (theirs []*os.File, err error) {
	spec.Env = proc.TerminalEnv(spec.Env)
	t, slave, err := s.opts.terminal()
	switch {
	case err == nil:
		c.term, c.read = t, []*os.File{t.Master()}
		spec.Stdin, spec.Stdout, spec.Stderr, spec.Terminal = slave, slave, slave, true
		return []*os.File{slave}, nil
	case !errors.Is(err, errors.ErrUnsupported):
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	write, err := c.openPipes(false)
	if err != nil {
		closeAll([]*os.File{r, w})
		return nil, err
	}
	c.input = w
	spec.Stdin, spec.Stdout, spec.Stderr = r, write[0], write[0]
	return append(write, r), nil
}

// consumed is what is read of an output that capture keeps, and the terminal draws.
func (c *command) consumed(r io.Reader) io.Reader {
	if c.term == nil {
		return r
	}
	return io.TeeReader(r, c.term)
}

// noInput ends what can be typed.
func (c *command) noInput() {
	if c.term != nil {
		c.term.Close()
	}
	if c.input != nil {
		_ = c.input.Close() // the reader is gone
	}
}

// openPipes opens one pipe for both streams, or one for each, and returns the ends to write to.
func (c *command) openPipes(apart bool) (write []*os.File, err error) {
	n := 1
	if apart {
		n = 2
	}
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(c.read, write)
			return nil, err
		}
		c.read, write = append(c.read, r), append(write, w)
	}
	return write, nil
}

// apart reports whether each stream has a pipe of its own.
func (c *command) apart() bool { return len(c.read) > 1 }

// stop kills the whole tree and ends the reading of its output.
func (c *command) stop(grace time.Duration) error {
	err := c.proc.Stop(context.Background(), grace)
	select {
	case <-c.drained:
	case <-time.After(500 * time.Millisecond):
		// A process out of reach keeps the pipe open: reading ends here.
		for _, r := range c.read {
			err = errors.Join(err, ignoreClosed(r.SetReadDeadline(time.Now())))
		}
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// news returns a line that names the protected files that a command created or changed and that
// were not reported yet, or "". It also reports them to the person.
func (c *command) news() string {
	if c.changed == nil {
		return ""
	}
	c.telling.Lock()
	defer c.telling.Unlock()
	var fresh []string
	for _, path := range c.changed() {
		if !slices.Contains(c.told, path) {
			fresh = append(fresh, path)
		}
	}
	if c.told = append(c.told, fresh...); len(fresh) == 0 {
		return ""
	}
	news := "made or changed protected files, which steer git or the agent: " + strings.Join(fresh, ", ") + "; look at them, /undo takes them back"
	if c.tell != nil {
		c.tell("the command " + text.Brief(c.line) + " " + news)
	}
	return "it " + news
}

// settle waits until the output of the ended shell was read, whether or not a process that is
// still running keeps the pipes open.
func (c *command) settle() {
	deadline := time.Now().Add(maxDrain)
	seen := c.capture.Count()
	for {
		select {
		case <-c.drained:
			return
		case <-time.After(quiet):
		}
		now := c.capture.Count()
		if now == seen || time.Now().After(deadline) {
			return
		}
		seen = now
	}
}

// report shows what the command has printed since the last report.
func (c *command) report(progress func(tools.Progress)) {
	if progress == nil {
		return
	}
	if added, line := c.capture.Report(); added != "" || line != "" {
		progress(tools.Progress{Output: added, Text: line})
	}
}
