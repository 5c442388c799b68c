package sdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options say how jcode is started. The zero value is jcode of the PATH in this folder with its settings.
type Options struct {
	Program string   // "" is jcode
	Args    []string // further flags
	Dir     string   // the working folder
	Env     []string // instead of this program's environment, if not nil
	Model   string
	Mode    string // ask, edits, plan, auto, yolo
	Role    string
	// Resume continues a session, by its ID; with Fork a copy of it.
	Resume string
	Fork   bool
	// Schema is a JSON Schema that the answer to each prompt fits.
	Schema json.RawMessage
	// OnQuestion answers questions, one at a time. Without it nothing that would ask is done.
	OnQuestion func(Question) Answer
	// Tools are functions of this program that the model may call: mcp:app:NAME in rules and questions.
	Tools []Tool
	// Stderr gets what jcode says besides; nil drops it.
	Stderr io.Writer
}

// Session is a conversation. Its methods are safe for concurrent use.
type Session struct {
	ID    string // of the session, by which it is resumed
	Model string

	opt     Options
	cmd     *exec.Cmd
	in      io.WriteCloser
	ended   chan struct{} // closed when the output has ended
	asked   chan Question
	lent    *lent
	working sync.WaitGroup

	mu      sync.Mutex
	writing sync.Mutex // one line at a time
	last    int
	calls   map[string]chan response
	readers map[*reader]bool
	err     error // why it ended
}

// response is the answer to a line.
type response struct {
	Request string          `json:"request"`
	OK      bool            `json:"ok"`
	Error   string          `json:"error"`
	Kind    string          `json:"kind"`
	Result  json.RawMessage `json:"result"`
}

// Error is what jcode says of something that it did not do.
type Error struct {
	Kind    string // invalid, refused, gone, busy, failed
	Message string
}

func (e *Error) Error() string { return e.Message }

// ErrEnded is returned once jcode has ended.
var ErrEnded = errors.New("jcode has ended")

