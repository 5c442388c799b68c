package remote

import (
	"context"
	"sync"

	"jcode/internal/text"
)

// Terminal is the terminal program of a process that runs in the background, which other terminals show.
type Terminal interface {
	// Show shows it in a window. Who controls it takes it over from whoever did.
	Show(w Window) (Shown, error)
	// End ends the program as if the person had quit it.
	End()
	// Watched counts the windows that show it.
	Watched() int
}

// Size is that of a terminal, in cells.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// Window is a terminal elsewhere.
type Window struct {
	Name string
	Said string // what the person reads first
	Role Role
	Size Size
	// Draw gets what the program writes, in order. Left is called once, when nothing more follows.
	Draw func(data []byte) error
	Left func(l Left)
}

// Shown is what a window can do.
type Shown interface {
	// Type sends keys to the program, Resize tells it another size. Both do nothing for who watches.
	Type(keys []byte) error
	Resize(s Size) error
	// Leave takes the window away; the program goes on.
	Leave()
}

// The parameters and notifications of a terminal in the background.
type (
	// Show (show) shows the program in this client's terminal. Said is what the person reads there first: why it is shown.
	Show struct {
		Size
		Role Role   `json:"role"`
		Said string `json:"said,omitempty"`
	}
	// Type (type) sends keys as a terminal does; in JSON they are base64.
	Type struct {
		Keys []byte `json:"keys"`
	}
	// Draw is a notification: what the program writes to its terminal, in base64.
	Draw struct {
		Data []byte `json:"data"`
	}
	// Left is a notification that the terminal is no longer shown, and why: ended, with the program's exit code; taken,
	// by the window that Name calls; detached, at the program's own wish; or elsewhere, where the person wants to see
	// another process in its place. In both of the last ones the program goes on.
	Left struct {
		Why     string `json:"why"`
		Code    int    `json:"code,omitempty"`
		Name    string `json:"name,omitempty"`
		Process int    `json:"process,omitempty"`
	}
)

// The notifications, and why a terminal is no longer shown.
const (
	NoteDraw = "draw"
	NoteLeft = "left"

	LeftEnded     = "ended"
	LeftTaken     = "taken"
	LeftDetached  = "detached"
	LeftElsewhere = "elsewhere"
)

// maxSaid bounds what a window has the person read first, in bytes.
const maxSaid = 300

// window is the terminal program in a client.
type window struct {
	mu    sync.Mutex
	shown Shown
}

func (w *window) is() (Shown, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown == nil {
		return nil, gone("show it first")
	}
	return w.shown, nil
}

func (w *window) set(s Shown) (old Shown) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old, w.shown = w.shown, s
	return old
}

// leave ends the showing, if there is one.
func (w *window) leave() {
	if old := w.set(nil); old != nil {
		old.Leave()
	}
}

func (c *connection) show(_ context.Context, p Show) (any, error) {
	switch {
	case c.server.opt.Terminal == nil:
		return nil, gone("this jcode runs in a terminal of its own: /detach there takes it to the background")
	case p.Role != Watch && p.Role != Control:
		return nil, invalid("role is %q: it is watch or control", p.Role)
	case p.Cols < 1 || p.Rows < 1 || p.Cols > 1<<14 || p.Rows > 1<<14:
		return nil, invalid("a terminal of %d × %d cells can't be", p.Cols, p.Rows)
	}
	c.window.leave()
	shown, err := c.server.opt.Terminal.Show(Window{
		Name: c.who(), Said: text.Cut(text.Visible(p.Said), maxSaid), Role: p.Role, Size: p.Size,
		Draw: func(data []byte) error { return c.rpc.Notify(c.ctx, NoteDraw, Draw{data}) },
		Left: func(l Left) { _ = c.rpc.Notify(c.ctx, NoteLeft, l) }, // an error ends the connection
	})
	if err != nil {
		return nil, gone("%v", err)
	}
	c.window.set(shown)
	return struct{}{}, nil
}

// keys sends keys in the order in which they came.
func (c *connection) keys(_ context.Context, p Type) (any, error) {
	shown, err := c.window.is()
	if err == nil {
		err = shown.Type(p.Keys)
	}
	return struct{}{}, err
}

func (c *connection) resize(_ context.Context, p Size) (any, error) {
	shown, err := c.window.is()
	if err == nil {
		err = shown.Resize(p)
	}
	return struct{}{}, err
}

func (c *connection) hide(context.Context, struct{}) (any, error) {
	c.window.leave()
	return struct{}{}, nil
}

func (c *connection) end(context.Context, struct{}) (any, error) {
	if c.server.opt.Terminal == nil {
		return nil, refused("this jcode runs in a terminal of its own: it is ended there")
	}
	c.server.opt.Terminal.End()
	return struct{}{}, nil
}
