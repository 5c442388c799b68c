package worktree

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"jcode/internal/launch"
)

// git runs git and returns its output.
func git(ctx context.Context, by launch.Git, dir string, env []string, args ...string) (string, error) {
	return gitInput(ctx, by, dir, env, nil, args...)
}

// gitInput is git with input.
func gitInput(ctx context.Context, by launch.Git, dir string, env []string, in *strings.Reader, args ...string) (string, error) {
	out, err := gitBytes(ctx, by, dir, env, in, args...)
	return string(bytes.TrimSuffix(out, []byte("\n"))), err
}

// gitBytes is gitInput for output that is not text.
func gitBytes(ctx context.Context, by launch.Git, dir string, env []string, in *strings.Reader, args ...string) ([]byte, error) {
	cmd, err := by.Command(ctx, dir, append([]string{"-c", "advice.detachedHead=false"}, args...)...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if in != nil {
		cmd.Stdin = in
	}
	cmd.WaitDelay = pipeDelay
	if err := runChild(cmd); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if text := strings.TrimSpace(said.String()); text != "" {
			return out.Bytes(), fmt.Errorf("git %s: %s", args[0], text)
		}
		return out.Bytes(), fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// Run runs a git whose own children end with it and with this process: the command leads a process group.
func Run(cmd *exec.Cmd) error { return runChild(cmd) }
