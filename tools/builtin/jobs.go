package builtin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"jcode/internal/proc"
	"jcode/tools"
)

// Job is a command that runs in the background.
type Job struct {
	ID      int
	Command string
	Dir     string
	Started time.Time
	// Ended is zero while it runs.
	Ended time.Time
	// Leftover jobs are processes that an ended command left running.
	Leftover bool
	// Running lists the processes while the job runs.
	Running []proc.Info
	// State is "running", or how the job ended: "exit 0", "killed", "signal: …".
	State string
	// Log is the file with the output; empty if it could not be written.
	Log string
	// Terminal says that it has a terminal, whose screen ShowJob shows.
	Terminal bool
	// News says what the job did to protected files from within the sandbox, each file once. It is
	// set only in the report of the job's end.
	News string
}

// job is a Job with its internal state.
type job struct {
	id   int
	cmd  *command
	over chan struct{} // closed when it ended

	mu       sync.Mutex
	leftover bool
	ended    time.Time
	state    string
	seen     int64 // bytes of the log that were read
	killed   bool

	hash   string     // no other job has it
	line   typedLine  // what was typed, see typing.go
	secret secretWait // whether it waits for a password, see jobsecret.go
}

// ToBackground makes jobs of the commands that the calls wait for which pick accepts, and returns how many
// there are. The calls end with what was written so far.
func (s *Shell) ToBackground(pick func(call tools.Call) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for c, call := range s.waited {
		if !pick(call) {
			continue
		}
		select {
		case c.move <- struct{}{}:
			n++
		default: // it was asked already
		}
	}
	return n
}

// waits notes that a call waits for a command, and returns a function that ends the note.
func (s *Shell) waits(c *command, call tools.Call) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waited[c] = call
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waited, c)
	}
}

// adopt makes a started command a job and watches it to its end. With seen, what it wrote so far is in a result.
func (s *Shell) adopt(c *command, caller tools.Caller, leftover, seen bool) int {
	c.capture.OpenLog()
	s.mu.Lock()
	s.last++
	j := &job{id: s.last, cmd: c, leftover: leftover, over: make(chan struct{}), state: "running", hash: uuid.NewString()}
	if seen {
		j.seen = c.capture.Logged()
	}
	s.jobs[j.id] = j
	s.forget()
	s.mu.Unlock()
	s.work.Go(func() { s.watch(j) })
	if c.term != nil {
		s.work.Go(func() { s.watchSecrets(j, caller) })
	}
	return j.id
}

// maxEnded is the number of ended jobs that are kept.
const maxEnded = 50

// forget drops the oldest ended jobs; the lock is held.
func (s *Shell) forget() {
	var ids []int
	for id, j := range s.jobs {
		if j.isOver() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for len(ids) > maxEnded {
		delete(s.jobs, ids[0])
		ids = ids[1:]
	}
}

// watch waits for a job's end: of its process, or for a leftover job, of all its processes.
func (s *Shell) watch(j *job) {
	<-j.cmd.proc.Done()
	j.cmd.settle()
	if len(j.cmd.proc.Running()) > 0 {
		j.mu.Lock()
		j.leftover = true
		j.mu.Unlock()
		select {
		case <-j.cmd.drained:
		case <-s.closed.Done():
		}
		// The pipes are closed; a daemon may continue without them.
		for wait := 50 * time.Millisecond; len(j.cmd.proc.Running()) > 0 && s.closed.Err() == nil; wait = min(2*wait, 2*time.Second) {
			select {
			case <-time.After(wait):
			case <-s.closed.Done():
			}
		}
	}
	j.cmd.files.end()
	j.mu.Lock()
	j.ended = time.Now()
	exit := j.cmd.proc.Exit()
	switch {
	case j.killed:
		j.state = "killed"
	case j.leftover:
		j.state = "ended"
	default:
		j.state = exitText(exit)
	}
	killed := j.killed
	j.mu.Unlock()
	close(j.over)
	if s.opts.JobEnded != nil && !killed && s.closed.Err() == nil {
		info := j.info()
		info.News = j.cmd.news()
		s.opts.JobEnded(info)
	}
}

func (j *job) isOver() bool {
	select {
	case <-j.over:
		return true
	default:
		return false
	}
}

func (j *job) info() Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := Job{
		ID: j.id, Command: j.cmd.line, Dir: j.cmd.dir, Started: j.cmd.started, Ended: j.ended,
		Leftover: j.leftover, State: j.state, Terminal: j.cmd.term != nil, Log: j.cmd.capture.Snapshot().Log,
	}
	if j.ended.IsZero() {
		out.Running = j.cmd.proc.Running()
	}
	return out
}

