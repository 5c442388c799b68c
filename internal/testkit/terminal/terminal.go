//go:build linux || darwin

package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"jcode/internal/ptty"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
)

// maxLog bounds the bytes of the program's output that are kept for Output.
const maxLog = 8 << 20

// Terminal is a running terminal. It is safe for concurrent use.
type Terminal struct {
	master, slave *os.File
	cmd           *exec.Cmd
	initial       string

	mu      sync.Mutex
	emu     *vt.Emulator
	title   string
	modes   map[int]bool
	frame   time.Time // when the frame that is being drawn began
	written int64
	log     bytes.Buffer
	changed chan struct{} // closed and replaced whenever something arrives
	osc     []string

	inMu   sync.Mutex
	inCond *sync.Cond
	input  []byte
	closed bool

	exited chan struct{}
	err    error
	pumps  sync.WaitGroup
}

// Open returns a terminal without a program. The file is its other side, for a program that runs in the same
// process; the caller must not close it.
func Open(cols, rows int) (*Terminal, *os.File, error) {
	master, slave, err := ptty.Open()
	if err != nil {
		return nil, nil, err
	}
	if err := ptty.SetSize(master, cols, rows); err != nil {
		return nil, nil, errors.Join(err, master.Close(), slave.Close())
	}
	t := &Terminal{
		master: master, slave: slave, emu: vt.NewEmulator(cols, rows),
		modes: map[int]bool{}, changed: make(chan struct{}), exited: make(chan struct{}),
	}
	t.inCond = sync.NewCond(&t.inMu)
	if t.initial, err = t.Stty(); err != nil {
		return nil, nil, errors.Join(err, master.Close(), slave.Close())
	}
	t.listen()
	t.pumps.Add(3)
	go t.pumpOutput()
	go t.pumpReplies()
	go t.pumpInput()
	return t, slave, nil
}

