package cli

import (
	"context"
	"errors"
	"sync"

	"jcode/agent/event"
	"jcode/internal/fileview"
	"jcode/session"
	"jcode/tools/builtin"
)

// keptViews stores what conversations were shown of files with their sessions.
type keptViews struct {
	seen  session.Seen
	board *board
	once  *sync.Once
}

func newKeptViews(a *app) keptViews { return keptViews{a.store.Seen(), &a.board, new(sync.Once)} }

// View implements builtin.Kept.
func (k keptViews) View(ctx context.Context, id, path string, stamp int64) builtin.KeptView {
	f, err := k.seen.Get(ctx, id, path, stamp)
	if err != nil {
		if !errors.Is(err, session.ErrNotFound) && ctx.Err() == nil {
			k.failed(err)
		}
		return builtin.KeptView{}
	}
	v := builtin.KeptView{Stamp: f.N, Known: f.Known, View: fileview.View{Text: f.Text}, At: f.At}
	for _, h := range f.Hidden {
		v.View.Hidden = append(v.View.Hidden, fileview.Span{Start: h[0], End: h[1]})
	}
	return v
}

// Keep implements builtin.Kept.
func (k keptViews) Keep(ctx context.Context, id, path string, v builtin.KeptView) int64 {
	f := session.SeenFile{Known: v.Known, Text: v.View.Text, Hidden: [][2]int{}, At: v.At}
	for _, h := range v.View.Hidden {
		f.Hidden = append(f.Hidden, [2]int{h.Start, h.End})
	}
	n, err := k.seen.Put(context.WithoutCancel(ctx), id, path, f)
	k.failed(err)
	return n
}

// Drop implements builtin.Kept.
func (k keptViews) Drop(ctx context.Context, id string, paths []string) {
	k.failed(k.seen.Drop(context.WithoutCancel(ctx), id, paths...))
}

// Move implements builtin.Kept.
func (k keptViews) Move(ctx context.Context, id, from, to string) {
	k.failed(k.seen.Move(context.WithoutCancel(ctx), id, from, to))
}

// failed reports a failure once: without what is stored, a resumed session is only asked to read again.
func (k keptViews) failed(err error) {
	if err != nil {
		k.once.Do(func() {
			k.board.say(event.LevelWarn, "what the model was shown of files is not kept with the session: %v", err)
		})
	}
}
