package agent

import (
	"context"

	"jcode/tools"
)

// Site is a copy of the files in which one sub-agent works, with tools that see nothing else.
type Site interface {
	// Equip points a conversation's options at the site.
	Equip(opt *Options)
	// Begin is called with the conversation that works there, before its first prompt.
	Begin(child *Conversation)
	// Dir is the site's folder.
	Dir() string
	// Row returns what must be stored to reopen the site.
	Row() (dir, branch, base string)
	// Diff returns what was changed there and can be merged, as a unified diff, "" for nothing; left names what
	// can't be merged.
	Diff(ctx context.Context) (diff string, left []string, err error)
	// Plan returns what a merge would change. Merge carries it out as one change of the call: all of it or
	// nothing. left names what it did not take along.
	Plan(ctx context.Context) (tools.Plan, error)
	Merge(ctx context.Context, call tools.Call) (said string, left []string, err error)
	// Close closes the tools; the copy stays. Remove deletes it with everything in it.
	Close()
	Remove(ctx context.Context) error
}

func removeSite(ctx context.Context, site Site) error {
	if site == nil {
		return nil
	}
	site.Close()
	return site.Remove(context.WithoutCancel(ctx))
}
