package clone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/worktree"
)

// remote runs a git that talks to the host of an address, and to no other kind of address. Nobody is there whom it could
// ask for a password.
func (c Clones) remote(ctx context.Context, dir string, limit time.Duration, p place, args ...string) (string, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	quiet := []string{"-c", "http.lowSpeedLimit=100", "-c", "http.lowSpeedTime=60", "-c", "fetch.writeCommitGraph=false", "-c", "gc.auto=0"}
	cmd, err := c.git.Remote(within, dir, append(quiet, args...)...)
	if err != nil {
		return "", err
	}
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL="+protocol(p.address), "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.dir), "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force", "LC_ALL=C")
	if p.root != "" {
		cmd.Env = append(cmd.Env, "GIT_OBJECT_DIRECTORY="+filepath.Join(p.root, ".git", "objects"))
	}
	out, err := run(within, cmd, "")
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case within.Err() != nil:
		return "", fmt.Errorf("%w: %s did not answer within %s: check the network and the address", ErrUnreachable, p.address, limit)
	}
	return "", fmt.Errorf("%w: %s: %s", ErrUnreachable, p.address, advice(hidden(err.Error())))
}

// protocol is git's name for how an address is reached.
func protocol(address string) string {
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		return scheme
	}
	return "ssh"
}

// advice says what can be done about what git said of a host.
func advice(said string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("Host key verification failed", "authenticity of host"):
		return said + " (ssh does not know this host: connect to it once as this user, or add its key to ~/.ssh/known_hosts)"
	case has("could not read Username", "could not read Password", "Authentication failed", "Permission denied", "terminal prompts disabled"):
		return said + " (this user has no access: give git a credential helper for https, or ssh a key that works without a question)"
	case has("not found", "does not appear to be a git repository", "Could not resolve host"):
		return said + " (check the address, and whether this user may read it)"
	}
	return said
}

// own runs a git that talks to nobody.
func (c Clones) own(ctx context.Context, dir string, args ...string) (string, error) {
	cmd, err := c.git.Command(ctx, dir, args...)
	if err != nil {
		return "", err
	}
	return run(ctx, cmd, args[0])
}

func run(ctx context.Context, cmd *exec.Cmd, name string) (string, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, pipeDelay
	if err := worktree.Run(cmd); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if words := strings.Join(strings.Fields(said.String()), " "); words != "" {
			err = errors.New(words)
		}
		if name == "" {
			return "", err
		}
		return "", fmt.Errorf("git %s: %w", name, err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
