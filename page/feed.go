package page

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"jcode/remote"
)

// feed is a session that a device follows, over one connection to its process. All its pages share it.
type feed struct {
	session string
	base    string // the address of its page
	epoch   string // tells its numbers from those of another attachment
	client  *remote.Client
	role    remote.Role

	mu      sync.Mutex
	tr      *transcript
	early   []json.RawMessage // what came before the session was attached
	ready   bool
	why     string        // why it ended, "" while it lives
	changed chan struct{} // closed and replaced when something comes
	users   int
	linger  *time.Timer
}

// feeds are the sessions that are followed now.
type feeds struct {
	place remote.Place

	mu     sync.Mutex
	open   map[feedKey]*opening
	closed bool
}

type feedKey struct{ device, session string }

// opening is a feed that somebody opens or has opened.
type opening struct {
	done chan struct{}
	feed *feed
	err  error
}

// The limits of feeds.
const (
	maxFeeds = 64
	// lingers is how long a feed stays after its last page is gone: a form of a page without scripts, and a connection
	// that was lost, find it again.
	lingers    = 30 * time.Second
	openWithin = 20 * time.Second
)

var errTooMany = errors.New("too many sessions are followed at the same time: close a page")

// get returns the feed of a session for a device, and what to call when it is not needed any more.
func (f *feeds) get(ctx context.Context, v Device, session string) (*feed, func(), error) {
	key := feedKey{v.ID, session}
	for {
		f.mu.Lock()
		o := f.open[key]
		if o != nil && o.feed != nil && o.feed.ended() != "" {
			o = nil // it is opened anew
		}
		switch {
		case f.closed:
			f.mu.Unlock()
			return nil, nil, context.Canceled
		case o == nil && len(f.open) >= maxFeeds:
			f.mu.Unlock()
			return nil, nil, errTooMany
		case o == nil:
			return f.begin(key, v)
		case o.feed != nil:
			o.feed.use()
			f.mu.Unlock()
			return o.feed, sync.OnceFunc(func() { f.release(key, o) }), nil
		}
		f.mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if o.err != nil {
			return nil, nil, o.err
		}
	}
}

// begin opens a feed for a caller that holds the lock, and gives it back.
func (f *feeds) begin(key feedKey, v Device) (*feed, func(), error) {
	o := &opening{done: make(chan struct{})}
	if f.open == nil {
		f.open = map[feedKey]*opening{}
	}
	f.open[key] = o
	f.mu.Unlock()
	fd, err := attach(f.place, v, key.session)
	f.mu.Lock()
	if err == nil && f.closed {
		err = context.Canceled
		defer fd.client.Close()
	}
	if o.err = err; err != nil {
		f.drop(key, o)
	} else {
		fd.use()
		o.feed = fd
	}
	f.mu.Unlock()
	close(o.done)
	if err != nil {
		return nil, nil, err
	}
	return fd, sync.OnceFunc(func() { f.release(key, o) }), nil
}

// drop forgets a feed. The caller holds the lock.
func (f *feeds) drop(key feedKey, o *opening) {
	if f.open[key] == o {
		delete(f.open, key)
	}
}

func (fd *feed) use() {
	fd.mu.Lock()
	defer fd.mu.Unlock()
	fd.users++
	if fd.linger != nil {
		fd.linger.Stop()
	}
}

// release closes a feed some time after its last page.
func (f *feeds) release(key feedKey, o *opening) {
	fd := o.feed
	fd.mu.Lock()
	defer fd.mu.Unlock()
	if fd.users--; fd.users > 0 {
		return
	}
	fd.linger = time.AfterFunc(lingers, func() { f.end(key, o, false) })
}

