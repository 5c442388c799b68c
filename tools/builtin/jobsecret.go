package builtin

import (
	"context"
	"strings"
	"time"

	"jcode/tools"
)

// SecretQuestion is a job that waits for a password.
type SecretQuestion struct {
	Caller tools.Caller
	Job    int
	// Program reads it, Command is the job's, Prompt what the program asks.
	Program, Command, Prompt string
}

// secretWait is the last question for a password of a job.
type secretWait struct {
	refused bool  // the person gives none, or nobody could be asked
	settled int64 // what was written when the last question was put
}

// secretLook is the time between two looks at whether a job waits for a password, and how long its prompt must stand.
const secretLook = 150 * time.Millisecond

// watchSecrets asks the person for each password that a job waits for, until it ends. What they answer goes to the program
// alone: it is no argument of a call, no event and no output.
func (s *Shell) watchSecrets(j *job, caller tools.Caller) {
	ticker := time.NewTicker(secretLook)
	defer ticker.Stop()
	last := int64(-1)
	for {
		select {
		case <-j.cmd.proc.Done():
			return
		case <-s.closed.Done():
			return
		case <-ticker.C:
		}
		written := j.cmd.term.Written()
		quiet := written == last
		last = written
		j.mu.Lock()
		settled := j.secret.settled
		j.mu.Unlock()
		if !quiet || written == settled || !j.cmd.term.Secret() {
			continue
		}
		if prompt := strings.TrimSpace(j.cmd.term.Screen().Line); prompt != "" {
			s.askSecret(j, caller, prompt)
		}
	}
}

// askSecret asks for one password, as long as the program waits for it.
func (s *Shell) askSecret(j *job, caller tools.Caller, prompt string) {
	asked := j.cmd.term.Written()
	j.setSecret(secretWait{refused: s.opts.Secret == nil, settled: asked})
	if s.opts.Secret == nil {
		return
	}
	ctx, cancel := context.WithCancel(s.closed)
	defer cancel()
	type reply struct {
		secret string
		ok     bool
	}
	replied := make(chan reply, 1)
	s.work.Go(func() {
		secret, ok := s.opts.Secret(ctx, SecretQuestion{Caller: caller, Job: j.id, Program: j.reads(j.cmd.term.Reader()), Command: j.cmd.line, Prompt: prompt})
		replied <- reply{secret, ok}
	})
	ticker := time.NewTicker(secretLook)
	defer ticker.Stop()
	for {
		select {
		case r := <-replied:
			if r.ok {
				r.ok = j.cmd.term.TypeSecret(r.secret) == nil
			}
			j.setSecret(secretWait{refused: !r.ok, settled: asked})
			return
		case <-ticker.C:
			if !j.cmd.term.Secret() { // the program gave up, or the person typed it there
				return
			}
		case <-j.cmd.proc.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (j *job) setSecret(w secretWait) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.secret = w
}

// secretNote says to the model what a password prompt means for it, "" if there is none.
func (j *job) secretNote() string {
	if j.cmd.term == nil || j.isOver() || !j.cmd.term.Secret() {
		return ""
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.secret.refused:
		return "it waits for a password, which only the user can give, and they did not: go on without it, or kill the job"
	default:
		return "it waits for a password: the user is asked for it, and you never see it; use action wait"
	}
}
