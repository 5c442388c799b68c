package remote

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"
)

// Beside are the processes of a user that run in the background, as a terminal names them beside its own session. The
// connections to them stay. It is used by one goroutine.
type Beside struct {
	place Place
	name  string
	self  int

	read  time.Time // when the folder was last written to, as it was read last
	list  []entry
	known map[string]*neighbour
}

// neighbour is a process that was spoken to.
type neighbour struct {
	client *Client // nil for one in a terminal of its own, and for one that says nothing
	last   Process
}

// besideWithin is how long a process may take to say what it does. What a slow one said last holds.
const besideWithin = time.Second

// freshFolder is how long a folder may hold more than its time says: clocks of file systems are coarse.
const freshFolder = 2 * time.Second

// NewBeside returns the processes without self, which is only named.
func NewBeside(p Place, name string, self int) *Beside {
	return &Beside{place: p, name: name, self: self, known: map[string]*neighbour{}}
}

// Look returns the processes in the background in the order in which they began. This one is among them with its number
// and its start if it listens.
func (b *Beside) Look(ctx context.Context) (out []Process) {
	b.again()
	there := map[string]bool{}
	for _, e := range b.list {
		there[e.Name] = true
		if e.Pid == b.self {
			out = append(out, Process{Welcome: Welcome{Pid: e.Pid}, Started: e.Started})
		} else if n := b.ask(ctx, e); n != nil && n.client != nil {
			out = append(out, n.last)
		}
	}
	for name, n := range b.known {
		if !there[name] {
			n.close()
			delete(b.known, name)
		}
	}
	slices.SortFunc(out, func(x, y Process) int { return cmp.Or(x.Started.Compare(y.Started), cmp.Compare(x.Pid, y.Pid)) })
	return out
}

// Any reports whether another process runs in the background, as far as is known.
func (b *Beside) Any() bool {
	for _, n := range b.known {
		if n.client != nil {
			return true
		}
	}
	return false
}

// Close ends the connections.
func (b *Beside) Close() {
	for _, n := range b.known {
		n.close()
	}
	clear(b.known)
}

// again reads the folder if it has changed.
func (b *Beside) again() {
	info, err := os.Stat(b.place.Dir)
	if err != nil {
		b.list = nil
		return
	}
	if info.ModTime().Equal(b.read) && time.Since(b.read) > freshFolder {
		return
	}
	if list, err := b.place.entries(); err == nil {
		b.list, b.read = list, info.ModTime()
	}
}

// ask returns what a process says of itself, nil for one that can't be reached.
func (b *Beside) ask(ctx context.Context, e entry) *neighbour {
	n := b.known[e.Name]
	if n == nil {
		if n = b.meet(ctx, e); n == nil {
			return nil
		}
		b.known[e.Name] = n
	}
	if n.client == nil {
		return n
	}
	within, stop := context.WithTimeout(ctx, besideWithin)
	defer stop()
	var list []Listed
	switch err := n.client.Call(within, "beside", nil, &list); {
	case err == nil:
		n.last.Sessions = list
	case within.Err() == nil: // it has ended, or is of a version without this
		n.close()
		n.client = nil
	}
	return n
}

// meet connects to a process.
func (b *Beside) meet(ctx context.Context, e entry) *neighbour {
	ctx, stop := context.WithTimeout(ctx, besideWithin)
	defer stop()
	token, err := b.place.Token()
	if err != nil {
		return nil
	}
	nc, err := dial(ctx, e.Socket)
	if err != nil {
		return nil // it has ended, or does not listen yet
	}
	c, err := Connect(ctx, nc, Hello{Token: token, Name: b.name}, Handlers{})
	if err != nil {
		return &neighbour{} // it does not want to be spoken to
	}
	if c.Welcome.Background == nil {
		c.Close()
		return &neighbour{}
	}
	return &neighbour{c, Process{Welcome: c.Welcome, Started: e.Started}}
}

func (n *neighbour) close() {
	if n.client != nil {
		n.client.Close()
	}
}
