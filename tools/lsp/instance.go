package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/tools/lsp/protocol"
)

// State is the state of an instance of a server.
type State string

// The states of an instance.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateFailed   State = "failed"
	StateOff      State = "off"
)

const (
	startLimit  = 30 * time.Second       // until a server must have answered initialize
	stopGrace   = 500 * time.Millisecond // between asking a server to exit and killing it
	hearLimit   = 200 * time.Millisecond // for the last words of a server that has ended
	maxLastWord = 4 << 10                // bytes of standard error that are kept
	maxOpen     = 100                    // documents that a server has open
)

// instance is one running server for one root.
type instance struct {
	server  Server
	root    string
	program program
	permit  Permit
	around  *surroundings

	proc     *proc.Process
	conn     *protocol.Conn
	pipes    []*os.File
	changed  func() []string // protected files that were made or changed since its start; may be nil
	steering sync.Mutex
	steered  []string // those that were told
	caps     protocol.Capabilities
	ready    chan struct{} // closed when it is initialized, or has failed
	gone     chan struct{} // closed when its process has ended and was reaped
	fell     bool          // it ended on its own; written before gone is closed
	silent   chan struct{} // closed when its standard error has ended
	stderr   lastWords

	syncing sync.Mutex // versions are sent in order

	mu            sync.Mutex
	state         State
	err           error
	stopping      bool
	docs          map[string]*document
	found         findings             // what it reported
	news          chan struct{}        // closed and replaced when something is reported
	busy          map[string]time.Time // work in progress, by token, with its last sign
	began         time.Time            // when it was started
	answers       bool                 // it has answered for the text of some file
	patience      time.Duration        // how long it may still be waited for while it reads the project
	session       string               // of the last change
	folders       []string             // what it works on: its root, and others of its kind
	pulling       bool                 // it is asked for the reports that are owed
	complaint     string               // its last error message
	used          time.Time
	encoding      encoding                // of positions
	registrations map[string]registration // capabilities that it registered after its start, by id
	watching      bool                    // its watched files are being watched
}

// document is a file that the server has open.
type document struct {
	version int
	content string
	sent    time.Time // when this version was
	touched time.Time
	stamp   stamp
}

// stamp identifies the state of a file, to see whether somebody else changed it.
type stamp struct {
	size int64
	time time.Time
}

// lastWords keeps the end of standard error.
type lastWords struct {
	mu  sync.Mutex
	buf []byte
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - maxLastWord; over > 0 {
		l.buf = append(l.buf[:0], l.buf[over:]...)
	}
	return len(p), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(text.Clean(string(l.buf)))
}

// launch starts the server's process and its connection. It returns at once; ready is closed when
// the server can be queried.
func (a *surroundings) launch(l *proc.Launcher, s Server, root string, from program, permit Permit) (*instance, error) {
	in := &instance{
		server: s, root: root, program: from, permit: permit, around: a, ready: make(chan struct{}), gone: make(chan struct{}), silent: make(chan struct{}), state: StateStarting,
		docs: map[string]*document{}, found: newFindings(a.denies), news: make(chan struct{}), busy: map[string]time.Time{}, registrations: map[string]registration{},
		patience: cmp.Or(a.loading, a.patience, loadPatience), used: time.Now(), began: time.Now(), folders: []string{root}, encoding: "utf-16",
	}
	var ends [6]*os.File
	for i := 0; i < len(ends); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeFiles(ends[:])
			return nil, fmt.Errorf("start %s: %w", s.Name, err)
		}
		ends[i], ends[i+1] = r, w
	}
	spec := proc.Spec{Argv: append([]string{from.path}, s.Command[1:]...), Dir: root, Env: a.environment(s, root), Stdin: ends[0], Stdout: ends[3], Stderr: ends[5]}
	if permit.Prepare != nil {
		var err error
		if spec, in.changed, err = permit.Prepare(spec); err != nil {
			closeFiles(ends[:])
			return nil, fmt.Errorf("start %s: %w", s.Name, err)
		}
	}
	p, err := l.Start(spec)
	closeFiles([]*os.File{ends[0], ends[3], ends[5]})
	if err != nil {
		closeFiles([]*os.File{ends[1], ends[2], ends[4]})
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	in.proc, in.pipes = p, []*os.File{ends[1], ends[2], ends[4]}
	a.work.Go(func() {
		defer close(in.silent)
		buf := make([]byte, 4<<10)
		for {
			n, err := ends[4].Read(buf)
			_, _ = in.stderr.Write(buf[:n]) // it never fails
			if err != nil {
				return
			}
		}
	})
	in.conn = protocol.NewConn(ends[2], ends[1], in.handle)
	a.work.Go(in.watch)
	a.work.Go(in.initialize)
	return in, nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // pipe ends: nothing is lost
		}
	}
}

