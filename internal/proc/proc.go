package proc

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// Spec says what to start. Streams are files only, so that nothing ever waits for a
// pipe that a grandchild keeps open; a nil stream is the null device.
type Spec struct {
	// Argv is the program (looked up in PATH if it has no slash) and its arguments.
	Argv []string
	// Dir is the working folder; empty means the parent's.
	Dir string
	// Env is the whole environment, see CommandEnv and ServerEnv. Nil means none at all.
	Env []string
	// Stdin, Stdout and Stderr are handed to the child; the caller closes its own copies.
	Stdin, Stdout, Stderr *os.File
	// Terminal says that Stdin is a terminal, which becomes the one that the child's session controls.
	Terminal bool
	// ExtraFiles become descriptors 3, 4, … of the child. Not available on Windows.
	ExtraFiles []*os.File
	// DieWithParent ends the direct child when the thread that started it ends (Linux
	// only). A Launcher has such a thread.
	DieWithParent bool
	// Namespaces runs the child in its own user, mount and IPC namespaces, with the capability to mount in them,
	// and OwnNetwork in a private network (Linux only; an error elsewhere).
	Namespaces, OwnNetwork bool
	// OwnProcesses also gives it processes of its own, with Namespaces: it sees no others, and what it starts ends
	// with it. The child must call Supervise, and is process 1 there.
	OwnProcesses bool
	// Confine, if not nil, is called on the thread that then starts the child, and drops the rights that the
	// child must not have. That thread is used for nothing else.
	Confine func() error

	owner string // the launcher's part of the marker
	mark  string // the rest of it; "" generates one
}

// Process is a started child and the tree below it.
type Process struct {
	*child
	tree tree
	exit Exit     // written before done is closed
	end  *os.File // with OwnProcesses, tells how the command ended; else nil
}

// child is the started child itself.
type child struct {
	pid    int
	marker string
	proc   *os.Process
	done   chan struct{}
	reaped atomic.Bool // it is gone: its number may be another's
}

// ended reports whether the child has ended.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Exit says how a process ended.
type Exit struct {
	// Code is the exit code; -1 when a signal ended the process.
	Code int
	// Signal names the signal that ended it ("killed", "interrupt"), or is empty.
	Signal string
	// Number is the signal's number, or 0.
	Number int
	// User and System are the CPU times of the process and its reaped children.
	User, System time.Duration
	// Peak is the most memory that the process had resident, in bytes; 0 if unknown.
	Peak int64
	// Err is set when the end could not be observed.
	Err error
}

// Info is one process of a tree.
type Info struct {
	Pid int
	// Command is the command line, or only the name if the system reveals no more.
	Command string
}

// Member is one process of a group.
type Member struct {
	Pid, Parent int
	// Program is the path of its file, Dir its working folder, Args its arguments with its name; empty where the system
	// does not reveal them.
	Program, Dir string
	Args         []string
}

// markerName is the environment variable that identifies members of a tree that left their session (Linux).
const markerName = "JCODE_TREE"

// Start starts a child as the leader of its own session and process group.
func Start(spec Spec) (*Process, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return nil, errors.New("start process: no program given")
	}
	if spec.Confine != nil {
		return startConfined(spec)
	}
	if (spec.Namespaces || spec.OwnNetwork || spec.OwnProcesses) && !hasNamespaces {
		return nil, errors.New("start process: namespaces are not available on this system")
	}
	// The caller ends it (Stop, Kill), not a context, which would end only the direct child.
	cmd := exec.CommandContext(context.Background(), spec.Argv[0], spec.Argv[1:]...)
	cmd.Dir = spec.Dir
	marker := cmp.Or(spec.mark, newMarker())
	if spec.owner != "" {
		marker = spec.owner + "." + marker
	}
	cmd.Env = append(append(make([]string, 0, len(spec.Env)+2), spec.Env...), markerName+"="+marker)
	if filepath.IsAbs(spec.Dir) {
		cmd.Env = append(cmd.Env, "PWD="+spec.Dir) // the parent's would name its own folder
	}
	// A nil *os.File in an io.Reader is not nil, so each stream is set only if it is not nil.
	if spec.Stdin != nil {
		cmd.Stdin = spec.Stdin
	}
	if spec.Stdout != nil {
		cmd.Stdout = spec.Stdout
	}
	if spec.Stderr != nil {
		cmd.Stderr = spec.Stderr
	}
	cmd.ExtraFiles = spec.ExtraFiles
	cmd.SysProcAttr = attributes(spec)
	end, theirs, err := endPipe(spec)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	if end != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles[:len(cmd.ExtraFiles):len(cmd.ExtraFiles)], theirs)
		cmd.Env = append(cmd.Env, endName+"="+strconv.Itoa(2+len(cmd.ExtraFiles)))
	}
	err = cmd.Start()
	if end != nil {
		_ = theirs.Close() // the child has its own
	}
	if err != nil {
		if end != nil {
			_ = end.Close() // nobody writes
		}
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	c := &child{pid: cmd.Process.Pid, marker: marker, proc: cmd.Process, done: make(chan struct{})}
	p := &Process{child: c, tree: newTree(c), end: end}
	go p.wait(ownPeak())
	return p, nil
}

