package shell

import (
	"slices"
	"strings"
)

// isShell reports whether a program runs a shell text that it is given.
func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "tcsh", "csh", "eval", "busybox", "toybox", "pwsh", "powershell", "cmd":
		return true
	}
	return false
}

// isWrapper reports whether a command runs another command contained in its words.
func isWrapper(name string, words []word) bool {
	if isShell(name) {
		return true
	}
	switch name {
	case "env":
		return len(words) > 1
	case "find", "fd", "fdfind":
		return slices.ContainsFunc(words[1:], func(w word) bool {
			switch w.text {
			case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
				return true
			}
			return strings.HasPrefix(w.text, "--exec")
		})
	case "command":
		return len(words) != 3 || words[1].text != "-v" && words[1].text != "-V"
	case "git":
		return gitRuns(words[1:])
	case "timeout", "gtimeout", "nohup", "nice", "ionice", "setsid", "stdbuf", "unbuffer", "time", "xargs", "sudo", "doas", "su", "runuser", "pkexec",
		"builtin", "exec", "alias", "source", ".", "trap", "coproc", "chroot", "unshare", "nsenter", "flock", "watch", "parallel", "script",
		"strace", "ltrace", "gdb", "lldb", "valgrind", "perf", "rlwrap", "entr", "watchexec", "ssh", "mosh", "docker", "podman", "nerdctl", "kubectl", "oc",
		"npx", "bunx", "uvx", "pipx", "direnv", "nix", "nix-shell", "mise", "rtx", "asdf", "conda", "mamba", "micromamba", "faketime",
		"caffeinate", "arch", "taskset", "chrt", "numactl", "prlimit", "systemd-run", "systemd-inhibit", "dbus-run-session", "xvfb-run", "at", "batch",
		"expect", "screen", "tmux", "wsl", "firejail", "bwrap", "fakeroot", "setpriv", "cgexec", "choom", "hyperfine":
		return true
	}
	return false
}

// runs reports whether a tool that sets up an environment is told to run another command in it. That counts for
// rules that restrict; such a line needs no rule of its own for what it runs.
func runs(words []word) bool {
	var verbs []string
	switch base(words[0].text) {
	case "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "dotenvx", "doppler", "op", "infisical", "volta", "foreman":
		verbs = []string{"run", "exec", "x"}
	case "npm", "pnpm", "yarn", "bun", "bundle", "corepack", "aws-vault", "fnm", "nvm", "rbenv", "pyenv", "nodenv", "tox", "nox":
		verbs = []string{"exec", "dlx", "x", "run"}
	case "dotenv":
		return len(words) > 1
	}
	return slices.ContainsFunc(words[1:], func(w word) bool { return slices.Contains(verbs, w.text) })
}

// gitRuns reports whether git is given a command line to run: by a setting, or by a subcommand made for that.
func gitRuns(args []word) bool {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		flag := args[0].text
		if flag == "-c" || strings.HasPrefix(flag, "-c") || strings.HasPrefix(flag, "--config-env") || strings.HasPrefix(flag, "--exec-path=") {
			return true
		}
		args = args[1:]
		if (flag == "-C" || flag == "--git-dir" || flag == "--work-tree" || flag == "--namespace") && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return false
	}
	switch args[0].text {
	case "bisect", "filter-branch", "difftool", "mergetool", "submodule":
		return true
	case "rebase":
		return hasFlag(args[1:], "x", "--exec")
	case "push", "fetch", "pull", "ls-remote", "fetch-pack", "send-pack", "archive":
		return hasFlag(args[1:], "", "--exec", "--upload-pack", "--receive-pack")
	case "clone":
		return hasFlag(args[1:], "uc", "--upload-pack", "--config", "--template")
	}
	return false
}

// interprets reports whether a program executes its input.
func interprets(name string) bool {
	switch name {
	case "python", "python2", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "psql", "mysql", "sqlite3", "R", "Rscript", "julia", "ghci",
		"irb", "osascript", "awk", "gawk", "mawk", "sed", "ed", "ex", "vi", "vim", "bc", "dc", "gdb", "make", "m4", "tclsh", "wish", "guile", "emacs", "at", "crontab":
		return true
	}
	return isShell(name)
}

// suffixes returns every tail of a wrapper's words. Nobody knows all flags of all wrappers, so each of them
// may be the wrapped command.
func suffixes(words []word) [][]word {
	out := make([][]word, 0, len(words))
	for i := 1; i < len(words); i++ {
		out = append(out, words[i:])
	}
	return out
}

// maxInner bounds how deep `sh -c` inside `sh -c` is followed.
const maxInner = 6

// unwrap visits the shell texts that a wrapper is given (sh -c 'text', eval text).
func (a *analysis) unwrap(name string, words []word) {
	if a.depth >= maxInner {
		a.doubt("it nests shells too deep")
		return
	}
	var texts []string
	switch name {
	case "eval":
		texts = []string{strings.TrimSpace(joinPlain(words[1:]))}
	case "alias":
		for _, w := range words[1:] {
			if _, value, ok := strings.Cut(w.text, "="); ok && !w.dynamic {
				texts = append(texts, value)
			}
		}
	default:
		for _, w := range words[1:] {
			if !w.dynamic && strings.ContainsAny(w.text, " \t\n;|&") {
				texts = append(texts, w.text)
			}
		}
	}
	at, opaque, inside := a.folders, a.line.Opaque, a.inside
	a.depth++
	a.inside = len(a.line.Commands)
	for _, t := range texts {
		a.text(t)
	}
	a.depth--
	a.folders, a.inside = at, inside
	a.line.Opaque = opaque || a.line.Opaque && isShell(name)
}

func joinPlain(words []word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return strings.Join(out, " ")
}
