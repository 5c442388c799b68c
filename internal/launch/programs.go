// Package launch starts the programs that jcode needs for itself: git, the clipboard's, a browser, an editor. It
// finds them where no work of an agent and nothing of a project can have put them, and says what environment
// they get.
//
// It must not know what the programs are for. Commands of the model, servers, and Lua hosts are started by
// package proc.
package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/proc"
	"jcode/internal/system"
)

// Programs finds and starts programs. The zero value knows no folder of a project, only those for temporary
// files. It is safe for concurrent use if its functions are.
type Programs struct {
	// Roots returns the folders whose programs are not used: the workspace, and copies of it.
	Roots func() []string
	// Base returns the environment for programs, before what leads into these folders is taken out of it. Nil
	// means the process's own, without what looks like a secret.
	Base func() []string
	// Temporary says that programs in folders for temporary files are used: the person chose what runs.
	Temporary bool
}

// PassedOver is the error for a program that exists only where it is not used. It wraps exec.ErrNotFound.
type PassedOver struct{ Name, Path string }

// Error says where the program is.
func (e *PassedOver) Error() string {
	return fmt.Sprintf("%s is only at %s, a folder that projects or other programs write to, from which jcode starts nothing by itself: install it elsewhere", e.Name, e.Path)
}

// Unwrap implements errors.Unwrap.
func (*PassedOver) Unwrap() error { return exec.ErrNotFound }

// Find returns the path of a program, which is looked for in PATH if its name has no folder.
func (p Programs) Find(name string) (string, error) {
	if filepath.Base(name) != name {
		return exec.LookPath(name) // somebody who named its folder meant this one
	}
	outside, passed := p.excluded(), ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // it depends on where jcode was started
		}
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if !below(dir, outside) && !below(path, outside) {
			return path, nil
		}
		if passed == "" {
			passed = path
		}
	}
	if passed != "" {
		return "", &PassedOver{name, passed}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// Env returns the environment of a program that jcode starts for itself: without secrets, and without what
// leads it, or what it starts, to code of the excluded folders.
func (p Programs) Env() []string {
	base := p.Base
	if base == nil {
		base = func() []string { return proc.CommandEnv(os.Environ(), proc.EnvRules{}) }
	}
	return p.WithPath(Outside(proc.WithoutSecrets(base(), nil), p.roots()))
}

// WithPath returns an environment in which PATH has no folder whose programs are not used.
func (p Programs) WithPath(env []string) []string {
	env = slices.Clone(env)
	for i, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			env[i] = "PATH=" + outsideList(list, p.excluded())
		}
	}
	return env
}

// Command returns a command that starts a program for jcode itself.
func (p Programs) Command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	cmd, err := p.Own(ctx, name, args...)
	if err == nil {
		cmd.Env = p.Env()
	}
	return cmd, err
}

// Own returns a command that starts a program which the person chose, such as their editor: with the whole
// environment of this process.
func (p Programs) Own(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, err := p.Find(name)
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, path, args...), nil
}

// Used reports whether a program at a path would be used.
func (p Programs) Used(path string) bool { return !below(path, p.excluded()) }

// excluded returns the folders whose programs are not used, as they are written and without links.
func (p Programs) excluded() []string {
	all := slices.Clone(p.roots())
	if !p.Temporary {
		all = slices.Concat(system.TempFolders(), []string{os.TempDir()}, all)
	}
	return append(all, resolved(all)...)
}

func (p Programs) roots() []string {
	if p.Roots == nil {
		return nil
	}
	return p.Roots()
}

// below reports whether a path, as it is written or without links, is in one of the folders.
func below(path string, dirs []string) bool {
	return belowAny(filepath.Clean(path), dirs) || belowAny(paths.Real(path), dirs)
}

// IsPassedOver reports whether an error says that a program exists only where it is not used.
func IsPassedOver(err error) bool {
	var passed *PassedOver
	return errors.As(err, &passed)
}
