package repository

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxAsk bounds how long git may take to answer; it looks at a few small files.
const maxAsk = 5 * time.Second

// asked says what git itself answers against looking: it takes another repository than was
// found, or reads in its configuration what our reading did not see.
func (l Looker) asked(dir string, found []candidate) string {
	git, err := exec.LookPath("git")
	if err != nil {
		return "" // then none runs
	}
	env := os.Environ()
	if l.Env != nil {
		env = l.Env()
	}
	env = Overrides(env)
	ctx, cancel := context.WithTimeout(context.Background(), maxAsk)
	defer cancel()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, git, args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
		out, err := cmd.Output()
		return string(out), err
	}
	var where, config string
	var whereErr, configErr error
	var both sync.WaitGroup
	both.Go(func() { where, whereErr = run("rev-parse", "--absolute-git-dir", "--git-common-dir") })
	both.Go(func() { config, configErr = run("config", "--list", "--null", "--show-scope") })
	both.Wait()
	switch {
	case ctx.Err() != nil:
		return "git does not answer which repository it would take"
	case refused(whereErr):
		return "" // it finds none, or refuses this one: then it runs nothing
	case whereErr != nil:
		return "git can't be asked which repository it would take: " + whereErr.Error()
	}
	own, common, _ := strings.Cut(strings.TrimSuffix(where, "\n"), "\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	r := candidate{own: resolve(own), common: resolve(common)}
	known := false
	for _, f := range found {
		if f.own == r.own && f.common == r.common {
			known, r.top = true, f.top
		}
	}
	if !known {
		return "git takes another repository than its files name: " + own
	}
	if configErr != nil {
		var exit *exec.ExitError
		if errors.As(configErr, &exit) && exit.ExitCode() == 129 {
			return "" // this git does not tell scopes; the configuration was read before
		}
		return "git can't read the repository's configuration"
	}
	return l.steered(localSettings(config), r, true)
}

// refused reports whether git ran and said no.
func refused(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 128
}

// localSettings reads what `git config --list --null --show-scope` prints, and returns what
// the repository itself sets.
func localSettings(out string) (list []setting) {
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] != "local" && fields[i] != "worktree" {
			continue
		}
		key, value, has := strings.Cut(fields[i+1], "\n")
		s := setting{value: value, bare: !has}
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		if s.name = strings.ToLower(key[last+1:]); first >= 0 {
			s.section = strings.ToLower(key[:first])
		}
		if first < last {
			s.sub = key[first+1 : last]
		}
		list = append(list, s)
	}
	return list
}

// override is a setting that a looking git gets from its environment, above whatever the
// repository says.
type override struct{ key, value string }

// overrides are what git is told: it runs nothing of the repository's, and takes none that
// is not marked as one.
func overrides() []override {
	return []override{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", os.DevNull},
		{"core.pager", "cat"},
		{"core.sshCommand", "false"},
		{"core.gitProxy", ""},
		{"core.alternateRefsCommand", "false"},
		{"core.askPass", "true"},
		{"credential.helper", ""},
		{"gpg.program", "false"},
		{"gpg.ssh.program", "false"},
		{"gpg.x509.program", "false"},
		{"log.showSignature", "false"},
		{"protocol.allow", "never"},
		{"safe.bareRepository", "explicit"},
		{"status.submoduleSummary", "false"},
		{"maintenance.auto", "false"},
		{"gc.auto", "0"},
	}
}

// Overrides returns an environment in which git is told what it may not do. Settings count
// from the environment: GIT_CONFIG_COUNT holds for git itself, GIT_CONFIG_PARAMETERS is what
// it passes on to the git of a submodule.
func Overrides(env []string) []string {
	out := make([]string, 0, len(env)+48)
	count, parameters := 0, ""
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "GIT_CONFIG_PARAMETERS":
			parameters = value + " "
			continue
		case strings.HasPrefix(name, "GIT_CONFIG_"):
			if name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM" || name == "GIT_CONFIG_NOSYSTEM" {
				break
			}
			continue // what a person sets so for one command is not for these
		case name == "GIT_EXTERNAL_DIFF", name == "GIT_SSH", name == "GIT_SSH_COMMAND", name == "GIT_PROXY_COMMAND", strings.HasPrefix(name, "GIT_TRACE"):
			continue
		}
		out = append(out, kv)
	}
	var quoted bytes.Buffer
	for _, o := range overrides() {
		n := strconv.Itoa(count)
		out = append(out, "GIT_CONFIG_KEY_"+n+"="+o.key, "GIT_CONFIG_VALUE_"+n+"="+o.value)
		if count++; quoted.Len() > 0 {
			quoted.WriteByte(' ')
		}
		quoted.WriteString("'" + o.key + "=" + o.value + "'")
	}
	return append(out,
		"GIT_CONFIG_COUNT="+strconv.Itoa(count), "GIT_CONFIG_PARAMETERS="+parameters+quoted.String(),
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")
}
