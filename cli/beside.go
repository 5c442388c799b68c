package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tools"
)

// beside is the worktree in which the person's own session works, with an app of its own; see agentSite. In the
// checkout's app nothing runs meanwhile.
type beside struct {
	*agentSite
	root  string // of the checkout
	store *session.Store
	out   io.Writer // where the person is told what stays
}

// standing is where the person's session works. The zero value is the checkout itself.
type standing struct {
	name, dir, branch string // of the worktree
	root, cwd         string // of the checkout: its root, and the folder in it where jcode was started
	// settled reports whether nothing of the worktree would be lost with it, and what would.
	settled func(ctx context.Context) (done bool, left string, err error)
	// merge takes the changes of the worktree to the checkout, for a session.
	merge func(ctx context.Context, id string) (string, error)
}

// besideSuffix ends the name of the folder of a project's worktrees that are those of sessions.
const besideSuffix = "-sessions"

// besidesOf returns the folder of the worktrees of this project's own sessions.
func besidesOf(a *app) string { return besidesIn(a.paths.Data, a.project) }

func besidesIn(data, project string) string {
	return filepath.Join(data, "worktrees", project+besideSuffix)
}

// treeOf returns the name of the worktree that a folder lies in, "" for none.
func treeOf(a *app, dir string) string {
	rel, err := filepath.Rel(besidesOf(a), dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	name, _, _ := strings.Cut(rel, string(filepath.Separator))
	return name
}

// isTreeName reports whether a word can be the name of a worktree.
func isTreeName(word string) bool {
	_, err := besideName(word, "")
	return word != "" && err == nil
}

// besideName returns a name for a worktree, as the person gave it or from how a prompt begins.
func besideName(given, prompt string) (string, error) {
	if given != "" {
		for _, r := range given {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r) {
				return "", console.Usage("a worktree's name has letters, digits and - _ . only, not %q: a prompt goes into quotes behind it, or behind --", given)
			}
		}
		if strings.Trim(given, "-_.") != given || strings.Contains(given, "..") || strings.HasSuffix(given, ".lock") || len(given) > 60 {
			return "", console.Usage("%q is no name for a branch: take one like fix-parser", given)
		}
		return given, nil
	}
	var words []string
	for _, word := range strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if len(words) == 5 || len(strings.Join(append(words, word), "-")) > 40 {
			break
		}
		words = append(words, word)
	}
	return cmp.Or(strings.Join(words, "-"), "session"), nil
}

// moveError ends a chat that goes on in another folder of the project.
type moveError struct {
	session string // "" if nothing of it is kept yet
	tree    string // the name of the worktree; "" is the checkout
	carry   bool   // what is not committed comes along
	mode    string
	model   string
}

func (e *moveError) Error() string {
	return "the session goes on in " + cmp.Or(e.tree, "the checkout")
}

