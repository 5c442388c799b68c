package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"jcode/internal/proc"
	"jcode/mcp/config"
)

const (
	// stopGrace is how long a server may take to end after its stdin was closed, and again after
	// SIGTERM.
	stopGrace = 700 * time.Millisecond
	// drainTime is how long output is read after a process ended: buffered output is available at
	// once, and a grandchild may keep the pipe open forever.
	drainTime = 300 * time.Millisecond
)

// process is a running stdio server with its pipes.
type process struct {
	p      *proc.Process
	stdin  *os.File
	stdout *os.File
	log    *Log

	stderrDone chan struct{}
	stopOnce   sync.Once
	gone       chan struct{} // closed when the whole tree has ended and was reaped
}

// StartStdio starts a server's command and returns the connection over its pipes. limit is
// the length in bytes of the longest message that is kept.
func (h *Host) StartStdio(t config.Resolved, log *Log, limit int) (Stdio, error) {
	if h.variables != nil {
		t.Env = append(h.variables(), t.Env...)
	}
	p, err := startProcess(h.launcher, t, log)
	if err != nil {
		return Stdio{}, err
	}
	l := Stdio{newStdioConn(p, log, limit)}
	h.add(l)
	return l, nil
}

// startProcess starts a server's command.
func startProcess(launcher *proc.Launcher, t config.Resolved, log *Log) (*process, error) {
	var files [6]*os.File
	closeAll := func() {
		for _, f := range files {
			if f != nil {
				_ = f.Close() // nothing was written
			}
		}
	}
	for i := 0; i < len(files); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll()
			return nil, fmt.Errorf("make pipes for the server: %w", err)
		}
		files[i], files[i+1] = r, w
	}
	if t.Dir != "" {
		if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
			closeAll()
			return nil, Permanentf("working folder %s does not exist", t.Dir)
		}
	}
	spec, err := t.Confined(proc.Spec{
		Argv: append([]string{t.Program}, t.Args...), Dir: t.Dir, Env: t.Env,
		Stdin: files[0], Stdout: files[3], Stderr: files[5],
	})
	if err != nil {
		closeAll()
		return nil, err
	}
	p, err := launcher.Start(spec)
	if err != nil {
		closeAll()
		return nil, startError(t.Program, err)
	}
	for _, i := range []int{0, 3, 5} {
		_ = files[i].Close() // the child has its own copy
	}
	out := &process{
		p: p, stdin: files[1], stdout: files[2], log: log,
		stderrDone: make(chan struct{}), gone: make(chan struct{}),
	}
	log.forget()
	log.Note("started pid %d", p.Pid())
	go out.drainStderr(files[4])
	go out.watch()
	return out, nil
}

// startError returns why a command could not be started, as a permanent fault.
func startError(program string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return Permanentf("command not found: %s", program)
	case errors.Is(err, os.ErrPermission):
		return Permanentf("command is not executable: %s", program)
	}
	return Permanentf("start %s: %v", program, err)
}

func (p *process) drainStderr(r *os.File) {
	defer close(p.stderrDone)
	stopped := make(chan struct{})
	go func() {
		select {
		case <-p.p.Done():
			// A daemon of the server may keep the pipe open forever.
			_ = r.SetReadDeadline(time.Now().Add(drainTime)) // pipes have deadlines
		case <-stopped:
		}
	}()
	_, _ = io.Copy(p.log, r) // the log never fails, and the end of the pipe is expected
	close(stopped)
	_ = r.Close() // read only
}

// watch ends the processes that a server leaves behind when it exits.
func (p *process) watch() {
	<-p.p.Done()
	p.stop()
}

// stop ends the tree in the background: stdin closed, then SIGTERM, then SIGKILL.
func (p *process) stop() {
	p.stopOnce.Do(func() {
		_ = p.stdin.Close() // the server reads the end of its input
		go func() {
			defer close(p.gone)
			p.stopTree()
			<-p.p.Done()
			p.log.Note("ended pid %d: %s", p.p.Pid(), p.exitText())
			_ = p.stdout.Close() // its reader ends
			<-p.stderrDone
		}()
	})
}

func (p *process) stopTree() {
	if p.emptyWithin(stopGrace) {
		return
	}
	if err := p.p.Terminate(); err == nil && p.emptyWithin(stopGrace) {
		return
	}
	if err := p.p.Kill(); err != nil {
		p.log.Note("%v", err)
	}
}

// emptyWithin waits at most d until no process of the tree runs.
func (p *process) emptyWithin(d time.Duration) bool {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	select {
	case <-p.p.Done():
	case <-deadline.C:
		return false
	}
	for len(p.p.Running()) > 0 {
		select {
		case <-deadline.C:
			return false
		case <-time.After(25 * time.Millisecond):
		}
	}
	return true
}

// kill ends the tree at once, when the time for a clean end is over.
func (p *process) kill() {
	_ = p.p.Kill() // stop reports what could not be ended
}

// exitText describes how the process ended, "" while it runs.
func (p *process) exitText() string {
	if !p.p.Ended() {
		return ""
	}
	exit := p.p.Exit()
	switch {
	case exit.Err != nil:
		return exit.Err.Error()
	case exit.Signal != "":
		return "signal: " + exit.Signal
	}
	return fmt.Sprintf("exit status %d", exit.Code)
}

// exitError returns the failure of a session whose process exited.
func (p *process) exitError() error {
	select {
	case <-p.stderrDone:
	case <-time.After(drainTime):
	}
	text := "server exited (" + p.exitText() + ")"
	if tail := p.log.Reason(); tail != "" {
		text += ": " + tail
	}
	return &Fault{Text: text, Retry: RetryExit}
}