func (s *Shell) all() []*job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.jobs), func(a, b *job) int { return a.id - b.id })
}

// Jobs lists background commands by number: the running ones, and the last that ended.
func (s *Shell) Jobs() []Job {
	var out []Job
	for _, j := range s.all() {
		out = append(out, j.info())
	}
	return out
}

// Job returns the job with a number.
func (s *Shell) Job(id int) (j Job, ok bool) {
	found, err := s.find(id)
	if err != nil {
		return Job{}, false
	}
	return found.info(), true
}

// find returns the job with a number. The error lists those that exist.
func (s *Shell) find(id int) (*job, error) {
	s.mu.Lock()
	j := s.jobs[id]
	s.mu.Unlock()
	if j != nil {
		return j, nil
	}
	var ids []string
	for _, j := range s.all() {
		ids = append(ids, strconv.Itoa(j.id))
	}
	known := "there are none"
	if ids != nil {
		known = "known: " + strings.Join(ids, ", ")
	}
	return nil, tools.Errorf(tools.KindInvalidArgs, "no job %d (%s)", id, known)
}

// KillJob kills a job with everything it started.
func (s *Shell) KillJob(id int) error {
	j, err := s.find(id)
	if err != nil {
		return err
	}
	if j.isOver() {
		return nil
	}
	j.mu.Lock()
	j.killed = true
	j.mu.Unlock()
	if err := j.cmd.stop(killGrace); err != nil {
		return err
	}
	select {
	case <-j.over:
		return nil
	case <-time.After(2 * time.Second):
		return fmt.Errorf("job %d did not end", id)
	}
}

// JobOutput returns a job's output since the last call; of a long one, the head and the tail.
func (s *Shell) JobOutput(id int) (string, error) {
	j, err := s.find(id)
	if err != nil {
		return "", err
	}
	snap := j.cmd.capture.Snapshot()
	if !snap.Stored() {
		return "", fmt.Errorf("the output of job %d was not kept: %w", id, snap.LogErr)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	out, end, err := snap.Since(j.seen, maxExecText)
	if err != nil {
		return "", err
	}
	j.seen = end
	if !j.isOver() {
		out += snap.Lines[0] + snap.Lines[1]
	}
	news := strings.Join(slices.DeleteFunc([]string{j.cmd.news(), j.cmd.files.news()}, func(s string) bool { return s == "" }), "]\n[")
	if news != "" {
		if out != "" {
			out = strings.TrimSuffix(out, "\n") + "\n"
		}
		out += "[" + news + "]"
	}
	return out, nil
}

// background starts a command as a job. If it ends at once, the result says so.
func (s *Shell) background(ctx context.Context, call tools.Call, a execArgs) (tools.Result, error) {
	c, err := s.start(a.spec(s), a.line(), s.confinementOf(call), outputs{logged: true, tty: a.TTY})
	if err != nil {
		return tools.Result{}, err
	}
	id := s.adopt(c, call.Caller, false, false)
	if a.TTY {
		return s.begun(ctx, id)
	}
	select {
	case <-c.proc.Done():
	case <-time.After(250 * time.Millisecond):
	case <-ctx.Done():
	}
	out, err := s.JobOutput(id)
	if err != nil {
		out = err.Error()
	}
	j, err := s.find(id)
	if err != nil {
		return tools.Result{}, err
	}
	info := j.info()
	head := fmt.Sprintf("Started job %d (pid %d). Its output: job with action output and id %d", id, c.proc.Pid(), id)
	if info.Log != "" {
		head += ", or the file " + info.Log
	}
	if !info.Ended.IsZero() || c.proc.Ended() {
		head = fmt.Sprintf("Job %d has ended already (%s).", id, exitText(c.proc.Exit()))
	}
	if out != "" {
		head += "\n" + out
	}
	return tools.Result{
		Text: head, Data: map[string]any{"job": id, "pid": c.proc.Pid(), "log": info.Log},
		Display: tools.Display{Summary: fmt.Sprintf("job %d", id), Log: info.Log},
	}, nil
}

func exitText(e proc.Exit) string {
	if e.Signal != "" {
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit %d", e.Code)
}
