package launch

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Git runs git for jcode itself.
type Git struct {
	Programs Programs
	// Look says why git must not handle the files of a repository, given a folder of it; "" for no objection. Nil
	// means that nobody looks.
	Look func(dir string) string
}

// Vouched returns an error if git must not handle the files of a folder's repository, because that would run a
// program which the repository names.
func (g Git) Vouched(dir string) error {
	if g.Look == nil {
		return nil
	}
	if why := g.Look(dir); why != "" {
		return errors.New("jcode does not let git handle the files here, because " + why)
	}
	return nil
}

// Command returns a git command for a folder, under settings with which git runs no hooks and no other
// program, except filters of files: see Vouched. It fetches nothing.
func (g Git) Command(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	cmd, err := g.Programs.Command(ctx, "git", append([]string{"-C", dir}, args...)...)
	if err == nil {
		cmd.Env = append(GitOverrides(withoutRepository(cmd.Env)), "LC_ALL=C")
	}
	return cmd, err
}

// Remote is Command for a git that talks to another repository, with the person's own keys and helpers.
func (g Git) Remote(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	quiet := []string{
		"-C", dir, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never", "-c", "maintenance.auto=false",
	}
	cmd, err := g.Programs.Command(ctx, "git", append(quiet, args...)...)
	if err == nil {
		cmd.Env = append(withoutRepository(cmd.Env), "GIT_TERMINAL_PROMPT=0")
	}
	return cmd, err
}

// withoutRepository returns an environment that names no repository: where git works is what the folder says.
func withoutRepository(env []string) []string {
	out := make([]string, 0, len(env))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_LFS_SKIP_SMUDGE", "GIT_TERMINAL_PROMPT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH", "GIT_SSH_COMMAND":
		default:
			if strings.HasPrefix(name, "GIT_") {
				continue
			}
		}
		out = append(out, kv)
	}
	return out
}
