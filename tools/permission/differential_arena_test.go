//go:build linux

package permission_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// arena is a workspace prepared by an attacker, with files beside it that must not be reached.
type arena struct {
	t                         *testing.T
	base, root, home, outside string
	canary                    string // a program of the workspace
	template                  string // an ordinary repository that is copied
	flags                     map[string][]string
}

func newArena(t *testing.T) *arena {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &arena{t: t, base: base, template: filepath.Join(base, "template"), flags: map[string][]string{}}
	committed(t, a.template)
	put(t, a.template, "a.go", "package a\n")
	put(t, a.template, ".env", "SECRET=1 \n")
	gitIn(t, a.template, "add", "-A")
	gitIn(t, a.template, "commit", "-q", "-m", "two")
	put(t, a.template, "a.go", "package a\n\nvar b int\n")
	put(t, a.template, ".env", "SECRET=2 \n")
	gitIn(t, a.template, "add", ".env")
	for _, p := range vouchedPrograms() {
		a.flags[p] = flagsFromHelp(p)
	}
	return a
}

// lay creates a workspace with a repository that may be hostile in one or two ways.
func (a *arena) lay(r *rand.Rand) {
	a.layPlain()
	for range r.IntN(3) {
		a.spoil(r)
	}
}

// layPlain creates a workspace with an ordinary repository.
func (a *arena) layPlain() {
	dir, err := os.MkdirTemp(a.base, "w")
	if err != nil {
		a.t.Fatal(err)
	}
	a.root, a.home, a.outside = filepath.Join(dir, "project"), filepath.Join(dir, "home"), filepath.Join(dir, "outside")
	a.canary = filepath.Join(a.root, "canary")
	if err := os.CopyFS(a.root, os.DirFS(a.template)); err != nil {
		a.t.Fatal(err)
	}
	for _, f := range []string{"home/.ssh/id", "home/notes", "outside/x", "outside/secret", "project/secrets/key", "project/sub/c.go", "project/list", "project/@words", "project/b1", "project/b2"} {
		put(a.t, dir, f, "x\n")
	}
	for _, name := range append([]string{"canary", "bin/canary"}, strings.Fields("bin/gzip bin/gpg bin/less bin/sh bin/grep bin/git-lfs bin/ssh bin/cat bin/git-foo bin/pager")...) {
		put(a.t, a.root, name, "#!/bin/sh\nexit 1\n")
		if err := os.Chmod(filepath.Join(a.root, name), 0o755); err != nil {
			a.t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": a.outside, "o": a.outside, "key": filepath.Join(a.outside, "secret")} {
		if err := os.Symlink(target, filepath.Join(a.root, name)); err != nil {
			a.t.Fatal(err)
		}
	}
}

// spoil changes one thing in the repository.
func (a *arena) spoil(r *rand.Rand) {
	git := filepath.Join(a.root, ".git")
	info, err := os.Lstat(git)
	if err != nil || !info.IsDir() {
		return
	}
	switch r.IntN(10) {
	case 9: // a link out, in a place from which git reads
		at := filepath.Join(git, filepath.FromSlash(pick(r, strings.Fields("worktrees/w/locked logs/refs/stash logs/HEAD refs/remotes/a/b refs/heads/x info/exclude info/attributes description MERGE_MSG rebase-merge/done packed-refs shallow objects/info/packs"))))
		put(a.t, filepath.Dir(at), "beside", "")
		_ = os.Remove(at) // it may exist
		if err := os.Symlink(filepath.Join(a.outside, "secret"), at); err != nil {
			a.t.Fatal(err)
		}
	case 0, 1, 2:
		addTo(a.t, filepath.Join(git, "config"), a.config(r))
	case 3: // a .git file
		put(a.t, a.root, "store/x", "")
		if err := os.Rename(git, filepath.Join(a.root, "store", "g")); err != nil {
			a.t.Fatal(err)
		}
		addTo(a.t, filepath.Join(a.root, "store", "g", "config"), a.config(r))
		put(a.t, a.root, ".git", "gitdir:"+strings.Repeat(" ", 1+r.IntN(2))+pick(r, []string{"store/g", "./store/g", "store//g", "../project/store/g"})+strings.Repeat(pick(r, []string{"\n", "\r\n", " ", "\x00"}), r.IntN(5000)))
	case 4: // another common folder
		if _, err := os.Lstat(filepath.Join(a.root, "common")); err == nil {
			return
		}
		put(a.t, a.root, "common/config", a.config(r))
		for _, d := range []string{"objects", "refs"} {
			if err := os.CopyFS(filepath.Join(a.root, "common", d), os.DirFS(filepath.Join(git, d))); err != nil {
				a.t.Fatal(err)
			}
		}
		put(a.t, git, "commondir", pick(r, []string{"../common", "../common\n", " ../common", "../common" + strings.Repeat("\n", 6000)}))
	case 5: // no .git, laid out as a repository
		for _, n := range []string{"HEAD", "objects", "refs", "index"} {
			if r.IntN(6) > 0 {
				_ = os.Rename(filepath.Join(git, n), filepath.Join(a.root, n)) // it may exist already
			}
		}
		put(a.t, a.root, pick(r, []string{"config", "config.worktree"}), a.config(r))
		if r.IntN(2) == 0 {
			put(a.t, a.root, "commondir", pick(r, []string{".", "sub", ".git"}))
		}
		if err := os.RemoveAll(git); err != nil {
			a.t.Fatal(err)
		}
	case 6: // a repository inside
		inner := filepath.Join(a.root, "inner")
		if err := os.CopyFS(inner, os.DirFS(a.template)); err != nil {
			return
		}
		add := exec.Command("git", "add", "inner")
		add.Dir, add.Env = a.root, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
		if add.Run() != nil {
			return // it was spoiled before
		}
		addTo(a.t, filepath.Join(inner, ".git", "config"), a.config(r))
		if r.IntN(2) == 0 {
			if os.Rename(filepath.Join(inner, ".git"), filepath.Join(a.root, "kept")) == nil {
				put(a.t, inner, ".git", "gitdir: ../kept\n")
			}
		}
	case 7: // objects and hooks of another repository
		put(a.t, git, "objects/info/alternates", a.outside+"\n")
		put(a.t, git, "hooks/"+pick(r, []string{"post-index-change", "pre-commit", "fsmonitor-watchman"}), "#!/bin/sh\n"+a.canary+"\n")
	case 8:
		put(a.t, a.root, ".gitattributes", "* "+pick(r, []string{"filter=lfs", "filter=x", "diff=x", "text", "-diff merge=x"})+"\n")
		addTo(a.t, filepath.Join(git, "config"), a.config(r))
	}
}

// config returns configuration that tries to run the canary, or to lead outside, in one of the
// spellings that git accepts.
func (a *arena) config(r *rand.Rand) string {
	c := a.canary
	key := pick(r, []string{
		"[core]\nfsmonitor = " + c, "[core] fsmonitor = \"" + c + "\"", "[CORE]\n\tfsMonitor=" + c, "[core]\nfsmonitor = \\\n" + c, "[core]\nfsmonitor = tr\\\nue", "[core]\nfsmonitor", "[core]\nfsmonitor = true",
		"[filter \"lfs\"]\nclean = \"git-lfs clean -- %f; " + c + "\"\nrequired", "[filter \"x\"]\nprocess = " + c, "[filter \"lfs\"]\nclean = git-lfs clean -- %f", "[diff \"x\"]\ntextconv = " + c, "[diff \"x]\"]\ncommand = " + c,
		"[diff]\nexternal = " + c, "[core]\npager = " + c, "[core]\nhooksPath = bin", "[core]\nsshCommand = " + c, "[include]\npath = ../list", "[includeIf \"gitdir:**\"]\npath = " + a.outside + "/x",
		"[log]\nshowSignature", "[gpg]\nprogram = " + c, "[format]\npretty = %G?", "[pretty]\nx = %+GS", "[alias]\nstatus = !" + c, "[core]\nworktree = " + a.outside, "[blame]\nignoreRevsFile = " + a.outside + "/secret",
		"[core]\nexcludesFile = " + a.outside + "/x", "[mailmap]\nfile = " + a.outside + "/secret", "[extensions]\npartialClone = o\n[remote \"o\"]\nurl = ext::" + c + "\npromisor", "[merge \"x\"]\ndriver = " + c,
		"[status]\nsubmoduleSummary", "[diff]\norderFile = " + a.outside + "/x", "[credential]\nhelper = " + c, "[pager]\nlog = " + c, "[core]\nattributesFile = " + a.outside + "/x", "[uploadpack]\npackObjectsHook = " + c,
		"[extensions]\nworktreeConfig = true\n[core]\nrepositoryformatversion = 1", "[core]\nalternateRefsCommand = " + c, "[interactive]\ndiffFilter = " + c, "[user]\nname = n", "[submodule \"inner\"]\nignore = none",
	})
	switch r.IntN(6) {
	case 0:
		key = "# \\\n" + key
	case 1:
		key = strings.ReplaceAll(key, "\n", "\r\n")
	case 2:
		key = "[a] b = \"x \\\n" + "\" ; \\\n" + key
	case 3:
		key = "[a \"\\\"]\"]c=d # [\n" + key
	}
	return "\n" + key + pick(r, []string{"\n", "", " # x\n", " ; \\\n", "\n[a]\n"})
}

// line returns a command of a vouched program: flags from its help, with values attached or
// separate, and files inside and outside.
func (a *arena) line(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return a.spelled(r, pick(r, spelledPrograms()))
	}
	program := pick(r, vouchedPrograms())
	if r.IntN(3) == 0 {
		program = "git"
	}
	words := []string{program}
	if program == "git" {
		words = append(words, pick(r, strings.Fields("status status log diff show blame grep ls-files for-each-ref branch tag describe shortlog cat-file rev-parse stash config whatchanged range-diff check-ignore check-attr count-objects reflog worktree remote diff-files diff-index ls-tree cherry annotate")))
	}
	files := strings.Fields("a.go f sub/c.go sub . secrets/key .env list HEAD HEAD:a.go HEAD:.env HEAD~1 -- out/secret o/x key ../outside/secret ~/.ssh/id $HOME/notes *.go 1 2 x foo =x %G? %+G? '*' /dev/null * ke* [ak]* ?words -? b? su*")
	files = append(files, a.outside+"/secret", a.outside, "@"+a.outside+"/secret", "a.go:"+a.outside+"/secret", "x="+a.outside+"/secret", "--format=%+G?", "'% GK'")
	for range r.IntN(5) {
		flags := a.flags[program]
		switch {
		case len(flags) == 0 || r.IntN(2) == 0:
			words = append(words, pick(r, files))
		default:
			flag := pick(r, flags)
			value := pick(r, files)
			switch r.IntN(6) {
			case 0:
				flag += "=" + value
			case 1:
				flag += value
			case 2:
				flag += " " + value
			case 3:
				if len(flag) == 2 { // a cluster
					other := pick(r, flags)
					if len(other) == 2 {
						flag += other[1:]
					}
					flag += value
				}
			case 4:
				if len(flag) > 5 {
					flag = flag[:len(flag)-r.IntN(3)]
				}
			}
			words = append(words, flag)
		}
	}
	line := strings.Join(words, " ")
	if r.IntN(8) == 0 {
		line = pick(r, []string{"cd sub && ", "cat a.go | ", "for f in a.go key; do ", "! ", "{ "}) + line
		switch {
		case strings.HasPrefix(line, "for"):
			line += "; done"
		case strings.HasPrefix(line, "{"):
			line += "; } < " + pick(r, files)
		}
	}
	return line
}
