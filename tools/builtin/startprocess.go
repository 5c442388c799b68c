package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"jcode/internal/launch"
	"jcode/internal/proc"
	"jcode/tools"
	"jcode/tools/permission/repository"
	"jcode/tools/sandbox"
)

// startProcess starts a command as it is confined: not at all, in the sandbox, or to reading.
func (s *Shell) startProcess(c *command, spec proc.Spec, how confinement) (*proc.Process, error) {
	if v := how.vouched; v != nil {
		spec.Env = proc.WithoutSecrets(spec.Env, s.opts.Keep) // it runs unasked, so it must not print them
		if v.Git {
			spec.Env = repository.Overrides(spec.Env)
		}
		if s.opts.Confiner != nil {
			if ok, _ := s.opts.Confiner.CanRead(); ok {
				return s.startReading(c, spec, *v)
			}
		}
		spec.Env = launch.Outside(spec.Env, append([]string{s.opts.Dir}, s.opts.Roots...))
	}
	var more []string // not before it is confined: what it may do does not depend on them
	if s.opts.Variables != nil && how.vouched == nil && how.called {
		more = s.opts.Variables(how.caller, how.call, how.sandbox)
	}
	if !how.sandbox {
		spec.Env = append(spec.Env[:len(spec.Env):len(spec.Env)], more...)
		if how.watched && s.opts.Watch != nil {
			c.changed = s.keepWatched(how, s.opts.Watch())
		}
		return s.launch(spec)
	}
	if s.opts.Confiner == nil {
		return nil, errors.New("there is no sandbox on this machine")
	}
	if s.opts.Rights != nil {
		more := s.opts.Rights()
		how.rights.Read = append(how.rights.Read[:len(how.rights.Read):len(how.rights.Read)], more.Read...)
		how.rights.Data = append(how.rights.Data[:len(how.rights.Data):len(how.rights.Data)], more.Data...)
	}
	spec, before, err := s.opts.Confiner.ConfineProgram(spec, how.rights)
	if err != nil {
		return nil, err
	}
	spec.Env = append(spec.Env[:len(spec.Env):len(spec.Env)], more...)
	c.sandboxed = true
	c.changed = s.keepWatched(how, before)
	return s.launch(spec)
}

// startReading starts a command that may only read.
func (s *Shell) startReading(c *command, spec proc.Spec, v tools.Vouched) (*proc.Process, error) {
	spec, done, err := s.opts.Confiner.ConfineToReading(spec, sandbox.Reading{Only: v.Only, Hidden: v.Hidden, Beyond: v.Beyond})
	if err != nil {
		return nil, err
	}
	c.reading = true
	p, err := s.launch(spec)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	s.work.Go(func() {
		<-p.Done()
		_ = done() // a temporary folder that can't be removed is left to the system
	})
	return p, nil
}

// launch starts a process from the thread that is the parent of all children.
func (s *Shell) launch(spec proc.Spec) (*proc.Process, error) {
	s.mu.Lock()
	if s.launcher == nil {
		s.launcher = proc.NewLauncher()
	}
	l := s.launcher
	s.mu.Unlock()
	p, err := l.Start(spec)
	if err != nil && spec.Argv[0] == s.opts.Shell[0] {
		if _, gone := os.Stat(spec.Argv[0]); errors.Is(gone, fs.ErrNotExist) {
			return nil, fmt.Errorf("this machine has no %s, so no commands can be run here; the tools for files work", spec.Argv[0])
		}
	}
	return p, err
}

func closeAll(lists ...[]*os.File) {
	for _, files := range lists {
		for _, f := range files {
			_ = f.Close() // pipe ends: nothing is lost
		}
	}
}
