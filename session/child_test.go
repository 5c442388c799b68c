package session_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"jcode/session"
)

// The test binary acts as other jcode processes; the variable says which part it plays.
const (
	childRole = "SESSION_TEST_CHILD"
	childDB   = "SESSION_TEST_DB"
	childArg  = "SESSION_TEST_ARG"
)

func child(role string) int {
	ctx := context.Background()
	if role == "starter" {
		// All processes run before one of them opens the file.
		fmt.Println("ready")
		if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	s, err := session.Open(ctx, os.Getenv(childDB), session.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	arg := os.Getenv(childArg)
	switch role {
	case "starter":
		err = turns(ctx, s, "", 1)
	case "leaver":
		if err = turns(ctx, s, "", 5); err == nil {
			err = s.Leave()
		}
		if _, late := s.Create(ctx, session.Session{}); late == nil {
			err = errors.New("a store that was left can be written")
		}
		if err == nil {
			return 0
		}
	case "turns":
		n, _ := strconv.Atoi(arg)
		err = turns(ctx, s, "", n)
	case "forever":
		err = turns(ctx, s, arg, 1<<30)
	case "holder":
		if _, err = s.Hold(arg); err == nil {
			fmt.Println("held")
			_, err = io.ReadAll(os.Stdin)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// turns writes turns as an agent does, and prints each commit once it has returned.
func turns(ctx context.Context, s *session.Store, id string, n int) error {
	if id == "" {
		v, err := s.Create(ctx, session.Session{ProjectID: "p"})
		if err != nil {
			return err
		}
		id = v.ID
	}
	fmt.Println("session", id)
	for i := range n {
		seq, err := s.History().Append(ctx, session.Message{Session: id, Role: session.RoleUser, Parts: text(fmt.Sprintf("prompt %d", i))})
		if err != nil {
			return err
		}
		fmt.Println("message", seq)
		seq, err = s.History().Append(ctx, session.Message{
			Session: id, Role: session.RoleAssistant, Parts: text(strings.Repeat("answer ", 50)),
			Calls: []session.Call{{ID: fmt.Sprintf("a%d", i), Name: "read", Arguments: "{}"}, {ID: fmt.Sprintf("b%d", i), Name: "exec", Arguments: "{}"}},
		})
		if err != nil {
			return err
		}
		fmt.Println("message", seq)
		for index := range 2 {
			if err := s.History().StartCall(ctx, id, seq, index); err != nil {
				return err
			}
			if err := s.History().FinishCall(ctx, session.Call{Session: id, Seq: seq, Index: index, Status: session.StatusDone, Result: strings.Repeat("output\n", 200)}); err != nil {
				return err
			}
			fmt.Println("call", seq, index)
		}
	}
	return nil
}

// process is a running child.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr strings.Builder
}

func spawn(t *testing.T, role, db, arg string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skipf("the test binary can't be found: %v", err)
	}
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), exe)}
	p.cmd.Env = append(os.Environ(), childRole+"="+role, childDB+"="+db, childArg+"="+arg)
	p.cmd.Stderr = &p.stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// line returns the child's next line, or false at its end.
func (p *process) line() (string, bool) {
	if !p.out.Scan() {
		return "", false
	}
	return p.out.Text(), true
}

// succeed waits for the child to exit without an error.
func (p *process) succeed() {
	p.t.Helper()
	for p.out.Scan() {
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("child: %v: %s", err, p.stderr.String())
	}
}

// kill ends the child without warning and returns the lines that it had printed.
func (p *process) kill() []string {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	var rest []string
	for p.out.Scan() {
		rest = append(rest, p.out.Text())
	}
	_ = p.cmd.Wait() // it was killed
	return rest
}
