package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/internal/edit"
	"jcode/internal/text"
	"jcode/tools"
)

// ChangeSet changes several files: one plan with the whole diff, all files or none, and one step
// for undo. It shares the state of the file tools.
type ChangeSet struct{ f *files }

// load reads the files and computes their new content. It returns an error if a file differs from
// what the caller expects.
func (s *ChangeSet) load(ctx context.Context, list []edit.FileChange, open func(string) (place, error)) (all []change, err error) {
	for _, fc := range list {
		t := target{abs: fc.Path, shown: s.f.ws.Shown(fc.Path)}
		t.title = t.shown
		p, err := open(fc.Path)
		if err != nil {
			return nil, ioError(err, t)
		}
		c, err := s.f.load(ctx, p, t)
		p.close()
		if err != nil {
			return nil, err
		}
		old, enc, err := edit.Decode(c.before)
		if err == nil && c.unsaved {
			err = errors.New("it has unsaved changes in the editor: nothing was changed; save it first")
		}
		if err == nil && (!c.exists || old != fc.Before) {
			err = errors.New("it was changed meanwhile: nothing was changed, try again")
		}
		if err == nil {
			err = enc.Insertable(fc.After, old)
		}
		if err == nil {
			c.after, err = enc.Encode(fc.After)
		}
		if err != nil {
			return nil, tools.Errorf(tools.KindIO, "%s: %w", t.shown, err)
		}
		c.compare()
		all = append(all, c)
	}
	return all, nil
}

// Plan returns the plan of the changes, with the diff of all files.
func (s *ChangeSet) Plan(ctx context.Context, summary string, list []edit.FileChange) (tools.Plan, error) {
	plan := tools.Plan{Summary: summary}
	all, err := s.load(ctx, list, s.f.ws.open)
	if err != nil {
		return plan, err
	}
	for _, c := range all {
		plan.Accesses = append(plan.Accesses, tools.Access{Kind: tools.AccessWrite, Path: c.t.abs})
		plan.Diff += c.diff.Text
	}
	return plan, nil
}

// Apply makes the changes that were judged. If one file cannot be written, the others are
// restored.
func (s *ChangeSet) Apply(ctx context.Context, call tools.Call, list []edit.FileChange) (tools.Result, error) {
	paths := make([]string, len(list))
	for i, fc := range list {
		paths[i] = fc.Path
		if err := judged(call, tools.AccessWrite, target{abs: fc.Path, title: s.f.ws.Shown(fc.Path)}); err != nil {
			return tools.Result{}, err
		}
	}
	unlock, err := s.f.ws.locks.lock(ctx, paths...)
	if err != nil {
		return tools.Result{}, err
	}
	defer unlock()
	all, err := s.load(ctx, list, s.f.ws.enter)
	if err != nil {
		return tools.Result{}, err
	}
	if err := s.f.recorded(ctx, call, func(w *Written) error {
		err := s.write(ctx, call, all)
		for i := range all {
			if err == nil {
				all[i].note(w)
			}
		}
		return err
	}, paths...); err != nil {
		return tools.Result{}, err
	}
	return s.result(ctx, call, all), nil
}

// write writes all files, or restores those that it has written.
func (s *ChangeSet) write(ctx context.Context, call tools.Call, all []change) error {
	for i := range all {
		err := s.put(ctx, call, &all[i])
		for j := i - 1; err != nil && j >= 0; j-- {
			back := all[j]
			back.before, back.after = back.after, back.before
			if failed := s.put(context.WithoutCancel(ctx), call, &back); failed != nil {
				err = fmt.Errorf("%w; %s could not be restored: %w", err, back.t.shown, failed)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *ChangeSet) put(ctx context.Context, call tools.Call, c *change) error {
	p, err := s.f.ws.enter(c.t.abs)
	if err != nil {
		return ioError(err, c.t)
	}
	defer p.close()
	return s.f.put(ctx, call, p, c, 0)
}

// result returns the result of a change of several files, after the commands of after_edit.
func (s *ChangeSet) result(ctx context.Context, call tools.Call, all []change) tools.Result {
	var list, whole, said strings.Builder
	added, removed := 0, 0
	for _, c := range all {
		s.f.seen.changed(ctx, call, c.t.abs, c.before, c.after)
		fmt.Fprintf(&list, "%s (%s)\n", c.t.shown, counts(c.diff))
		whole.WriteString(c.diff.Text)
		added, removed = added+c.diff.Added, removed+c.diff.Removed
		if out := s.f.afterEdit(ctx, call, c.t); out != "" {
			fmt.Fprintf(&said, "%s\n", out)
		}
	}
	summary := fmt.Sprintf("%s, +%d -%d", text.Count(len(all), "file"), added, removed)
	return tools.Result{
		Text:    "changed " + text.Count(len(all), "file") + ":\n" + strings.TrimRight(list.String()+boundDiff(whole.String())+"\n"+said.String(), "\n"),
		Data:    map[string]any{"files": len(all), "added": added, "removed": removed},
		Display: tools.Display{Summary: summary, Diff: whole.String(), Path: all[0].t.shown, Added: added, Removed: removed},
	}
}
