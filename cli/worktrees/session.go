package worktreescli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tools"
)

// SessionTree is the worktree in which the person's own session works. In the checkout nothing runs meanwhile.
type SessionTree struct {
	*Site
	Begin func(ctx context.Context, session, what string) (turn int, err error) // of changes that an undo reverts
	Out   io.Writer                                                             // where the person is told what stays
}

// Place returns where the session works.
func (b *SessionTree) Place() Place {
	return Place{b.Name, b.Tree.Dir, b.Tree.Branch, b.checkout.Root, b.checkout.Cwd, b.settled, b.mergeFor}
}

// Place is where the person's session works. The zero value is the checkout itself.
type Place struct {
	Name, Dir, Branch string // of the worktree
	Root, Cwd         string // of the checkout: its root, and the folder in it where jcode was started
	// Settled reports whether nothing of the worktree would be lost with it, and what would.
	Settled func(ctx context.Context) (done bool, left string, err error)
	// Merge takes the changes of the worktree to the checkout, for a session.
	Merge func(ctx context.Context, id string) (string, error)
}

// sessionSuffix ends the name of the folder of a project's worktrees that are those of sessions.
const sessionSuffix = "-sessions"

// SessionFolder returns the folder of the worktrees of a project's own sessions.
func SessionFolder(data, project string) string {
	return filepath.Join(data, "worktrees", project+sessionSuffix)
}

// NameIn returns the name of the worktree below a folder that another folder lies in, "" for none.
func NameIn(folder, dir string) string {
	rel, err := filepath.Rel(folder, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	name, _, _ := strings.Cut(rel, string(filepath.Separator))
	return name
}

// IsName reports whether a word can be the name of a worktree.
func IsName(word string) bool {
	_, err := NameFor(word, "")
	return word != "" && err == nil
}

// NameFor returns a name for a worktree, as the person gave it or from how a prompt begins.
func NameFor(given, prompt string) (string, error) {
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

// Move ends a chat that goes on in another folder of the project.
type Move struct {
	Session string // "" if nothing of it is kept yet
	Tree    string // the name of the worktree; "" is the checkout
	Carry   bool   // what is not committed comes along
	Mode    string
	Model   string
}

func (e *Move) Error() string {
	return "the session goes on in " + cmp.Or(e.Tree, "the checkout")
}

// AnyName begins the value of --worktree that means a new one; what follows it is how it may be called.
const AnyName = "?"

// SessionTrees finds and makes the worktrees of sessions.
type SessionTrees struct {
	Git    launch.Git
	Root   string // of the checkout
	Folder string // of the worktrees
	Copy   []string
	Shared []string // folders beside the checkout that are open to jcode
	Say    func(level event.Level, format string, args ...any)
}

// Find returns the worktree with a name, which is made if there is none. A name that was chosen for the person (not
// reopen) gets a number if it is taken. What is not committed comes along to a new one if it shall be carried.
func (o SessionTrees) Find(ctx context.Context, name string, reopen, carry bool) (tree worktree.Tree, err error) {
	dir := filepath.Join(o.Folder, name)
	if _, there := os.Lstat(dir); there != nil || !reopen {
		dir, branch := Free(ctx, o.Git, o.Root, o.Folder, name)
		return worktree.Add(ctx, worktree.Options{
			Git: o.Git, Root: o.Root, Dir: dir, Branch: branch, Uncommitted: carry, Copy: o.Copy, Shared: o.Shared,
		})
	}
	if tree, err = worktree.Find(ctx, o.Git, o.Root, dir); err == nil {
		tree.Copied, tree.Shared = o.Copy, o.Shared
		tree, err = worktree.Reopen(ctx, tree)
	}
	if err == nil {
		err = tree.Ready(ctx)
	}
	if err == nil && carry {
		o.Say(event.LevelWarn, "the worktree %s is there already: what is not committed here was not taken along", name)
	}
	return tree, err
}

// End closes the worktree's app. A worktree without changes, or whose changes are all merged, is removed; of another
// one the person is told where it is.
func (b *SessionTree) End(ctx context.Context) error {
	b.Close()
	done, left, err := b.settled(ctx)
	if err != nil {
		return err
	}
	if done {
		return b.Remove(ctx)
	}
	fmt.Fprintf(b.Out, "jcode: the worktree %s stays for %s: jcode -w=%s works in it, /worktree merge there takes them to %s\n", b.Name, left, b.Name, text.Visible(b.checkout.Root))
	return nil
}

// settled reports whether nothing of the worktree would be lost with it, and what would.
func (b *SessionTree) settled(ctx context.Context) (done bool, left string, err error) {
	work, err := b.Tree.Work(ctx)
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
	left = b.Tree.Commits(ctx)
	return left == "", left, nil
}

// mergeFor takes the changes to the checkout, where an undo of the session takes them back.
func (b *SessionTree) mergeFor(ctx context.Context, id string) (string, error) {
	turn := 0
	if id != "" {
		var err error
		if turn, err = b.Begin(ctx, id, "/worktree merge"); err != nil {
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
	return strings.Replace(said, "Merged ", "Merged into "+paths.Real(b.checkout.Root)+": ", 1), err
}
