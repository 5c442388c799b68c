package agentscli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"jcode/agent/crew"
	"jcode/agent/roster"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/cli/usage"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/launch"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
)

// Actions are the actions of a person on sub-agents: the panel and the words of /agents.
type Actions struct {
	Board         *board.Board
	Store         *session.Store
	Definitions   Definitions
	Project, Root string
	Git           launch.Git
	Worktrees     string          // the folder of this project's worktrees
	Copied        func() []string // the setting worktree.copy
}

// Panel returns the live view of the sub-agents.
func (a Actions) Panel() command.Panel {
	act := func(do func(ctx context.Context, name string) (string, error)) func(context.Context, command.Row) (string, error) {
		return func(ctx context.Context, row command.Row) (string, error) {
			if err := atWork(row); err != nil {
				return "", err
			}
			return do(ctx, row.ID)
		}
	}
	return command.Panel{
		Name: "agents", Help: "sub-agents: look at one, stop, merge, discard; definitions of agents", Title: "Agents", Live: true,
		Verbs: a.verbs(),
		Empty: "No agents. The model starts one with the tool task and background; ask it to. /agents new defines one.",
		Rows: func(ctx context.Context) ([]command.Row, error) {
			rows, err := a.rows(ctx)
			return append(rows, a.Definitions.rows(ctx)...), err
		},
		Actions: []command.Action{
			{Label: "resume", Run: act(a.resumeAgent)},
			{Key: "ctrl+d", Label: "stop", Confirm: true, Run: act(a.stopAgent)},
			{Key: "ctrl+e", Label: "merge", Confirm: true, Run: act(a.merge)},
			{Key: "ctrl+x", Label: "discard", Confirm: true, Run: act(a.discardAgent)},
			{Key: "ctrl+o", Label: "edit", Edit: a.Definitions.toEdit, Edited: a.Definitions.edited},
		},
	}
}