// Start runs a command in a new terminal of the given size, as leader of its own session. TERM is set to
// xterm-256color and COLORTERM to truecolor unless cmd.Env has them.
func Start(cmd *exec.Cmd, cols, rows int) (*Terminal, error) {
	t, slave, err := Open(cols, rows)
	if err != nil {
		return nil, err
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = withDefault(withDefault(cmd.Env, "TERM", "xterm-256color"), "COLORTERM", "truecolor")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	HeedSignals()
	if err := cmd.Start(); err != nil {
		t.Close()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	t.cmd = cmd
	go func() {
		t.err = cmd.Wait()
		close(t.exited)
		t.touch()
	}()
	return t, nil
}

func withDefault(env []string, key, value string) []string {
	for _, kv := range env {
		if strings.HasPrefix(kv, key+"=") {
			return env
		}
	}
	return append(env, key+"="+value)
}

// listen records what the emulator reports only once.
func (t *Terminal) listen() {
	t.emu.SetCallbacks(vt.Callbacks{
		Title: func(s string) { t.title = s },
		EnableMode: func(m ansi.Mode) {
			t.modes[m.Mode()] = true
			if m == ansi.ModeSynchronizedOutput {
				t.frame = time.Now()
			}
		},
		DisableMode: func(m ansi.Mode) { t.modes[m.Mode()] = false },
	})
	// A program that does not know of a smaller size yet may set margins below the screen.
	t.emu.RegisterCsiHandler('r', func(params ansi.Params) bool {
		if len(params) > 1 && params[1].Param(0) > t.emu.Height() {
			params[1] = ansi.Param(t.emu.Height())
		}
		return false
	})
	// The emulator does not know this mode; the terminal does, see whole.
	t.emu.RegisterCsiHandler(ansi.Command('?', '$', 'p'), func(params ansi.Params) bool {
		if len(params) == 0 || params[0].Param(0) != ansi.ModeSynchronizedOutput.Mode() {
			return false
		}
		t.Type(ansi.ReportMode(ansi.ModeSynchronizedOutput, ansi.ModeReset))
		return true
	})
	for _, n := range []int{9, 52, 99, 777, 7501} {
		t.emu.RegisterOscHandler(n, func(data []byte) bool {
			t.osc = append(t.osc, string(data))
			return true
		})
	}
}

// pumpOutput feeds the emulator with the program's output.
func (t *Terminal) pumpOutput() {
	defer t.pumps.Done()
	buf := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buf)
		if n > 0 {
			t.mu.Lock()
			t.written += int64(n)
			if t.log.Len() < maxLog {
				t.log.Write(buf[:n])
			}
			_, werr := t.emu.Write(buf[:n])
			t.mu.Unlock()
			t.touch()
			if werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pumpReplies sends the emulator's replies to queries back to the program.
func (t *Terminal) pumpReplies() {
	defer t.pumps.Done()
	buf := make([]byte, 4096)
	for {
		n, err := t.emu.Read(buf)
		if n > 0 {
			t.Type(string(buf[:n]))
		}
		if err != nil {
			return
		}
	}
}

// pumpInput writes what was typed, so that Type never waits for a slow reader.
func (t *Terminal) pumpInput() {
	defer t.pumps.Done()
	for {
		t.inMu.Lock()
		for len(t.input) == 0 && !t.closed {
			t.inCond.Wait()
		}
		if t.closed {
			t.inMu.Unlock()
			return
		}
		chunk := t.input
		t.input = nil
		t.inMu.Unlock()
		for len(chunk) > 0 {
			n, err := t.master.Write(chunk[:min(len(chunk), 1024)])
			if err != nil {
				return
			}
			chunk = chunk[n:]
		}
	}
}

func (t *Terminal) touch() {
	t.mu.Lock()
	close(t.changed)
	t.changed = make(chan struct{})
	t.mu.Unlock()
}

// Type sends bytes unchanged.
func (t *Terminal) Type(s string) {
	t.inMu.Lock()
	t.input = append(t.input, s...)
	t.inMu.Unlock()
	t.inCond.Signal()
}

// Press sends keys by name: "enter", "ctrl+c", "alt+b", "shift+enter", or any character.
func (t *Terminal) Press(keys ...string) {
	for _, k := range keys {
		t.Type(bytesOf(k))
	}
}

// Paste sends text as a bracketed paste.
func (t *Terminal) Paste(s string) { t.Type("\x1b[200~" + s + "\x1b[201~") }

// Resize changes the size and tells the program.
func (t *Terminal) Resize(cols, rows int) error {
	t.mu.Lock()
	t.emu.Resize(cols, rows)
	t.mu.Unlock()
	return ptty.SetSize(t.master, cols, rows)
}

// Signal sends a signal to the program of Start.
func (t *Terminal) Signal(sig os.Signal) error { return t.cmd.Process.Signal(sig) }

// Pid returns the process ID of the program of Start.
func (t *Terminal) Pid() int { return t.cmd.Process.Pid }

// Exited is closed when the program of Start has ended.
func (t *Terminal) Exited() <-chan struct{} { return t.exited }

// ExitCode waits up to limit for the program's end and returns its exit code; -1 with an
// error when it still runs or was killed by a signal.
func (t *Terminal) ExitCode(limit time.Duration) (int, error) {
	select {
	case <-t.exited:
		var exit *exec.ExitError
		if t.err == nil || errors.As(t.err, &exit) {
			return t.cmd.ProcessState.ExitCode(), nil
		}
		return -1, t.err
	case <-time.After(limit):
		return -1, fmt.Errorf("still running after %s:\n%s", limit, t.Screen().Text())
	}
}

// InitialStty returns what Stty returned before any program ran.
func (t *Terminal) InitialStty() string { return t.initial }

// Stty describes the terminal's line settings, as `stty -a` would; equal strings mean equal settings.
func (t *Terminal) Stty() (string, error) {
	state, err := term.GetState(t.slave.Fd())
	if err != nil {
		return "", fmt.Errorf("read terminal settings: %w", err)
	}
	return fmt.Sprintf("%+v", *state), nil
}

// Mode reports whether a DEC private mode such as 2004 (bracketed paste) or 1049 is on.
func (t *Terminal) Mode(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.modes[n]
}

// OSC lists the operating system commands for notification, clipboard and program status
// (9, 52, 99, 777, 7501) that the program sent, as `NUMBER;TEXT`.
func (t *Terminal) OSC() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.osc...)
}

// Written returns how many bytes the program has written.
func (t *Terminal) Written() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

// Output returns what the program has written, at most the first 8 MiB.
func (t *Terminal) Output() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.log.String()
}

// HangUp takes the terminal away from its program, as closing its window does. Nothing of
// it can be seen afterwards.
func (t *Terminal) HangUp() error { return t.master.Close() }

// Close ends the program with its process group, if it still runs, and frees the terminal.
func (t *Terminal) Close() {
	if t.cmd != nil && t.cmd.Process != nil {
		select {
		case <-t.exited:
		default:
			// The session's leader is its process group's leader; an error means that it has just ended.
			if err := syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL); err == nil {
				<-t.exited
			}
		}
	}
	t.inMu.Lock()
	t.closed = true
	t.inMu.Unlock()
	t.inCond.Broadcast()
	// Not the emulator's own Close, which races with its Read: ending its pipe is all that is needed.
	if c, ok := t.emu.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
	_ = t.slave.Close()
	_ = t.master.Close()
	t.pumps.Wait()
}