// wait reaps the direct child. It waits on the process itself: exec.Cmd.Wait would close
// pipes that the caller still drains. Until a child runs its own program it shares this one's memory, and
// Linux counts that as its peak: what is hardly above floor, this program's own peak by then, tells nothing.
func (p *Process) wait(floor int64) {
	status, last, told := p.told()
	if told && !last { // what it started still runs, and init with it
		p.exit = exitWith(Exit{}, status)
		close(p.done)
	}
	state, err := p.proc.Wait()
	p.reaped.Store(true)
	if told && !last {
		return
	}
	if p.exit = exitOf(state, err); p.exit.Peak <= floor+floor/8 {
		p.exit.Peak = 0
	}
	if told {
		p.exit = exitWith(p.exit, status)
	}
	close(p.done)
}

// endName is the variable that names the descriptor on which a child with OwnProcesses tells how its command ended: the
// status as the system gives it, and 1 if nothing is left that it started.
const endName = "JCODE_END"

// endPipe returns a pipe for such a child, nil for others.
func endPipe(spec Spec) (ours, theirs *os.File, err error) {
	if !spec.OwnProcesses {
		return nil, nil, nil
	}
	return os.Pipe()
}

// told waits for what the child tells of its command's end. ok is false if it tells nothing.
func (p *Process) told() (status uint32, last, ok bool) {
	if p.end == nil {
		return 0, false, false
	}
	defer func() { _ = p.end.Close() }() // only read
	var b [8]byte
	if _, err := io.ReadFull(p.end, b[:]); err != nil {
		return 0, false, false
	}
	return binary.LittleEndian.Uint32(b[:4]), b[4] == 1, true
}

// exitWith returns an exit with the status of the command instead of that of its init.
func exitWith(e Exit, status uint32) Exit {
	e.Code, e.Signal, e.Number = endOf(status)
	return e
}

func exitOf(state *os.ProcessState, err error) Exit {
	if err != nil {
		return Exit{Code: -1, Err: fmt.Errorf("wait for process: %w", err)}
	}
	e := Exit{Code: state.ExitCode(), User: state.UserTime(), System: state.SystemTime(), Peak: peakMemory(state)}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Code, e.Number, e.Signal = -1, int(ws.Signal()), ws.Signal().String()
	}
	return e
}

// Pid returns the process ID, which is also the ID of its session and group.
func (p *Process) Pid() int { return p.pid }

// Done is closed when the direct child has ended and was reaped, even if other processes of its tree still
// run or hold its pipes.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit waits for the direct child to end and returns how it ended.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// Ended reports whether the direct child has ended.
func (p *Process) Ended() bool { return p.ended() }

// Running lists the processes of the tree that still run, including the direct child unless that is only the
// init of others, sorted by pid. Zombies are left out.
func (p *Process) Running() []Info {
	list := p.tree.running()
	if p.end == nil {
		return list
	}
	return slices.DeleteFunc(list, func(i Info) bool { return i.Pid == p.pid })
}

// Interrupt sends the group an interrupt (SIGINT); on Windows it does nothing.
func (p *Process) Interrupt() error { return p.tree.signal(os.Interrupt) }

// Terminate asks the group to end (SIGTERM). On Windows, which has no such request, it
// ends the tree.
func (p *Process) Terminate() error { return p.tree.signal(syscall.SIGTERM) }

// Kill ends the whole tree at once: the group, then every process that left it. It returns an error if a
// process is still alive after a second.
func (p *Process) Kill() error {
	var left []Info
	for deadline := time.Now().Add(time.Second); ; {
		left = p.tree.kill()
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			break
		}
		// A killed process must be scheduled once before it is gone; a fork in flight shows up in the next check.
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("end process tree %d: %d processes still run (%d: %s)", p.pid, len(left), left[0].Pid, left[0].Command)
}

// Stop asks the tree to end, waits up to grace for the direct child, then kills what is
// left. It returns when the tree is gone, or at once with a kill when ctx ends.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	if err := p.Terminate(); err == nil && grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.done:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return p.Kill()
}

// newMarker returns a value that no other tree of this machine has.
func newMarker() string {
	return strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(rand.Uint64(), 36)
}
