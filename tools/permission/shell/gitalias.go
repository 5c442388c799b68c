package shell

import (
	"slices"
	"strings"
)

// meant returns what a git command means besides its literal words: the everyday command that a plumbing
// command does the work of, and the expansion of an alias.
func (a *analysis) meant(words []word) (out [][]word) {
	args := skipGlobal(words[1:])
	if len(args) == 0 || args[0].dynamic {
		return nil
	}
	sub, rest := args[0].text, args[1:]
	git := func(first ...word) []word { return append(append([]word{static("git")}, first...), rest...) }
	switch sub {
	case "send-pack", "http-push":
		out = append(out, git(static("push")))
	case "fetch-pack", "http-fetch":
		out = append(out, git(static("fetch")))
	case "pull":
		out = append(out, git(static("fetch")))
	case "remote":
		if len(rest) > 0 && rest[0].text == "update" {
			out = append(out, []word{static("git"), static("fetch")})
		}
	}
	if a.Alias == nil || slices.Contains(gitCommands(), sub) {
		return out
	}
	return append(out, a.expanded(sub, rest, maxInner)...)
}

// expanded returns the expansions of an alias in each folder where it may be used.
func (a *analysis) expanded(sub string, rest []word, depth int) (out [][]word) {
	for _, dir := range a.dirs {
		text := a.Alias(dir, sub)
		if text == "" || depth == 0 {
			continue
		}
		shell, runs := strings.CutPrefix(text, "!")
		if !runs {
			shell = "git " + text
		}
		at := a.Scene
		at.Dir, at.Alias = dir, nil
		line := Analyse(shell, at)
		if line.Opaque {
			out = append(out, []word{{dynamic: true}})
		}
		for i, c := range line.Commands {
			words := c.words
			if i == len(line.Commands)-1 {
				words = append(slices.Clone(words), rest...)
			}
			out = append(append(out, words), c.later...)
			if len(words) > 1 && !runs {
				out = append(out, a.expanded(words[1].text, words[2:], depth-1)...)
			}
		}
	}
	return out
}

// gitCommands are git's own commands, which no alias can replace.
func gitCommands() []string {
	return strings.Fields("add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap checkout cherry cherry-pick clean clone commit config " +
		"count-objects describe diff diff-files diff-index diff-tree difftool fetch fetch-pack filter-branch for-each-ref format-patch fsck gc grep hash-object help init log ls-files " +
		"ls-remote ls-tree maintenance merge merge-base merge-tree mergetool mv name-rev notes pull push range-diff read-tree rebase reflog remote repack reset restore rev-list rev-parse " +
		"revert rm send-pack shortlog show show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref version whatchanged worktree")
}