// standBeside returns the app in which the session of the command line works: this one or, with --worktree and for a
// session that was in one, that of a worktree. The caller calls done when the session has ended.
func standBeside(ctx context.Context, a *app, words []string) (at *app, done func(), err error) {
	id, err := continued(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	if a.flags.Worktree == "" {
		return a, func() {}, nil
	}
	if a.privateNow() {
		return nil, nil, console.Usage("%w, worktrees included: leave --worktree out", core.ErrPrivate)
	}
	given, fresh := strings.CutPrefix(a.flags.Worktree, anyTree)
	name, err := besideName(given, strings.Join(words, " "))
	if err != nil {
		return nil, nil, err
	}
	b, err := openBeside(ctx, a, name, !fresh, a.flags.Carry)
	if err != nil {
		return nil, nil, console.Usage("%w", err)
	}
	if id != "" && !a.flags.Fork {
		if err := a.store.Update(ctx, id, session.Change{Cwd: &b.app.cwd}); err != nil {
			return nil, nil, console.Usage("%w", errors.Join(err, b.end(ctx)))
		}
		b.app.board.Tell("The session works in the git worktree " + b.tree.Dir + " now, a copy of " + a.root + ": paths that were read before mean the files there.")
	}
	b.app.beside = standing{b.name, b.tree.Dir, b.tree.Branch, a.root, a.cwd, b.settled, b.merge}
	return b.app, func() {
		if err := b.end(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(a.std.Err, "jcode: worktree:", err)
		}
	}, nil
}

// goElsewhere leaves the chat for a session that works in another folder of the project than this app.
func goElsewhere(a *app, row session.Session, leave context.CancelCauseFunc) error {
	tree := treeOf(a, row.Cwd)
	if a.beside.name == tree || a.models.Plays() {
		return nil
	}
	to := &moveError{session: row.ID, tree: tree, mode: string(a.mode)}
	if conv := a.board.Open(); conv != nil {
		to.mode, to.model = string(conv.Mode()), conv.OwnModel()
	}
	leave(to)
	return to
}

// continued returns the ID of the session that the command line continues, and takes over the worktree that it was in.
func continued(ctx context.Context, a *app) (id string, err error) {
	var row session.Session
	switch {
	case a.flags.Resume != "" && a.flags.Resume != pickSession:
		row, err = a.store.Find(ctx, a.project, a.flags.Resume)
	case a.flags.Continue, a.config.Prelude.Session == "continue" && !a.flags.Print && a.flags.Resume == "":
		row, err = a.store.Latest(ctx, a.project)
	}
	if err != nil {
		return "", nil //nolint:nilerr // whoever resumes it says what is wrong
	}
	if tree := treeOf(a, row.Cwd); tree != "" && a.flags.Worktree == "" {
		a.flags.Worktree = tree
	}
	return row.ID, nil
}

// openBeside opens the worktree with a name, which is made if there is none. A name that was chosen for the person gets
// a number if it is taken.
func openBeside(ctx context.Context, a *app, name string, reopen, carry bool) (*beside, error) {
	dir := filepath.Join(besidesOf(a), name)
	var tree worktree.Tree
	var err error
	if _, there := os.Lstat(dir); there == nil && reopen {
		if tree, err = worktree.Find(ctx, a.git, a.root, dir); err == nil {
			tree.Copied, tree.Shared = a.config.Worktree.Copy, a.flags.AddDir
			tree, err = worktree.Reopen(ctx, tree)
		}
		if err == nil {
			err = tree.Ready(ctx)
		}
		if err == nil && carry {
			a.board.Say(event.LevelWarn, "the worktree %s is there already: what is not committed here was not taken along", name)
		}
	} else {
		dir, branch := freePlace(ctx, a, besidesOf(a), name)
		tree, err = worktree.Add(ctx, worktree.Options{
			Git: a.git, Root: a.root, Dir: dir, Branch: branch, Uncommitted: carry, Copy: a.config.Worktree.Copy, Shared: a.flags.AddDir,
		})
	}
	if err != nil {
		return nil, err
	}
	name = filepath.Base(tree.Dir)
	f := *a.flags
	site, err := openTree(ctx, a, name, tree, &f, false)
	if err != nil {
		return nil, err
	}
	b := &beside{site, a.root, a.store, a.std.Err}
	site.app.board.Say(event.LevelInfo, "this session works in the worktree %s (branch %s): /worktree merge takes its changes to %s, /worktree leave goes back there", name, tree.Branch, text.Visible(a.root))
	return b, nil
}

// end closes the worktree's app. A worktree without changes, or whose changes are all merged, is removed; of another
// one the person is told where it is.
func (b *beside) end(ctx context.Context) error {
	b.Close()
	done, left, err := b.settled(ctx)
	if err != nil {
		return err
	}
	if done {
		return b.Remove(ctx)
	}
	fmt.Fprintf(b.out, "jcode: the worktree %s stays for %s: jcode -w=%s works in it, /worktree merge there takes them to %s\n", b.name, left, b.name, text.Visible(b.root))
	return nil
}

// settled reports whether nothing of the worktree would be lost with it, and what would.
func (b *beside) settled(ctx context.Context) (done bool, left string, err error) {
	work, err := b.tree.Work(ctx)
	if err != nil || work.None() {
		return err == nil, "", err
	}
	steps, _, err := b.steps(ctx)
	switch {
	case err != nil || len(steps) > 0:
		return false, "changes of " + text.Count(len(work.Changes), "file"), nil //nolint:nilerr // a conflict: it is not merged
	case len(work.Left) > 0:
		return false, strings.Join(work.Left[:min(3, len(work.Left))], ", "), nil
	}
	left = b.tree.Commits(ctx)
	return left == "", left, nil
}

// merge takes the changes to the checkout, where an undo of the session takes them back.
func (b *beside) merge(ctx context.Context, id string) (string, error) {
	turn := 0
	if id != "" {
		var err error
		if turn, err = b.store.Checkpoints().Begin(ctx, id, "/worktree merge"); err != nil {
			return "", err
		}
	}
	said, left, err := b.Merge(ctx, tools.Call{Name: "worktree", Caller: tools.Caller{Session: id, Turn: turn, Origin: tools.OriginPerson}})
	if err != nil {
		return "", err
	}
	for _, what := range left {
		said += "\nnot merged: " + what
	}
	return strings.Replace(said, "Merged ", "Merged into "+paths.Real(b.root)+": ", 1), err
}
