package hookscli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/agent/event"
	"jcode/hooks"
	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/proc"
	"jcode/internal/secret"
	"jcode/internal/text"
	"jcode/tools"
)

// Variables are what SessionStart hooks set for the commands of their session. A command that runs unasked
// because it only reads never gets them, nor does anything that jcode starts for itself; what could lead a
// program to code reaches only commands in the sandbox. It is safe for concurrent use.
type Variables struct {
	Current func() string // the session that the person works in

	mu sync.Mutex
	of map[string][]string // by session, as NAME=value
}

// add sets variables of a session, over those of the same name.
func (v *Variables) add(session string, vars []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil {
		v.of = map[string][]string{}
	}
	v.of[session] = append(v.of[session], vars...)
}

// forget drops those of a session.
func (v *Variables) forget(session string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.of, session)
}

// ForCommand returns the variables of a caller's command.
func (v *Variables) ForCommand(caller tools.Caller, confined bool) (out []string) {
	session := caller.Session
	switch {
	case caller.Root != "":
		session = caller.Root
	case session == "" && caller.Origin == tools.OriginPerson:
		session = v.Current()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, kv := range v.of[session] {
		name, _, _ := strings.Cut(kv, "=")
		if reach := launch.ReachOf(name); reach == launch.Everywhere || confined && reach == launch.Confined {
			out = append(out, kv)
		}
	}
	return out
}

// envFile is the file into which one run of a hook writes variables.
type envFile struct{ dir, path string }

const (
	envFilePrefix = "hook-"
	// envFileAge is how old such a folder is when its hook has surely ended: jcode was killed before it was removed.
	envFileAge = 24 * time.Hour
	// sweptEnvFiles bounds how many are looked at at once.
	sweptEnvFiles = 256
)

// SweepEnvFiles removes what killed processes left of such folders.
func SweepEnvFiles(parent string) {
	d, err := os.Open(parent)
	if err != nil {
		return // there is none yet
	}
	list, _ := d.ReadDir(sweptEnvFiles) // those that can be read
	_ = d.Close()                       // only read
	for _, e := range list {
		info, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), envFilePrefix) && time.Since(info.ModTime()) > envFileAge {
			_ = os.RemoveAll(filepath.Join(parent, e.Name())) // the next time tries again
		}
	}
}

// EnvFiles is where these folders are.
func EnvFiles(data string) string { return filepath.Join(data, "hooks") }

// newEnvFile makes a folder for the file, in which nobody else writes.
func newEnvFile(parent string) (f envFile, err error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return f, err
	}
	SweepEnvFiles(parent)
	f.dir, err = os.MkdirTemp(parent, envFilePrefix+"*")
	f.path = filepath.Join(f.dir, "env.sh")
	return f, err
}

// read returns the variables that a hook wrote, and removes the file. What is refused, and what only commands in
// the sandbox get, is said.
func (f envFile) read(hook hooks.Hook, env, keep []string, say func(level event.Level, format string, args ...any)) []string {
	defer func() { _ = os.RemoveAll(f.dir) }() // else sweepEnvFiles does it
	data, err := paths.ReadInside(f.dir, f.path, hooks.MaxEnvFile)
	name := fmt.Sprintf("SessionStart hook (%s)", text.Visible(hook.Source))
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		say(event.LevelWarn, "%s: its variables are not read: %v", name, err)
		return nil
	}
	vars, refused := hooks.Variables(data, env)
	var inside []string
	vars = slices.DeleteFunc(vars, func(kv string) bool {
		variable, value, _ := strings.Cut(kv, "=")
		switch reach := launch.ReachOf(variable); {
		case reach == launch.Nowhere:
			refused = append(refused, variable+" (it steers the shell, git or the loader of programs)")
		case secret.Variable(variable, value) && !slices.Contains(keep, variable):
			refused = append(refused, variable+" (it looks like a secret; environment.keep in config.json lets it through)")
		default:
			if reach == launch.Confined {
				inside = append(inside, variable)
			}
			return false
		}
		return true
	})
	if len(refused) > 0 {
		say(event.LevelWarn, "%s: not set for commands: %s", name, text.Cut(text.Visible(strings.Join(refused, "; ")), 600))
	}
	if len(inside) > 0 {
		say(event.LevelInfo, "%s: %s can lead a program to other code: only commands in the sandbox get it", name, text.Cut(text.Visible(strings.Join(inside, ", ")), 300))
	}
	return vars
}

// withVariables runs a hook with a file for variables if its event has one.
func (h *Hooks) withVariables(run hooks.Run, env []string, runHook func(more []string, data string) (hooks.Ended, error)) (hooks.Ended, error) {
	if run.Hook.Event != hooks.SessionStart {
		return runHook(nil, "")
	}
	file, err := newEnvFile(h.scratch)
	if err != nil {
		return hooks.Ended{}, fmt.Errorf("make %s: %w", hooks.EnvFile, err)
	}
	end, err := runHook([]string{hooks.EnvFile + "=" + file.path}, file.dir)
	vars := file.read(run.Hook, proc.WithoutSecrets(env, nil), h.confinement.Kept(), h.board.Say)
	end.Variables = vars
	return end, err
}
