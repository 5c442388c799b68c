package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/capture"
	"jcode/internal/proc"
	"jcode/internal/terminal"
	"jcode/internal/tidy"
	"jcode/tools"
	"jcode/tools/sandbox"
)

// ShellOptions are the settings of a Shell.
type ShellOptions struct {
	// Roots are the workspace's folders, in addition to Dir.
	Roots []string
	// Dir is the folder in which commands run, absolute and resolved.
	Dir string
	// Shell is the program and flags that a shell text is appended to. Empty means the
	// system's own: sh -c.
	Shell []string
	// Bash is the program and flags of a bash that reads the commands of the model and the person, not those of
	// scripts. Empty means Shell.
	Bash []string
	// Env returns the environment of a command. Nil means the process's own without
	// credentials and prompts (proc.CommandEnv).
	Env func() []string
	// Keep are variables that commands get although their names or values look like secrets.
	Keep []string
	// Variables returns what is set besides for a caller's command that does more than read, as NAME=value; confined says whether
	// it runs in the sandbox. May be nil.
	Variables func(caller tools.Caller, call string, confined bool) []string
	// Logs is the folder for whole outputs that are too long for a result. Empty means a temporary
	// one that is removed with the shell.
	Logs string
	// Private reports whether output of commands must not be written to disk now. Nil: it may.
	Private func() bool
	// Confiner runs commands in the sandbox. Nil means that there is no sandbox.
	Confiner Confiner
	// Outside asks whether a command may run outside the sandbox that stopped it. Nil means no.
	Outside func(context.Context, tools.GateRequest) tools.Decision
	// Confines reports whether commands that jcode starts itself, and those of a Confined caller,
	// run in the sandbox now. Nil means that they don't.
	Confines func() bool
	// Rights returns what every confined command may do besides, such as read the copies of plugins.
	// May be nil.
	Rights func() sandbox.Program
	// Watch examines the protected files before a command that mode yolo allows. It is nil if they
	// can't be found.
	Watch func() sandbox.Watched
	// Remember examines the protected files before a command of a caller; note keeps those that the
	// command changed for an undo. May be nil.
	Remember func(caller tools.Caller, open []string) (note func(changed []string))
	// Seen records what conversations saw of files. Nil: changes by commands are not recorded.
	Seen *Seen
	// Changed is called with which of them changed, and when, while a command ran. May be nil.
	Changed func(caller tools.Caller, files map[string]time.Time)
	// Around is tools.Dispatcher.Around for a command that may write, until its whole tree has ended.
	Around func(caller tools.Caller, line string) func() string
	// Overwritten says which changes that tools made since a time a command overwrote. May be nil.
	Overwritten func(caller tools.Caller, since time.Time) string
	// Told is called with what a command did to protected files. May be nil.
	Told func(news string)
	// Secret asks the person for a password that a job waits for; it ends with ctx. ok is false if they give none. Nil: there
	// is nobody to ask.
	Secret func(ctx context.Context, q SecretQuestion) (secret string, ok bool)
	// NoTerminals gives commands pipes where they want a terminal, as on systems that have none.
	NoTerminals bool
	// JobEnded is called when a background command has ended on its own. May be nil.
	JobEnded func(Job)
}

// terminal opens one.
func (o *ShellOptions) terminal() (*terminal.Terminal, *os.File, error) {
	if o.NoTerminals {
		return nil, nil, errors.ErrUnsupported
	}
	return terminal.Open()
}

// Confiner confines commands.
type Confiner interface {
	// Available reports whether commands can be confined.
	Available() bool
	// ConfineProgram returns the command to start instead of spec, so that it runs confined but for
	// its rights, and the state of the protected files that it can still change.
	ConfineProgram(spec proc.Spec, r sandbox.Program) (confined proc.Spec, before sandbox.Watched, err error)
	// Blamed says why the failure of a confined command looks like an effect of the sandbox, or
	// returns "". tail is the last part of its output.
	Blamed(tail string, code int) string

	// CanRead reports whether commands can be confined to reading, and if not, why.
	CanRead() (ok bool, why string)
	// ConfineToReading is Confine for a command that may only read. done removes what it needed,
	// after the command has ended.
	ConfineToReading(spec proc.Spec, r sandbox.Reading) (confined proc.Spec, done func() error, err error)
	// BlamedForReading is Blamed for a command that may only read, which ran in dir.
	BlamedForReading(tail string, code int, dir string) string
}

