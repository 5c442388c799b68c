package sandbox

import "fmt"

// Gap names protected files that the sandbox does not keep, because a limit of the search for them is reached.
type Gap struct {
	Text   string // what is not kept
	Advice string // what the person can do
}

// foldersGap is the gap of a workspace with more folders than are searched.
func foldersGap(most int) Gap {
	return Gap{
		fmt.Sprintf("the project has more than %d folders: those further down are not searched for protected files (git's hooks and configuration, .jcode, .claude, .agents). There such files are not locked for commands, and changes to them are not reported", most),
		"start jcode in the part that you work on, or name these files in sandbox.protect in config.json",
	}
}

// gitGap is the gap of a repository with more submodules or worktrees than are looked at.
func gitGap(dir string) Gap {
	return Gap{
		fmt.Sprintf("%s has more than %d hooks folders and configuration files of submodules or worktrees: the others are not locked for commands, and changes to them are not reported", dir, maxProtected),
		"name those that matter in sandbox.protect in config.json, such as .git/modules/NAME/hooks",
	}
}

// patternGap is the gap of a pattern in sandbox.protect.
func patternGap(pattern string) Gap {
	return Gap{
		fmt.Sprintf("%q in sandbox.protect matches more than %d files: the others are not locked for commands, and changes to them are not reported", pattern, maxProtected),
		"use several patterns that match less each",
	}
}

// lockedGap is the gap of a workspace with more protected files than are locked.
func lockedGap() Gap {
	return Gap{
		fmt.Sprintf("the project has more than %d protected files: changes to the others are reported after a command, not prevented", maxLocked),
		"start jcode in the part that you work on",
	}
}

// OnGap has tell called with each gap once, when a command meets it first. It is called before the first command.
func (b *Box) OnGap(tell func(Gap)) { b.gap = tell }

// Gaps searches the workspace and returns what the sandbox does not keep there.
func (b *Box) Gaps() []Gap {
	policy := b.policy()
	found := policy.steering(&b.index)
	return b.gaps(found, policy.order(b.probed().Shields, found.paths, nil, Program{}))
}

// gaps returns the gaps of a search, and that of the order that was made with its result.
func (b *Box) gaps(found found, o order) []Gap {
	if o.full && b.probed().Shields {
		return append(found.gaps, lockedGap())
	}
	return found.gaps
}

// tell reports each gap once.
func (b *Box) tell(gaps []Gap) {
	if b.gap == nil {
		return
	}
	for _, g := range gaps {
		if _, told := b.told.LoadOrStore(g, true); !told {
			b.gap(g)
		}
	}
}
