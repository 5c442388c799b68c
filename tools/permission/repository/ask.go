package repository

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
)

// maxAsk bounds how long git may take to answer; it reads a few small files.
const maxAsk = 5 * time.Second

// asked returns git's own objection to looking: git uses a different repository than the one found, or its
// configuration has settings that our own reading did not see.
func (l *Looker) asked(dir string, found []candidate) string {
	switch _, err := l.Programs.Find("git"); {
	case launch.IsPassedOver(err):
		return err.Error()
	case err != nil:
		return "" // then none runs
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxAsk)
	defer cancel()
	q := question{ctx: ctx, programs: l.Programs, dir: dir}
	r, why := q.repository(found)
	if why != "" || r.own == "" {
		return why
	}
	list, why := q.settings()
	if why != "" {
		return why
	}
	return l.steered(followed(list, r), r)
}

// Alias returns the expansion of a git alias in a folder, "" for none.
func (l *Looker) Alias(dir, name string) string {
	if strings.ContainsAny(name, ".\n") {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxAsk)
	defer cancel()
	q := question{ctx: ctx, programs: l.Programs, dir: dir}
	out, err := q.run("config", "--null", "--get", "alias."+name)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(out, "\x00")
}

// question is one round of asking git about a folder.
type question struct {
	ctx      context.Context
	programs launch.Programs
	dir      string

	asked   bool
	local   []setting
	origins []string // files that the repository's own settings come from
	failure error
}

func (q *question) run(args ...string) (string, error) {
	cmd, err := q.programs.Command(q.ctx, "git", args...)
	if err != nil {
		return "", err
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = q.dir, launch.GitOverrides(cmd.Env), time.Second
	out, err := cmd.Output()
	return string(out), err
}

// repository returns which of the found repositories git uses; none if git uses none, and then it runs
// nothing. For an ordinary repository the origins of the settings answer this, which saves one start of git.
func (q *question) repository(found []candidate) (r candidate, why string) {
	if len(found) == 1 && found[0].complete && found[0].own == filepath.Join(found[0].top, ".git") && found[0].own == found[0].common {
		if _, why := q.settings(); why == "" && len(q.origins) > 0 {
			config := filepath.Join(found[0].common, "config")
			for _, file := range q.origins {
				if !q.same(file, config, found[0].top) && !q.same(file, config+".worktree", found[0].top) {
					return r, "git takes settings from a file that was not looked at: " + file
				}
			}
			return found[0], ""
		}
	}
	where, err := q.run("rev-parse", "--absolute-git-dir", "--git-common-dir")
	switch {
	case q.ctx.Err() != nil:
		return r, "git does not answer which repository it would take"
	case refused(err):
		return r, "" // git finds none, or refuses this one
	case err != nil:
		return r, "git can't be asked which repository it would take: " + err.Error()
	}
	own, common, _ := strings.Cut(strings.TrimSuffix(where, "\n"), "\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(q.dir, common)
	}
	own, common = paths.Real(own), paths.Real(common)
	for _, f := range found {
		if f.own == own && f.common == common {
			return f, ""
		}
	}
	return r, "git takes another repository than its files name: " + own
}

// same reports whether name, as git prints it, means the file. It may be relative to the folder or to the top
// of the work tree.
func (q *question) same(name, file, top string) bool {
	if filepath.IsAbs(name) {
		return paths.Real(name) == file
	}
	return paths.Real(filepath.Join(q.dir, name)) == file || paths.Real(filepath.Join(top, name)) == file
}

// settings returns what the repository itself sets, as git reads it.
func (q *question) settings() (list []setting, why string) {
	if !q.asked {
		q.asked = true
		var out string
		out, q.failure = q.run("config", "--list", "--null", "--show-scope", "--show-origin")
		if q.failure == nil {
			q.local, q.origins = localSettings(out)
		}
	}
	var exit *exec.ExitError
	switch {
	case q.ctx.Err() != nil:
		return nil, "git does not answer what is set in the repository"
	case errors.As(q.failure, &exit) && exit.ExitCode() == 129:
		return nil, "" // this git does not report scopes; the configuration was read before
	case q.failure != nil:
		return nil, "git can't read the repository's configuration"
	}
	return q.local, ""
}

// refused reports whether git ran and refused.
func refused(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 128
}

// localSettings parses the output of `git config --list --null --show-scope --show-origin`, and returns what
// the repository itself sets, and from which files.
func localSettings(out string) (list []setting, origins []string) {
	fields := strings.Split(out, "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if fields[i] != "local" && fields[i] != "worktree" {
			continue
		}
		if file := strings.TrimPrefix(fields[i+1], "file:"); !slices.Contains(origins, file) {
			origins = append(origins, file)
		}
		key, value, has := strings.Cut(fields[i+2], "\n")
		s := setting{value: value, bare: !has}
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		if s.name = strings.ToLower(key[last+1:]); first >= 0 {
			s.section = strings.ToLower(key[:first])
		}
		if first >= 0 && first < last {
			s.sub = key[first+1 : last]
		}
		list = append(list, s)
	}
	return list, origins
}

// Overrides returns an environment under which git runs nothing of the repository's while it only looks.
func Overrides(env []string) []string { return launch.GitOverrides(env) }