// rows returns the agents of the open conversation, and the sessions of other processes.
func (a Actions) rows(ctx context.Context) ([]command.Row, error) {
	claims, err := a.Store.Edits().Claims(ctx, "", "")
	if err != nil {
		return nil, err
	}
	var rows []command.Row
	if conv := a.Board.Open(); conv != nil {
		for _, s := range slices.SortedStableFunc(slices.Values(conv.Agents().List()), roster.State.Compare) {
			row, err := a.row(ctx, s, claims, conv.Agents().Output(s.Name))
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	others, err := a.elsewhereRows(ctx, claims)
	return append(rows, others...), err
}

func (a Actions) row(ctx context.Context, s roster.State, claims []session.Editor, output string) (command.Row, error) {
	row := command.Row{ID: s.Name, Name: s.Name, Info: s.What(), Mark: string(s.Status), Current: s.Running(), Bad: s.Status == roster.Failed || s.Status == roster.Left, Tail: true}
	row.Keys = agentKeys(s)
	tokens := ""
	if s.Tokens > 0 {
		tokens = usage.Tokens(s.Tokens)
	}
	row.State = fmt.Sprintf("%s %7s", s.Took(time.Now()), tokens)
	head, dir := strings.TrimSpace(s.Role+" "+s.Model)+", session "+session.ShortID(s.Session), a.Root
	if s.Cost > 0 {
		head += ", " + text.Spent(s.Cost, s.Estimated)
	}
	if s.Dir != "" {
		if _, err := os.Stat(s.Dir); err == nil { // it is removed after a merge
			head, dir = head+", worktree "+s.Dir, s.Dir
		}
	}
	changed, err := a.changed(ctx, s.Session, dir)
	row.Head = head
	row.Detail = strings.TrimSpace(text.CutTail(output, 8000) + "\n" + strings.TrimSpace(workDetail("", a.claimed(claims, s.Session, dir), changed)))
	return row, err
}

// agentKeys returns the labels of the actions that apply to an agent now.
func agentKeys(s roster.State) []string {
	keys := []string{}
	switch {
	case s.Running():
		return append(keys, "stop")
	case s.Status == roster.Left, s.Status == roster.Stopped:
		keys = append(keys, "resume")
	}
	if s.Changed {
		keys = append(keys, "merge")
	}
	if s.Dir != "" {
		keys = append(keys, "discard")
	}
	return keys
}

// merge merges an agent's changes at the person's request: without a question, and as one change that
// /undo reverts.
func (a Actions) merge(ctx context.Context, name string) (string, error) {
	conv := a.Board.Open()
	if conv == nil {
		return "", core.ErrNoMessages
	}
	turn, err := a.Store.Checkpoints().Begin(ctx, conv.ID(), "the merge of "+name)
	if err != nil {
		return "", err
	}
	said, err := conv.Agents().Merge(ctx, tools.Call{
		ID: uuid.NewString(), Name: "agent", Caller: tools.Caller{Session: conv.ID(), Turn: turn, Origin: tools.OriginPerson},
	}, name)
	if err == nil {
		a.Board.Tell("The user merged the changes of the agent " + name + ": " + said)
	}
	return said, err
}

// verbs are the words of /agents.
func (a Actions) verbs() command.Verbs {
	const ask = "name an agent"
	return command.Verbs{
		{Name: "message", Hint: "NAME WORDS", Help: "tell an agent something", Ask: ask, Run: a.messageAgent, Complete: a.names},
		{Name: "stop", Hint: "NAME", Help: "stop an agent", Ask: ask, Run: a.stopAgent, Complete: a.names},
		{Name: "merge", Hint: "NAME", Help: "merge what an agent changed in its worktree", Ask: ask, Run: a.merge, Complete: a.names},
		{Name: "diff", Hint: "NAME", Help: "show what an agent changed in its worktree", Ask: ask, Shows: true, Run: a.diffAgent, Complete: a.names},
		{Name: "discard", Hint: "NAME", Help: "discard what an agent changed", Ask: ask, Run: a.discardAgent, Complete: a.names},
		{Name: "resume", Hint: "NAME", Help: "let an agent that was stopped go on", Ask: ask, Run: a.resumeAgent, Complete: a.names},
		{Name: "prune", Help: "remove worktrees of agents that hold no changes and are not in use", Run: func(ctx context.Context, _ string) (string, error) { return a.pruneWorktrees(ctx) }},
		{Name: "new", Hint: "[NAME]", Help: "define an agent, in a form", Run: func(ctx context.Context, name string) (string, error) {
			conv := a.Board.Open()
			if conv == nil {
				return "", core.ErrNoMessages
			}
			return a.Definitions.define(ctx, conv, name)
		}},
		{Name: "edit", Hint: "NAME", Help: "open the definition of an agent in your editor", Ask: "name a definition", Edit: a.Definitions.toOpen, Complete: a.Definitions.names},
	}
}

// names proposes agents.
func (a Actions) names(context.Context, string) []string {
	conv := a.Board.Open()
	if conv == nil {
		return nil
	}
	return slicex.Map(conv.Agents().List(), func(s roster.State) string { return s.Name })
}

// crew returns the agents of the open conversation.
func (a Actions) crew() (*crew.Crew, error) {
	conv := a.Board.Open()
	if conv == nil {
		return nil, core.ErrNoMessages
	}
	return conv.Agents(), nil
}

func (a Actions) messageAgent(ctx context.Context, words string) (string, error) {
	name, said, _ := strings.Cut(words, " ")
	agents, err := a.crew()
	if err != nil {
		return "", err
	}
	return "sent to " + name, agents.Message(ctx, name, strings.TrimSpace(said))
}

func (a Actions) stopAgent(ctx context.Context, name string) (string, error) {
	agents, err := a.crew()
	if err != nil {
		return "", err
	}
	return "stopped " + name, agents.Stop(ctx, name)
}

func (a Actions) resumeAgent(ctx context.Context, name string) (string, error) {
	agents, err := a.crew()
	if err != nil {
		return "", err
	}
	return "resumed " + name, agents.Resume(ctx, name)
}

func (a Actions) discardAgent(ctx context.Context, name string) (string, error) {
	agents, err := a.crew()
	if err != nil {
		return "", err
	}
	return "discarded the changes of " + name, agents.Discard(ctx, name)
}

func (a Actions) diffAgent(ctx context.Context, name string) (string, error) {
	agents, err := a.crew()
	if err != nil {
		return "", err
	}
	d, err := agents.Diff(ctx, name)
	if err == nil && d == "" {
		d = name + " changed nothing"
	}
	return d, err
}

// orphanAge is the age at which a worktree that belongs to no agent may be removed.
const orphanAge = time.Minute

// pruneOrphan removes a worktree that belongs to no known agent, because jcode was killed while
// creating it. A new one, or one with changes, stays.
func (a Actions) pruneOrphan(ctx context.Context, d os.DirEntry, dir string) bool {
	if info, err := d.Info(); err != nil || time.Since(info.ModTime()) < orphanAge {
		return false // another process may be creating it
	}
	tree, err := worktree.Find(ctx, a.Git, a.Root, dir)
	if err != nil {
		if errors.Is(err, worktree.ErrGone) {
			return tree.Remove(ctx) == nil
		}
		return worktree.Husk(dir) && os.RemoveAll(dir) == nil
	}
	tree.Copied = a.Copied()
	left, err := tree.Work(ctx)
	return err == nil && left.None() && tree.Remove(ctx) == nil
}

// pruneTree removes the worktree of a known agent, unless it holds changes or is in use.
func (a Actions) pruneTree(ctx context.Context, row session.Agent) (removed bool, err error) {
	hold, err := a.Store.Hold(row.Session)
	if err != nil {
		return false, nil //nolint:nilerr // the agent is working
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	tree := worktree.Tree{Git: a.Git, Root: a.Root, Dir: row.Dir, Branch: row.Branch, Base: row.Base, Copied: a.Copied()}
	switch check := tree.Check(ctx); {
	case errors.Is(check, worktree.ErrGone):
	case check != nil:
		return false, check
	default:
		if left, err := tree.Work(ctx); err != nil || !left.None() {
			return false, nil //nolint:nilerr // what can't be read may be work
		}
	}
	if err := tree.Remove(ctx); err != nil {
		return false, err
	}
	return true, a.Store.Agents().Drop(ctx, row.Session)
}

// pruneWorktrees removes the worktrees of this project's agents that hold no changes and that
// no live session uses.
func (a Actions) pruneWorktrees(ctx context.Context) (string, error) {
	rows, err := a.Store.Agents().List(ctx, "")
	if err != nil {
		return "", err
	}
	var removed, kept, failed []string
	if _, err := os.Lstat(a.Worktrees); err == nil {
		if removed, err = worktree.Repair(ctx, a.Git, a.Root, a.Worktrees); err != nil {
			failed = append(failed, err.Error())
		}
	}
	known := map[string]bool{}
	for _, row := range rows {
		if row.Dir == "" || row.Project != a.Project {
			continue
		}
		known[row.Dir] = true
		switch gone, err := a.pruneTree(ctx, row); {
		case err != nil:
			failed = append(failed, err.Error())
		case gone:
			removed = append(removed, row.Dir)
		default:
			kept = append(kept, row.Dir)
		}
	}
	dirs, err := os.ReadDir(a.Worktrees)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	for _, d := range dirs {
		dir := filepath.Join(a.Worktrees, d.Name())
		switch {
		case known[dir]:
		case a.pruneOrphan(ctx, d, dir):
			removed = append(removed, dir)
		default:
			kept = append(kept, dir+" (of no agent)")
		}
	}
	branches, err := worktree.PruneBranches(ctx, a.Git, a.Root, worktreescli.Branches(), orphanAge, func(branch string) bool {
		return slices.ContainsFunc(rows, func(row session.Agent) bool { return row.Branch == branch })
	})
	if err != nil && len(rows) > 0 { // without a repository there are none
		failed = append(failed, err.Error())
	}
	said := fmt.Sprintf("removed %s", text.Count(len(removed), "worktree"))
	if len(branches) > 0 {
		said += " and the branches " + strings.Join(branches, ", ") + ", which no worktree used"
	}
	if kept != nil {
		said += "; kept, because they hold changes or are in use: " + strings.Join(kept, ", ")
	}
	if failed != nil {
		return "", errors.New(said + "; not removed: " + strings.Join(failed, "; "))
	}
	return said, nil
}
