package taskscli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"jcode/cli/tasklist"
	"jcode/internal/paths"
	"jcode/internal/worktree"
	"jcode/tasks"
	"jcode/tasks/clone"
	"jcode/tools"
)

// errNoMode says that a task's mode must be named.
var errNoMode = errors.New("there is no sandbox here in which commands could run without asking: name the mode with --mode, such as edits")

// forms complete what people say of tasks.
type forms struct {
	std   Setup
	now   time.Time
	push  string           // the remote that results are pushed to, "" for none
	known map[string]where // by folder, or by address and base

	repeats bool // they are for schedules
}

// where is a folder in which a task can work.
type where struct {
	root, base string
	confined   bool
}

// complete fills in what a task does not say, and checks what it says.
func (t *forms) complete(ctx context.Context, line tasklist.Line) (n tasks.New, err error) {
	n = line.New
	var place where
	if n.Repo != "" {
		place, err = t.address(ctx, n.Repo, line.Base)
	} else if line.Base != "" {
		err = errors.New("a base is for tasks of an address (--repo): those in a folder begin with its last commit")
	} else {
		place, err = t.place(ctx, n.Folder)
	}
	if err != nil {
		return n, err
	}
	n.Base, n.Push = place.base, t.push
	if n.Repo == "" {
		n.Folder = place.root
	}
	named := n.Mode
	n.Mode = t.std.Given.Mode
	if n.Mode == "" && place.confined {
		n.Mode = string(tools.ModeAuto)
	}
	if named != "" { // a file may be more careful than the command line, not bolder
		if _, err := tools.ParseMode(named); err != nil {
			return n, err
		}
		if n.Mode == "" || tasklist.Bolder(named, n.Mode) {
			return n, fmt.Errorf("mode %s allows more than the command line does: say --mode %s there if you want that", named, named)
		}
		n.Mode = named
	}
	if n.Mode == "" {
		return n, errNoMode
	}
	if _, err := tools.ParseMode(n.Mode); err != nil {
		return n, fmt.Errorf("--mode: %w", err)
	}
	n.Role, n.Model = cmp.Or(n.Role, t.std.Given.Role), cmp.Or(n.Model, t.std.Given.Model)
	if script, ok := strings.CutPrefix(n.Model, "replay:"); ok {
		if script, err = filepath.Abs(script); err != nil {
			return n, err
		}
		n.Model = "replay:" + script
	}
	n.MaxSteps, n.MaxCost = cmp.Or(n.MaxSteps, t.std.Given.MaxSteps), cmp.Or(n.MaxCost, t.std.Given.MaxCost)
	if line.At != "" {
		if n.NotBefore, err = tasklist.At(line.At, t.now); err != nil {
			return n, fmt.Errorf("at: %w", err)
		}
	}
	if line.MaxTime != "" {
		if n.MaxTime, err = time.ParseDuration(line.MaxTime); err != nil || n.MaxTime < time.Second {
			return n, fmt.Errorf("max_time: %q is no time such as 30m", line.MaxTime)
		}
	}
	return n, nil
}

// place looks at a folder, "" for this one.
func (t *forms) place(ctx context.Context, folder string) (where, error) {
	folder, err := paths.Resolve(cmp.Or(folder, "."))
	if err != nil {
		return where{}, err
	}
	if p, ok := t.known[folder]; ok {
		return p, nil
	}
	c, err := t.std.Open(ctx, folder)
	if err != nil {
		return where{}, err
	}
	defer c.Close()
	base, err := worktree.Head(ctx, c.Git, c.Root)
	if err != nil {
		return where{}, fmt.Errorf("a task needs a git repository with a commit: %w", err)
	}
	if t.push != "" {
		if err := worktree.Remote(ctx, c.Git, c.Root, t.push); err != nil {
			return where{}, fmt.Errorf("--push: %w", err)
		}
	}
	p := where{c.Root, base, c.Confined}
	if t.known == nil {
		t.known = map[string]where{}
	}
	t.known[folder] = p
	return p, nil
}

// address looks at a repository by its address of git. Its host is asked which commit the base is now; a schedule asks
// each time.
func (t *forms) address(ctx context.Context, repo, base string) (p where, err error) {
	if err := clone.Check(repo); err != nil {
		return p, fmt.Errorf("--repo: %w", err)
	}
	if t.push != "" && t.push != "origin" {
		return p, fmt.Errorf("--push: the repository of an address has one remote, origin, not %q", t.push)
	}
	known := repo + " " + base
	if p, ok := t.known[known]; ok {
		return p, nil
	}
	found, err := t.std.Paths()
	if err != nil {
		return p, err
	}
	c, err := t.std.Open(ctx, "")
	if err != nil {
		return p, err
	}
	defer c.Close()
	p.confined = c.Confined
	if p.base = base; !t.repeats {
		if p.base, err = clone.In(found.Data).Commit(ctx, repo, base); errors.Is(err, clone.ErrUnreachable) {
			err = fmt.Errorf("%w. Where only workers have access, name the whole commit: --base 40HEXDIGITS asks nobody", err)
		}
	} else if base != "" && !clone.IsCommit(base) {
		err = clone.CheckRef(base)
	}
	if err != nil {
		return p, fmt.Errorf("--repo: %w", err)
	}
	if t.known == nil {
		t.known = map[string]where{}
	}
	t.known[known] = p
	return p, nil
}
