package workercli

import (
	"context"
	"sync"

	"jcode/cli/console"
	taskscli "jcode/cli/tasks"
	"jcode/tasks/clone"
	"jcode/tasks/queue"
)

// Cmd works on queued tasks.
type Cmd struct {
	Slots int  `default:"2" help:"How many tasks are worked on at once." placeholder:"N"`
	Once  bool `help:"End when there is nothing more that can be worked on now."`

	Repos   []string `help:"Take tasks of these addresses of git too, such as 'git@host:team/*'; repeatable. Without it, those in folders only." placeholder:"PATTERN" sep:"none"`
	Base    string   `help:"With --trust: the branch, tag or commit to look at." placeholder:"REF"`
	Address string   `arg:"" optional:"" help:"With --trust: show what the repository of this address would run, and ask whether its tasks may."`
}

// Help is printed by `jcode worker --help`.
func (Cmd) Help() string {
	return `Each task works in a process and a git worktree of its own. What a repository contains (settings, hooks, MCP servers, Lua)
counts only if you trust it, as in a chat: run jcode there once. If tasks name it by its address, run
jcode worker --trust ADDRESS instead. ctrl+c ends the worker; its tasks are queued again.`
}

// Run works until ctx ends.
func (c *Cmd) Run(ctx context.Context, std Setup) error {
	if c.Slots < 1 || c.Slots > mostSlots {
		return console.Usage("--slots: a worker has 1 to %d slots, not %d", mostSlots, c.Slots)
	}
	if std.Given.Trust && c.Address != "" && !c.Once && len(c.Repos) == 0 {
		return c.trust(ctx, std)
	}
	if c.Address != "" || c.Base != "" {
		return console.Usage("an address and --base belong to jcode worker --trust ADDRESS; --repos PATTERN says which addresses a worker takes")
	}
	if err := checkRepos(c.Repos); err != nil {
		return err
	}
	if std.Given.Session || std.Given.Trust || std.Given.Mode != "" {
		return console.Usage("a worker takes its tasks as they were added: -p, -c, -r, -w, --mode, --trust, --allow and --deny have no use here (jcode worker --trust ADDRESS, without more, asks about a repository)")
	}
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	store, err := taskscli.Open(ctx, a.Paths)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // each change was committed
	store.Patient(workerPatience)
	q, err := queue.Open(ctx, store)
	if err != nil {
		return console.Usage("%w", err)
	}
	w := worker{repos: c.Repos, store: store, queue: q, data: a.Paths.Data, trees: a.Trees, perDay: a.PerDay, baseURL: std.BaseURL, std: std.Streams, out: &sync.Mutex{}, ended: make(chan struct{}, 1)}
	return w.work(ctx, c.Slots, c.Once)
}

// checkRepos checks the patterns of --repos.
func checkRepos(patterns []string) error {
	for _, p := range patterns {
		if err := clone.CheckPattern(p); err != nil {
			return console.Usage("--repos: %w", err)
		}
	}
	return nil
}
