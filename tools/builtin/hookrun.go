package builtin

import (
	"context"
	"fmt"
	"os"
	"time"

	"jcode/internal/launch"
	"jcode/internal/proc"
	"jcode/tools/sandbox"
)

// HookRun is a command that an event runs.
type HookRun struct {
	// Command is a shell line; Argv, if there is one, is started instead, without a shell.
	Command string
	Argv    []string
	Dir     string
	// Env are variables in addition to those of exec.
	Env []string
	// Clean takes out variables that change which code programs load, and looks for programs where the system's are.
	Clean bool
	// Stdin is what the command reads.
	Stdin []byte
	// Limit is the time it may take.
	Limit time.Duration
	// Confined runs it in the sandbox in every mode, if there is one: others brought it. Free runs it
	// without. Otherwise the mode decides, as for RunCommand.
	Confined, Free bool
	// Rights are what it may do besides if it is confined.
	Rights sandbox.Program
}

// HookEnd is the end of a HookRun: its output, up to a limit, and its exit code.
type HookEnd struct {
	Stdout, Stderr string
	Code           int
	// Blamed says what the sandbox denied it, if its failure looks like that.
	Blamed string
}

// confines reports whether a hook runs in the sandbox.
func (s *Shell) confinesHook(run HookRun) bool {
	return !run.Free && (run.Confined && s.confinable() || s.confines())
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
	argv := run.Argv
	if argv == nil {
		argv = s.argv(run.Command)
	}
	env := s.opts.Env()
	if run.Clean {
		env = launch.Clean(env)
	}
	spec := proc.Spec{Argv: argv, Dir: run.Dir, Env: append(env, run.Env...), Stdin: in}
	c, err := s.start(spec, run.Command, confinement{sandbox: s.confinesHook(run), rights: run.Rights}, outputs{apart: true})
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
	out.Blamed = s.blamed(c, end.exit.Code)
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
