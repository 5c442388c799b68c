package shell

import (
	"slices"
	"strings"

	"jcode/tools/permission/repository"
)

// git says why a git command is not vouched for. Flags matter as much as the subcommand: `git branch` lists,
// `git branch -D main` deletes.
func git(words []word) string {
	args := words[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch args[0].text {
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects":
			args = args[1:]
			continue
		case "--version":
			if len(args) == 1 {
				return ""
			}
		}
		return "git with " + args[0].text + " may act elsewhere, or run what it is configured for"
	}
	if len(args) == 0 {
		return ""
	}
	sub, rest := args[0].text, args[1:]
	texts := make([]string, len(rest))
	for i, w := range rest {
		texts[i] = w.text
		if repository.AsksForSignature(w.text) {
			return "git runs gpg to look at signatures"
		}
	}
	if gitReads(sub, rest, texts) {
		return ""
	}
	return "git " + sub + " with these arguments is not known to only read"
}

// gitReads reports whether a subcommand only reads with these arguments.
func gitReads(sub string, args []word, texts []string) bool {
	row, known := gitTable(sub)
	if !known || row.forms != nil && !row.forms(args, texts) {
		return false
	}
	return row.prints || !gitWrites(args) && !hasFlag(args, row.letters, row.flags...)
}

// gitRow is a subcommand of git that only reads under some conditions.
type gitRow struct {
	letters string   // flags of one letter with which it does more
	flags   []string // longer ones
	forms   func(args []word, texts []string) bool
	prints  bool // forms decides alone: it has no flags that write
}

// gitTable holds these subcommands.
func gitTable(sub string) (row gitRow, known bool) {
	switch sub {
	case "status", "ls-tree", "rev-parse", "cat-file", "show-ref", "for-each-ref", "merge-base", "name-rev", "count-objects", "check-ignore",
		"blame", "annotate", "shortlog", "version", "ls-files", "check-attr", "cherry", "range-diff":
		// A per-folder file may be a link in one of them.
		return gitRow{flags: []string{"--textconv", "--filters", "--exclude-per-directory"}}, true
	case "describe": // which refreshes the index
		return gitRow{flags: []string{"--dirty", "--broken"}}, true
	case "log", "show", "diff", "rev-list", "whatchanged", "diff-tree", "diff-files", "diff-index":
		return gitRow{flags: []string{"--ext-diff", "--textconv"}}, true
	case "grep":
		return gitRow{letters: "O", flags: []string{"--open-files-in-pager", "--textconv"}}, true
	case "branch", "tag", "remote", "worktree", "config":
		return gitRow{prints: true, forms: gitForms(sub)}, true
	case "stash":
		return gitRow{flags: []string{"--ext-diff", "--textconv"}, forms: gitForms(sub)}, true
	case "reflog":
		return gitRow{forms: gitForms(sub)}, true
	}
	return gitRow{}, false
}

// gitForms returns which arguments a subcommand that can do many things may have.
func gitForms(sub string) func(args []word, texts []string) bool {
	switch sub {
	case "branch":
		return func(_ []word, texts []string) bool {
			return listing(texts, []string{"-a", "-r", "-v", "-vv", "--all", "--remotes", "--verbose", "--show-current", "--no-color", "--no-column"},
				[]string{"--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}, []string{"--sort=", "--format=", "--contains=", "--merged="})
		}
	case "tag":
		return func(_ []word, texts []string) bool {
			return listing(texts, []string{"-l", "-n"}, []string{"-l", "--list", "--contains", "--merged", "--points-at"}, []string{"--sort=", "--format=", "-n"})
		}
	case "remote":
		return func(_ []word, texts []string) bool {
			return len(texts) == 0 || slices.Equal(texts, []string{"-v"}) || len(texts) == 2 && texts[0] == "get-url" && !strings.HasPrefix(texts[1], "-")
		}
	case "worktree":
		return func(_ []word, texts []string) bool {
			return slices.Equal(texts, []string{"list"}) || slices.Equal(texts, []string{"list", "--porcelain"})
		}
	case "stash":
		return func(_ []word, texts []string) bool {
			return len(texts) > 0 && (texts[0] == "list" || texts[0] == "show")
		}
	case "reflog":
		return func(_ []word, texts []string) bool { return len(texts) == 0 || texts[0] == "show" || flagsOnly(texts) }
	}
	return gitConfigReads
}

// gitConfigReads reports whether git config prints one setting that holds no secret.
func gitConfigReads(args []word, texts []string) bool {
	return len(texts) == 2 && (texts[0] == "--get" || texts[0] == "--get-all") && harmlessKey(texts[1]) && !hasFlag(args, "f", "--file", "--blob")
}

// flagsOnly reports whether all words are flags, with values in the same word.
func flagsOnly(texts []string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return !strings.HasPrefix(s, "-") })
}

