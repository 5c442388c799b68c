package changes

import (
	"context"
	"errors"
	"sync"

	"jcode/agent/event"
	"jcode/internal/fileview"
	"jcode/session"
	"jcode/tools/builtin"
)

// Views stores what conversations were shown of files with their sessions.
type Views struct {
	seen session.Seen
	say  Say
	once *sync.Once
}

// ViewsIn returns views that are stored in a database; say tells the person of a failure.
func ViewsIn(seen session.Seen, say Say) Views { return Views{seen, say, new(sync.Once)} }

// View implements builtin.Kept.
func (k Views) View(ctx context.Context, id, path string, stamp int64) builtin.KeptView {
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
func (k Views) Keep(ctx context.Context, id, path string, v builtin.KeptView) int64 {
	f := session.SeenFile{Known: v.Known, Text: v.View.Text, Hidden: [][2]int{}, At: v.At}
	for _, h := range v.View.Hidden {
		f.Hidden = append(f.Hidden, [2]int{h.Start, h.End})
	}
	n, err := k.seen.Put(context.WithoutCancel(ctx), id, path, f)
	k.failed(err)
	return n
}

// Drop implements builtin.Kept.
func (k Views) Drop(ctx context.Context, id string, paths []string) {
	k.failed(k.seen.Drop(context.WithoutCancel(ctx), id, paths...))
}

// Move implements builtin.Kept.
func (k Views) Move(ctx context.Context, id, from, to string) {
	k.failed(k.seen.Move(context.WithoutCancel(ctx), id, from, to))
}

// failed reports a failure once: without what is stored, a resumed session is only asked to read again.
func (k Views) failed(err error) {
	if err != nil {
		k.once.Do(func() {
			k.say(event.LevelWarn, "what the model was shown of files is not kept with the session: %v", err)
		})
	}
}