// Start starts jcode. The session ends with Close, or with ctx.
func Start(ctx context.Context, opt Options) (*Session, error) {
	args := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json"}
	for _, f := range [][2]string{{"--model", opt.Model}, {"--mode", opt.Mode}, {"--role", opt.Role}, {"--output-schema", string(opt.Schema)}} {
		if f[1] != "" {
			args = append(args, f[0], f[1])
		}
	}
	if opt.Resume != "" {
		args = append(args, "--resume="+opt.Resume)
	}
	if opt.Fork {
		args = append(args, "--fork")
	}
	cmd := command(ctx, opt, append(args, opt.Args...)...)
	s := &Session{opt: opt, cmd: cmd, ended: make(chan struct{}), asked: make(chan Question, 64), calls: map[string]chan response{}, readers: map[*reader]bool{}}
	s.lent = &lent{tools: opt.Tools, write: s.write, working: &s.working, running: map[string]context.CancelFunc{}}
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = opt.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start jcode: %w", err)
	}
	begun := make(chan error, 1)
	s.working.Go(func() { s.read(bufio.NewReader(out), begun) })
	s.working.Go(s.answer)
	err = <-begun
	if err == nil && len(opt.Tools) > 0 {
		err = s.serve(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// command is a run of jcode.
func command(ctx context.Context, opt Options, args ...string) *exec.Cmd {
	name := opt.Program
	if name == "" {
		name = "jcode"
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = opt.Dir, opt.Env
	cmd.Cancel = func() error { // so that it can end what it started
		if cmd.Process.Signal(os.Interrupt) == nil {
			return nil
		}
		return cmd.Process.Kill() // Windows has no such signal
	}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// read hands on what comes.
func (s *Session) read(out *bufio.Reader, begun chan<- error) {
	defer close(s.ended)
	defer close(s.asked)
	waiting := true
	for {
		raw, err := out.ReadBytes('\n')
		if err != nil {
			break
		}
		ev := Event{Raw: bytes.TrimRight(raw, "\n")}
		if json.Unmarshal(ev.Raw, &ev) != nil {
			continue // not a line of the protocol
		}
		switch {
		case ev.Type == "init" && waiting:
			s.ID, s.Model = ev.Text("session_id"), ev.Text("model")
			waiting, begun = false, done(begun, nil)
			continue
		case ev.Type == "result" && waiting:
			waiting, begun = false, done(begun, errors.New(ev.Text("error")))
			continue
		case ev.Type == "mcp":
			s.lent.receive(ev)
			continue
		case ev.Type == "response":
			var r response
			if ev.Decode(&r) == nil {
				s.settle(r)
			}
			continue
		}
		if q, asks := questionOf(ev); asks {
			s.asked <- q
		}
		s.mu.Lock()
		for r := range s.readers {
			r.add(ev)
		}
		s.mu.Unlock()
	}
	s.lent.end()
	if waiting {
		done(begun, ErrEnded)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = ErrEnded
	for _, c := range s.calls {
		close(c)
	}
	s.calls = nil
	for r := range s.readers {
		r.close()
	}
}

func done(begun chan<- error, err error) chan<- error {
	begun <- err
	return nil
}

// settle hands a response to whoever waits for it.
func (s *Session) settle(r response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[r.Request]; c != nil {
		delete(s.calls, r.Request)
		c <- r
	}
}

// Do writes a line of a type with its fields, and decodes its result; a nil result is ignored. docs/scripting.md lists the
// types.
func (s *Session) Do(ctx context.Context, kind string, fields map[string]any, result any) error {
	wait := make(chan response, 1)
	line := map[string]any{}
	for name, v := range fields {
		line[name] = v
	}
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return s.err
	}
	s.last++
	request := strconv.Itoa(s.last)
	line["type"], line["request"] = kind, request
	s.calls[request] = wait
	s.mu.Unlock()
	if err := s.write(line); err != nil {
		s.mu.Lock()
		delete(s.calls, request)
		s.mu.Unlock()
		return err
	}
	select {
	case r, ok := <-wait:
		switch {
		case !ok:
			return ErrEnded
		case !r.OK:
			return &Error{r.Kind, r.Error}
		case result != nil && len(r.Result) > 0:
			return json.Unmarshal(r.Result, result)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Send writes a line of input and decodes what it returns into result, unless that is nil. See Do.
func (s *Session) Send(ctx context.Context, line Line, result any) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	return s.Do(ctx, line.kind(), fields, result)
}

// write writes a line.
func (s *Session) write(line map[string]any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	s.writing.Lock() // not mu: what comes is read meanwhile, or both sides could wait for each other
	defer s.writing.Unlock()
	_, err = s.in.Write(append(b, '\n'))
	return err
}

// Interrupt ends the running turn.
func (s *Session) Interrupt(ctx context.Context) error { return s.Do(ctx, "interrupt", nil, nil) }

// SetMode sets how much is allowed unasked.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	return s.Send(ctx, SetLine{Mode: mode}, nil)
}

// SetModel sets the model.
func (s *Session) SetModel(ctx context.Context, model string) error {
	return s.Send(ctx, SetLine{Model: model}, nil)
}

// Close ends the input, and waits for the end of what runs. Its error is how jcode ended.
func (s *Session) Close() error {
	closed := s.in.Close()
	s.working.Wait()
	if err := s.cmd.Wait(); err != nil {
		return err
	}
	if closed != nil && !errors.Is(closed, os.ErrClosed) {
		return closed
	}
	return nil
}

// Listed is a session that is kept.
type Listed struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Cwd   string `json:"cwd"`
}

// Sessions lists the sessions of a folder, the last one first.
func Sessions(ctx context.Context, opt Options) ([]Listed, error) {
	var list []Listed
	var said strings.Builder
	cmd := command(ctx, opt, "sessions", "list", "--json")
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return list, json.Unmarshal(out, &list)
}