// watch waits for the end of the connection or of the process, and cleans up after it.
func (in *instance) watch() {
	select {
	case <-in.proc.Done():
	case <-in.conn.Done():
	}
	// A server without a connection is useless, and one whose process has ended may have left
	// children.
	err := in.proc.Stop(context.Background(), stopGrace)
	<-in.proc.Done()
	in.hearOut()
	in.conn.Fail(protocol.ErrClosed)
	closeFiles(in.pipes)
	<-in.conn.Done()
	in.mu.Lock()
	stopping := in.stopping
	if in.state != StateOff {
		in.state = StateFailed
	}
	if in.err == nil && !stopping {
		in.err = errors.Join(endOf(in.proc.Exit()), err)
	}
	in.tell()
	in.mu.Unlock()
	in.tellSteered()
	in.fell = !stopping
	close(in.gone)
}

// hearOut waits a moment for the last words of a server that has ended: a process that it left may keep the pipe.
func (in *instance) hearOut() {
	select {
	case <-in.silent:
	case <-time.After(hearLimit):
	}
}

func endOf(e proc.Exit) error {
	if e.Signal != "" {
		return fmt.Errorf("it was ended by %s", e.Signal)
	}
	return fmt.Errorf("it ended with exit code %d", e.Code)
}

// tell wakes those who wait for news. The caller holds the lock.
func (in *instance) tell() {
	close(in.news)
	in.news = make(chan struct{})
}

// end asks the server to exit and then kills it.
func (in *instance) end() {
	in.mu.Lock()
	in.stopping = true
	if in.state != StateFailed {
		in.state = StateOff
	}
	was := in.err == nil
	in.mu.Unlock()
	if was {
		ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
		defer cancel()
		if in.conn.Call(ctx, "shutdown", nil, nil) == nil {
			_ = in.conn.Notify(ctx, "exit", nil) // otherwise it is killed in a moment
		}
	}
	_ = in.proc.Stop(context.Background(), stopGrace) // watch handles what is left
}

// failure returns why the instance can't be queried.
func (in *instance) failure() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		return protocol.ErrClosed
	}
	return in.err
}

// usable waits until the server can be queried.
func (in *instance) usable(ctx context.Context) error {
	select {
	case <-in.ready:
	case <-ctx.Done():
		return fmt.Errorf("%s is still starting: try again in a moment", in.server.Name)
	}
	in.mu.Lock()
	state := in.state
	in.used = time.Now()
	in.mu.Unlock()
	if state != StateReady {
		return fmt.Errorf("%s can't be asked: %w%s", in.server.Name, in.failure(), in.said())
	}
	return nil
}

// said returns the server's last words, for an error.
func (in *instance) said() string {
	words := in.stderr.String()
	if words == "" {
		return ""
	}
	lines := strings.Split(words, "\n")
	said := "; it said: " + text.Cut(strings.Join(lines[max(0, len(lines)-3):], " / "), 500)
	if more := in.refusal(); more != "" {
		said += "; " + more
	}
	return said
}

// refusal says what of its confinement the server ran into, by its last words, and how a person lets it; "" for
// nothing.
func (in *instance) refusal() string {
	if in.permit.Refused == nil {
		return ""
	}
	return in.permit.Refused(in.stderr.String())
}

// tellSteered tells of protected files that were made or changed while the server ran, each once.
func (in *instance) tellSteered() {
	if in.changed == nil || in.around.steered == nil {
		return
	}
	in.steering.Lock()
	defer in.steering.Unlock()
	fresh := slices.DeleteFunc(in.changed(), func(path string) bool {
		return slices.Contains(in.steered, path) || in.around.touched.wrote(path)
	})
	if len(fresh) == 0 {
		return
	}
	in.steered = append(in.steered, fresh...)
	in.around.steered(in.server.Name, fresh)
}

// openPaths returns the paths of the open documents, sorted.
func (in *instance) openPaths() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Sorted(maps.Keys(in.docs))
}
