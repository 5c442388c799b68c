package backgroundcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/internal/ptty"
	"jcode/internal/text"
	"jcode/remote"
)

// startWithin is how long a process may take to answer at its start, and until its session is there.
const startWithin = 15 * time.Second

// Started is a program in the background from its start to when it can be spoken to. Until then both sides of its
// terminal are kept: what it says when it fails is heard.
type Started struct {
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	exited chan struct{}
}

// Start starts this program on a terminal of its own.
func Start(args []string, dir string, size remote.Size, term string) (*Started, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &Started{exited: make(chan struct{})}
	if s.master, s.slave, err = ptty.Open(); err != nil {
		return nil, err
	}
	if err := ptty.SetSize(s.master, size.Cols, size.Rows); err != nil {
		return nil, errors.Join(err, s.release())
	}
	var env []string
	if term == "" || term == "dumb" { // it is the terminal of whoever looks later
		env = append(env, "TERM=xterm-256color")
	}
	if s.cmd, err = ptty.Background(s.master, s.slave, self, append([]string{Command}, args...), env, dir); err != nil {
		return nil, errors.Join(err, s.release())
	}
	go func() { // ends with the program
		_ = s.cmd.Wait() // how it ended is in its state
		close(s.exited)
	}()
	return s, nil
}

// release lets go of the terminal, which the program has itself.
func (s *Started) release() error { return errors.Join(s.master.Close(), s.slave.Close()) }

// Pid is the ID of its process.
func (s *Started) Pid() int { return s.cmd.Process.Pid }

// connect waits until the program listens. Where it ends before, the error is what it said. Afterwards its terminal is
// its own affair.
func (s *Started) connect(ctx context.Context, l live.Sessions, h remote.Handlers) (*remote.Client, error) {
	defer func() { _ = s.release() }() // it has its own
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	go func() {
		select {
		case <-s.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	client, err := l.Place.Process(ctx, s.Pid(), l.Name, h)
	if err == nil {
		return client, nil
	}
	select {
	case <-s.exited:
		return nil, s.failed()
	case <-time.After(endsWithin): // it ends for the same reason, or not at all
	}
	return nil, &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("process %d in the background does not answer: %w", s.Pid(), err)}
}

// endsWithin is how long a process may take to end that could not be connected to.
const endsWithin = 3 * time.Second

// The bounds of what is heard of a program that failed.
const (
	maxLastWords  = 16 << 10
	lastWordsRead = 200 * time.Millisecond // it has ended: nothing more is written
)

// failed returns what a program said that ended before it could be spoken to, and its exit code.
func (s *Started) failed() error {
	_ = s.master.SetReadDeadline(time.Now().Add(lastWordsRead)) // the slave is open, so that nothing is lost: there is no end to be read
	said, _ := io.ReadAll(io.LimitReader(s.master, maxLastWords))
	words := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text.Clean(string(said))), "jcode: "))
	if words == "" {
		words = "it ended at once (" + s.cmd.ProcessState.String() + ")"
	}
	code := s.cmd.ProcessState.ExitCode()
	if code <= 0 { // a signal, or an end without a reason
		code = console.ExitModel
	}
	return &console.Exit{Code: code, Err: fmt.Errorf("the session in the background did not begin: %s", words)}
}

// Began waits until the session of a program is there, and returns it. What a program says that ends at once is the
// error. Where it takes long, session is "": it may ask something first.
func (s *Started) Began(ctx context.Context, l live.Sessions) (session string, err error) {
	var said strings.Builder
	left := make(chan remote.Left, 2)
	client, err := s.connect(ctx, l, remote.Handlers{
		Draw:    func(d remote.Draw) { said.Write(d.Data) },
		Left:    func(x remote.Left) { left <- x },
		Stopped: func(error) { left <- remote.Left{Code: console.ExitModel} },
	})
	if err != nil {
		return "", err
	}
	defer client.Close()
	ctx, stop := context.WithTimeout(ctx, startWithin)
	defer stop()
	if err := client.Call(ctx, "show", remote.Show{Size: remote.Size{Cols: 80, Rows: 24}, Role: remote.Watch}, nil); err != nil {
		return "", &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("the session in the background: %w", err)}
	}
	for {
		var list []remote.Listed
		if client.Call(ctx, "sessions", nil, &list) == nil && len(list) > 0 {
			return list[0].SessionID, nil
		}
		select {
		case x := <-left:
			client.Close() // nothing more is said
			words := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text.Clean(said.String())), "jcode: "))
			if words == "" {
				words = "it has ended at once"
			}
			return "", &console.Exit{Code: max(x.Code, 1), Err: fmt.Errorf("the session in the background: %s", words)}
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return "", nil
		}
	}
}