// end closes a feed that nobody uses, or in any case.
func (f *feeds) end(key feedKey, o *opening, always bool) {
	f.mu.Lock()
	o.feed.mu.Lock()
	unused := o.feed.users == 0 || always
	if unused {
		f.drop(key, o)
		if o.feed.linger != nil {
			o.feed.linger.Stop()
		}
	}
	o.feed.mu.Unlock()
	f.mu.Unlock()
	if unused {
		o.feed.client.Close()
	}
}

// endUnless closes the feeds of devices that are not kept, and lets none be opened any more if closed.
func (f *feeds) endUnless(keep func(device string) bool, closed bool) {
	f.mu.Lock()
	f.closed = f.closed || closed
	gone := map[feedKey]*opening{}
	for key, o := range f.open {
		if o.feed != nil && !keep(key.device) {
			gone[key] = o
		}
	}
	f.mu.Unlock()
	for key, o := range gone {
		f.end(key, o, true)
	}
}

// attach connects to the process of a session, and reads what there is.
func attach(place remote.Place, v Device, session string) (*feed, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	defer cancel()
	fd := &feed{session: session, base: baseOf(v, session), epoch: random(4), tr: newTranscript(), changed: make(chan struct{})}
	client, err := place.Open(ctx, v.Name, session, remote.Handlers{
		Event:   func(ev remote.Event) { fd.take(ev) },
		Ended:   func(e remote.Ended) { fd.end(e.Why) },
		Stopped: func(error) { fd.end(remote.WhyClosed) },
	})
	if err != nil {
		return nil, err
	}
	fd.client = client
	var at remote.Attached
	if err := client.Call(ctx, "attach", remote.Attach{Session: session, Role: v.Role, Recent: recent}, &at); err != nil {
		client.Close()
		return nil, err
	}
	fd.begin(at)
	return fd, nil
}

func (fd *feed) begin(at remote.Attached) {
	fd.mu.Lock()
	defer fd.mu.Unlock()
	fd.role = at.Role
	if at.Role == remote.Control {
		fd.tr.link = fd.base
	}
	fd.tr.earlier = at.Before
	fd.tr.begin(at.State, at.Last, append(at.History, at.Now...)...)
	fd.ready = true
	for _, line := range fd.early {
		fd.tr.apply(line)
	}
	fd.early = nil
}

// recent is how many messages a page begins with: enough for what is drawn at first. Others are read when somebody wants
// to see them.
const recent = shown

// whole reads the messages before those that the page began with.
func (fd *feed) whole(ctx context.Context) error {
	var before int64
	fd.read(func(t *transcript) { before = t.earlier })
	if before == 0 {
		return nil
	}
	var past remote.Past
	if err := fd.client.Call(ctx, "history", remote.Earlier{Session: fd.session, Before: before}, &past); err != nil {
		return err
	}
	fd.read(func(t *transcript) {
		if t.earlier == before { // nobody was faster
			t.prepend(past.History)
		}
	})
	return nil
}

// take takes over an event. Those of an attached session all come after what it began with.
func (fd *feed) take(ev remote.Event) {
	fd.mu.Lock()
	defer fd.mu.Unlock()
	if !fd.ready {
		fd.early = append(fd.early, ev.Event)
		return
	}
	fd.tr.apply(ev.Event)
	fd.signal()
}

func (fd *feed) end(why string) {
	fd.mu.Lock()
	defer fd.mu.Unlock()
	if fd.why == "" {
		fd.why = why
	}
	fd.signal()
}

func (fd *feed) ended() string {
	fd.mu.Lock()
	defer fd.mu.Unlock()
	return fd.why
}

// signal wakes all streams. The caller holds the lock.
func (fd *feed) signal() {
	close(fd.changed)
	fd.changed = make(chan struct{})
}

// read calls f with the transcript, which nobody changes meanwhile, and returns what is closed at the next change.
func (fd *feed) read(f func(*transcript)) (more <-chan struct{}, why string) {
	fd.mu.Lock()
	defer fd.mu.Unlock()
	f(fd.tr)
	return fd.changed, fd.why
}