// confinement is how a command is confined: not at all, as in mode auto, or to reading.
type confinement struct {
	sandbox bool
	rights  sandbox.Program // what it may do besides in the sandbox
	brought *tools.Brought  // it is a command of code that others brought
	vouched *tools.Vouched
	watched bool // it runs unasked and unconfined: changes of protected files are reported
	caller  tools.Caller
	call    string // its ID
	called  bool   // it is a call of the caller, not a command of jcode's own
}

// Shell runs commands for the tools exec and job, for `!` lines, and for jcode itself. It owns the
// processes until they end, and background commands until Close.
type Shell struct {
	opts   ShellOptions
	close  context.CancelFunc
	closed context.Context
	work   sync.WaitGroup

	mu       sync.Mutex
	launcher *proc.Launcher // nil until a command is started
	temp     string         // folder of logs, "" until it is created
	jobs     map[int]*job
	last     int
	waited   map[*command]tools.Call // commands that a call waits for
}

// NewShell returns a shell. It starts nothing.
func NewShell(o ShellOptions) *Shell {
	if len(o.Shell) == 0 {
		o.Shell = systemShell()
	}
	if o.Env == nil {
		o.Env = func() []string { return proc.CommandEnv(os.Environ(), proc.EnvRules{}) }
	}
	s := &Shell{opts: o, jobs: map[int]*job{}, waited: map[*command]tools.Call{}}
	s.closed, s.close = context.WithCancel(context.Background())
	return s
}

// name names the shell that reads the model's commands.
func (s *Shell) name() string {
	words := s.opts.Shell
	if len(s.opts.Bash) > 0 {
		words = []string{"bash", "-c"}
	}
	return strings.Join(append([]string{filepath.Base(words[0])}, words[1:]...), " ")
}

// Bash returns the program and flags of this machine's bash, which reads no files of a person; nil if there is none.
func Bash() []string {
	for _, path := range bashes() {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return []string{path, "--noprofile", "--norc", "-c"}
		}
	}
	return nil
}

// ForeignShell reports whether this machine's shell is not a POSIX shell.
func ForeignShell() bool { return systemShell()[0] == "cmd" }

// Tools returns the tools exec and job.
func (s *Shell) Tools() []tools.Tool { return []tools.Tool{execTool{s}, jobTool{s}} }

// Close kills all background commands with everything they started.
func (s *Shell) Close() error {
	s.close()
	jobs := s.all()
	errs := make([]error, len(jobs))
	var killing sync.WaitGroup
	for i, j := range jobs {
		killing.Go(func() { errs[i] = j.cmd.stop(0) })
	}
	killing.Wait()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.launcher != nil {
		s.launcher.Close()
	}
	if s.temp != "" {
		errs = append(errs, os.RemoveAll(s.temp))
	}
	return errors.Join(errs...)
}

// argv returns the arguments that run a shell line.
func (s *Shell) argv(line string) []string { return slices.Concat(s.opts.Shell, []string{line}) }

// start starts a command whose output is captured. line is the command as a person reads it.
func (s *Shell) start(spec proc.Spec, line string, how confinement, out outputs) (*command, error) {
	if s.closed.Err() != nil {
		return nil, tools.Errorf(tools.KindCancelled, "jcode is closing")
	}
	c := &command{tell: s.opts.Told, line: line, dir: spec.Dir, started: time.Now(), capture: capture.New(s.newLog), drained: make(chan struct{}), move: make(chan struct{}, 1)}
	if out.logged {
		c.capture.OpenLog()
	}
	var write []*os.File
	var err error
	if out.tty {
		write, err = s.openTerminal(c, &spec)
	} else if write, err = c.openPipes(out.apart); err == nil {
		spec.Stdout, spec.Stderr = write[0], write[len(write)-1]
	}
	if err != nil {
		return nil, tools.Errorf(tools.KindIO, "start command: %w", err)
	}
	c.files = s.compareFiles(how, line)
	p, err := s.startProcess(c, spec, how)
	closeAll(write)
	if err != nil {
		c.files.drop()
		c.noInput()
		closeAll(c.read)
		c.capture.Finish()
		return nil, tools.Errorf(tools.KindIO, "%w", err)
	}
	c.proc = p
	var readers sync.WaitGroup
	for i, r := range c.read {
		readers.Go(func() { c.capture.Consume(i, c.consumed(r)) })
	}
	s.work.Go(func() {
		readers.Wait()
		c.noInput()
		closeAll(c.read)
		c.capture.Finish()
		close(c.drained)
	})
	return c, nil
}