// gitPrints reports whether a git command may print the contents of files, rather than their names and the
// messages of commits.
func gitPrints(args []word) bool {
	args = skipGlobal(args)
	if len(args) == 0 {
		return false
	}
	switch args[0].text {
	case "diff", "show", "grep", "cat-file", "blame", "annotate", "range-diff", "diff-tree", "diff-files", "diff-index", "whatchanged", "stash":
		return true
	case "status":
		return hasFlag(args[1:], "v", "--verbose")
	case "log", "rev-list", "reflog":
		return hasFlag(args[1:], "pucmUSGLW") || slices.ContainsFunc(args[1:], func(w word) bool { return strings.HasPrefix(w.text, "--") && !tellsOfCommits(w.text) })
	}
	return false
}

// tellsOfCommits reports whether a long flag of git log selects commits, or prints names, numbers and
// messages: an unknown one may print lines of files (--patch, --check).
func tellsOfCommits(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	switch name {
	case "", "abbrev", "abbrev-commit", "after", "all", "all-match", "ancestry-path", "author", "author-date-order", "basic-regexp", "before", "bisect", "boundary", "branches",
		"cherry", "cherry-mark", "cherry-pick", "children", "clear-decorations", "color", "committer", "count", "cumulative", "date", "date-order", "decorate", "decorate-refs",
		"decorate-refs-exclude", "dense", "diff-filter", "dirstat", "disk-usage", "encoding", "exclude", "exclude-first-parent-only", "expand-tabs", "extended-regexp", "find-copies",
		"find-copies-harder", "find-object", "find-renames", "first-parent", "fixed-strings", "follow", "format", "full-history", "glob", "graph", "grep", "grep-reflog",
		"ignore-missing", "invert-grep", "left-only", "left-right", "log-size", "mailmap", "max-count", "max-parents", "merge", "merges", "min-parents", "name-only", "name-status",
		"no-abbrev", "no-abbrev-commit", "no-color", "no-decorate", "no-expand-tabs", "no-ext-diff", "no-mailmap", "no-max-parents", "no-merges", "no-min-parents", "no-notes", "no-patch",
		"no-renames", "no-textconv", "no-use-mailmap", "no-walk", "not", "notes", "numstat", "objects", "oneline", "parents", "perl-regexp", "pretty", "quiet", "raw", "reflog",
		"regexp-ignore-case", "relative", "relative-date", "remotes", "remove-empty", "reverse", "right-only", "shortstat", "show-notes", "show-pulls", "since", "skip",
		"simplify-by-decoration", "simplify-merges", "single-worktree", "source", "sparse", "stat", "stat-count", "stat-graph-width", "stat-name-width", "stat-width", "compact-summary",
		"summary", "tags", "timestamp", "topo-order", "until", "use-mailmap", "walk-reflogs", "show-linear-break", "no-commit-header", "commit-header", "header":
		return true
	}
	return false
}

// configured returns the files that a git command writes settings to: they steer git as its hooks do, and no
// word names them.
func (a *analysis) configured(args []word) (out []string) {
	args = skipGlobal(args)
	if len(args) == 0 || args[0].text != "config" {
		return nil
	}
	args = args[1:]
	values := 0
	for _, w := range args {
		if !strings.HasPrefix(w.text, "-") {
			values++
		}
	}
	if values < 2 && !hasFlag(args, "e", "--edit", "--add", "--unset", "--unset-all", "--replace-all", "--rename-section", "--remove-section") {
		return nil // it only reads a setting
	}
	if hasFlag(args, "", "--global") {
		return []string{a.disk.real(a.Places.Home() + "/.gitconfig"), a.disk.real(a.Places.Home() + "/.config/git/config")}
	}
	for _, dir := range a.dirs {
		if dir != "" {
			out = append(out, a.disk.real(dir+"/.git/config"))
		}
	}
	return out
}

// skipGlobal skips the flags before git's subcommand.
func skipGlobal(args []word) []word {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch flag := args[0].text; flag {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path":
			args = args[min(2, len(args)):]
		default:
			args = args[1:]
		}
	}
	return args
}

// harmlessKey reports whether a setting holds no secret: settings of the person's own configuration, outside
// the workspace, may.
func harmlessKey(key string) bool {
	section, _, _ := strings.Cut(strings.ToLower(key), ".")
	switch section {
	case "user", "init", "core", "branch", "pull", "push", "merge", "rebase", "fetch", "diff", "color":
		return true
	}
	return false
}

// gitWrites recognises the flag with which many subcommands write their output to a file, in all
// abbreviations that git accepts, and those that make git run gpg or repeat a merge.
func gitWrites(args []word) bool {
	if hasFlag(args, "", "--show-signature", "--remerge-diff", "--diff-merges") {
		return true
	}
	for _, w := range args {
		name, _, _ := strings.Cut(w.text, "=")
		if len(name) > 2 && strings.HasPrefix("--output", name) {
			return true
		}
	}
	return false
}

// listing allows flags that never take a value, flags that take one and switch to a list, and flags that
// contain their value. Other words are only allowed in a list.
func listing(args, plain, lists, prefixes []string) bool {
	inList := slices.ContainsFunc(args, func(s string) bool { return slices.Contains(lists, s) })
	for _, s := range args {
		switch {
		case slices.Contains(plain, s) || slices.Contains(lists, s):
		case slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) }):
		case !strings.HasPrefix(s, "-") && inList:
		default:
			return false
		}
	}
	return true
}
