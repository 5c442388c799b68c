package builtin

import (
	"context"
	"fmt"
	"os"
	"time"

	"jcode/internal/proc"
)

// HookRun is a command that an event runs.
type HookRun struct {
	// Command is a shell line.
	Command string
	Dir     string
	// Env are variables in addition to those of exec.
	Env []string
	// Stdin is what the command reads.
	Stdin []byte
	// Limit is the time it may take.
	Limit time.Duration
}

// HookEnd is the end of a HookRun: its output, up to a limit, and its exit code.
type HookEnd struct {
	Stdout, Stderr string
	Code           int
}

// RunHook runs a shell line with data on its standard input, in the environment, with the output
// limits and in the sandbox of RunCommand. It returns an error if the command could not be run,
// did not end in time, or was ended by a signal.
func (s *Shell) RunHook(ctx context.Context, run HookRun) (HookEnd, error) {
	if err := enterable(run.Dir); err != nil {
		return HookEnd{}, err
	}
	in, feed, err := os.Pipe()
	if err != nil {
		return HookEnd{}, fmt.Errorf("start hook: %w", err)
	}
	spec := proc.Spec{Argv: s.argv(run.Command), Dir: run.Dir, Env: append(s.opts.Env(), run.Env...), Stdin: in}
	c, err := s.start(spec, run.Command, confinement{sandbox: s.confines()}, outputs{apart: true})
	_ = in.Close() // the child has its own
	if err != nil {
		_ = feed.Close()
		return HookEnd{}, err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		_, _ = feed.Write(run.Stdin) // a hook need not read
		_ = feed.Close()
	}()
	end := s.await(ctx, c, run.Limit, nil)
	_ = feed.SetWriteDeadline(time.Now()) // a process may keep the pipe open and never read
	<-fed
	out := HookEnd{Stdout: end.data.Stdout, Stderr: end.data.Stderr, Code: end.exit.Code}
	if blamed := s.blamed(c, end.exit.Code); blamed != "" {
		out.Stderr += "\n[the sandbox stopped it: " + blamed + "]"
	}
	switch {
	case end.cancelled:
		return out, ctx.Err()
	case end.timedOut > 0:
		return out, fmt.Errorf("did not end within %v and was ended", end.timedOut)
	case end.exit.Signal != "":
		return out, fmt.Errorf("ended by signal: %s", end.exit.Signal)
	case end.exit.Err != nil:
		return out, end.exit.Err
	}
	return out, nil
}