// blamed says why the failure of a command looks like an effect of its confinement, or returns "".
func (s *Shell) blamed(c *command, code int) string {
	switch {
	case c.reading:
		return s.opts.Confiner.BlamedForReading(c.capture.Snapshot().Tail(), code, c.dir)
	case c.sandboxed:
		return s.opts.Confiner.Blamed(c.capture.Snapshot().Tail(), code)
	}
	return ""
}

// keepWatched is KeepWatched for a command of the shell.
func (s *Shell) keepWatched(how confinement, before sandbox.Watched) (changed func() []string) {
	if before == nil {
		return nil
	}
	return KeepWatched(before, how.caller, s.opts.Remember)
}

// KeepWatched returns a function that lists the protected files that were created or changed
// since before, and keeps each once for an undo: remember examines the files that may change, and
// the function that it returns is called with those that did. Nothing is kept if remember is nil,
// or for a call outside a session.
func KeepWatched(before sandbox.Watched, caller tools.Caller, remember func(tools.Caller, []string) func([]string)) (changed func() []string) {
	if remember == nil || caller.Session == "" {
		return before.Changed
	}
	note := remember(caller, before.Open())
	var noted []string
	return func() []string { // never called concurrently: see command.telling
		paths := before.Changed()
		fresh := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return slices.Contains(noted, p) })
		if noted = append(noted, fresh...); len(fresh) > 0 {
			note(fresh)
		}
		return paths
	}
}

// The waiting times at a command's end.
const (
	killGrace = 100 * time.Millisecond // between asking to end and ending
	quiet     = 40 * time.Millisecond  // without output: everything in the pipe was read
	maxDrain  = 500 * time.Millisecond // for a pipe that a process keeps writing to
	tick      = 100 * time.Millisecond // between two reports of new output
)

// await waits for the shell's end, a limit, or ctx, and shows output in the meantime. What keeps
// running after the shell has ended becomes a job.
func (s *Shell) await(ctx context.Context, c *command, limit time.Duration, progress func(tools.Progress)) ended {
	end := ended{cmd: c}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
wait:
	for {
		select {
		case <-c.proc.Done():
			break wait
		case <-ctx.Done():
			end.cancelled = true
			end.killErr = c.stop(killGrace)
			break wait
		case <-timer.C:
			end.timedOut = limit
			end.killErr = c.stop(killGrace)
			break wait
		case <-c.move:
			end.moved, end.job = true, s.adopt(c, tools.Caller{}, false, true)
			c.report(progress)
			end.collect()
			return end
		case <-ticker.C:
			c.report(progress)
		}
	}
	select {
	case <-c.proc.Done():
		end.exit = c.proc.Exit()
	case <-time.After(3 * time.Second):
		// A kill has no effect: it hangs in the kernel.
		end.exit = proc.Exit{Code: -1, Err: errors.New("the command does not end, not even when killed")}
	}
	c.settle()
	if end.left = c.proc.Running(); len(end.left) > 0 {
		// Some of it keeps running, perhaps with its pipes closed, as a daemon does.
		end.job = s.adopt(c, tools.Caller{}, true, true)
	} else {
		<-c.drained
		c.files.end()
	}
	c.report(progress)
	end.collect()
	return end
}

// The limits of kept outputs.
const (
	maxLogs   = 2 << 30            // bytes of all
	maxLogAge = 7 * 24 * time.Hour // then it is removed
)

// newLog creates the file for a whole output.
func (s *Shell) newLog() (capture.Output, error) {
	if s.opts.Private != nil && s.opts.Private() {
		return &capture.Memory{}, nil
	}
	dir := s.opts.Logs
	if dir == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.temp == "" {
			temp, err := os.MkdirTemp("", "jcode-exec-")
			if err != nil {
				return nil, fmt.Errorf("keep output: %w", err)
			}
			s.temp = temp
		}
		dir = s.temp
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep output: %w", err)
	} else {
		tidy.Folder(dir, tidy.Limits{Age: maxLogAge, Bytes: maxLogs})
	}
	f, err := os.CreateTemp(dir, time.Now().Format("20060102-150405-")+"*.log")
	if err != nil {
		return nil, fmt.Errorf("keep output: %w", err)
	}
	return f, nil
}
