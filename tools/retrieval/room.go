package retrieval

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/session"
	"jcode/tools"
)

// Collection is the documents of one owner.
type Collection struct {
	// Owner is the key in the index.
	Owner string
	// Name is its name for people: "role reviewer", "this session".
	Name string
	// Sources are paths, globs and addresses. Relative ones are resolved against the workspace.
	Sources []string
}

// Page is a page that was fetched.
type Page struct {
	Body []byte
	Type string // media type
}

// Embedder computes embeddings of texts, one for each, all of the same length.
type Embedder interface {
	// Model returns the name of the model with its provider.
	Model() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Close ends idle connections.
	Close()
}

// Options are the settings of New.
type Options struct {
	Index session.Documents
	// Root is the workspace, against which relative sources are resolved; Home is the folder for ~.
	Root, Home string
	// Inside reports whether a resolved path is in the workspace.
	Inside func(path string) bool
	// Denied returns the reason why a resolved path must not be read, "" if it may.
	Denied func(path string) string
	// Fetch fetches a page, by the rules for addresses. Nil means that none may be fetched.
	Fetch func(ctx context.Context, address string) (Page, error)
	// Embedder may be nil: passages are then ranked by their words alone. It is called once.
	Embedder func() (Embedder, error)
	// Refuse returns the reason why the session can't have documents now, nil if it can. May be
	// nil.
	Refuse func() error
	// Watch enables the detection of changed files.
	Watch bool
	// Notify shows the person a message; level is "info" or "warn".
	Notify func(level, text string)
	// Offer is called with the tool to offer, nil when there is nothing to search any more. It is
	// called in the order of the changes.
	Offer func(tools.Tool)
}

// Room keeps the index of the collections in use. It is safe for concurrent use.
type Room struct {
	opts Options

	mu      sync.Mutex
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	role    string // owner of the role in force, "" for none
	session string // ID of the session, "" before its first message
	early   Collection
	using   map[string]*keeper
	offered string // the description under which the tool was offered last, "" for not
	offers  sync.Mutex

	embedding sync.Once
	embedder  Embedder
	unusable  error // why there is no embedder
	vectors   vectorCache
}

// earlyOwner begins the owner of what is added before a session has an ID.
const earlyOwner = "early:"

// New returns a room. It reads nothing before a collection is used.
func New(o Options) *Room {
	r := &Room{opts: o, using: map[string]*keeper{}}
	r.ctx, r.end = context.WithCancel(context.Background())
	return r
}

// Close ends everything that runs.
func (r *Room) Close() {
	r.end()
	r.mu.Lock()
	for _, k := range r.using {
		k.stopWatching()
	}
	early := r.early.Owner
	r.mu.Unlock()
	r.running.Wait()
	r.embedding.Do(func() {}) // none is opened any more
	if r.embedder != nil {
		r.embedder.Close()
	}
	if early != "" { // it never became a session
		_ = r.opts.Index.Forget(context.Background(), early) // a later run forgets it
	}
}

// UseRole keeps the index of a role's documents, instead of those of the role before; a collection
// without sources means a role without documents.
func (r *Room) UseRole(c Collection) {
	r.mu.Lock()
	before := r.role
	r.role = ""
	if len(c.Sources) > 0 {
		r.role = c.Owner
	}
	if before != "" && before != r.role {
		r.forget(before)
	}
	if r.role != "" {
		r.use(c)
	}
	r.mu.Unlock()
	r.offer()
}

// Also keeps the index of the documents of a role that a sub-agent works in, until the session changes.
func (r *Room) Also(c Collection) {
	if len(c.Sources) == 0 {
		return
	}
	r.mu.Lock()
	r.use(c)
	r.mu.Unlock()
	r.offer()
}

// UseSession keeps the index of a session's documents, including those that were added before its
// first message.
func (r *Room) UseSession(ctx context.Context, id string) error {
	r.mu.Lock()
	if id == r.session {
		r.mu.Unlock()
		return nil
	}
	early := r.leave()
	r.session = id
	r.mu.Unlock()
	owner := session.SessionDocuments(id)
	if early.Owner != "" {
		if err := r.opts.Index.Move(ctx, early.Owner, owner); err != nil {
			return err
		}
	}
	sources, err := r.opts.Index.Sources(ctx, owner)
	if err != nil {
		return err
	}
	if len(sources) > 0 {
		r.mu.Lock()
		r.use(Collection{Owner: owner, Name: "this session", Sources: sources})
		r.mu.Unlock()
	}
	r.offer()
	return nil
}

// NewSession says that a session without a message begins.
func (r *Room) NewSession() {
	r.mu.Lock()
	early := r.leave()
	r.mu.Unlock()
	if early.Owner != "" {
		_ = r.opts.Index.Forget(r.ctx, early.Owner) // a later run forgets it
	}
	r.offer()
}

// leave drops everything that belongs to the session so far, and returns what was added before it
// had an ID. The role in force is kept. It is called under the lock.
func (r *Room) leave() (early Collection) {
	early, r.early, r.session = r.early, Collection{}, ""
	for owner := range r.using {
		if owner != r.role {
			r.forget(owner)
		}
	}
	return early
}

// use adds a collection, and brings it up to date. It is called under the lock.
func (r *Room) use(c Collection) *keeper {
	k := r.using[c.Owner]
	switch {
	case k == nil:
		k = &keeper{Collection: c, tried: map[string]bool{}}
		r.using[c.Owner] = k
	case slices.Equal(k.Sources, c.Sources):
		return k
	default:
		k.Sources = c.Sources
	}
	indexing{r, k}.refresh(false)
	return k
}

// forget drops a collection; its index is kept. It is called under the lock.
func (r *Room) forget(owner string) {
	if k := r.using[owner]; k != nil {
		k.stop()
		k.stopWatching()
		delete(r.using, owner)
	}
}

// own returns the collection of the session, which may have no sources yet. It is called under
// the lock.
func (r *Room) own() Collection {
	if r.session == "" {
		if r.early.Owner == "" {
			r.early = Collection{Owner: earlyOwner + rand.Text(), Name: "this session"}
		}
		return r.early
	}
	owner := session.SessionDocuments(r.session)
	if k := r.using[owner]; k != nil {
		return k.Collection
	}
	return Collection{Owner: owner, Name: "this session"}
}

// Add adds sources to the session. The index is brought up to date in the background: see Wait.
// A source that names nothing is an error, and nothing is added then.
func (r *Room) Add(ctx context.Context, sources ...string) error {
	if r.opts.Refuse != nil {
		if err := r.opts.Refuse(); err != nil {
			return err
		}
	}
	for _, source := range sources {
		if err := r.check(ctx, source); err != nil {
			return err
		}
	}
	r.mu.Lock()
	c := r.own()
	c.Sources = slices.Clone(c.Sources)
	for _, source := range sources {
		if !slices.Contains(c.Sources, source) {
			c.Sources = append(c.Sources, source)
		}
	}
	r.mu.Unlock()
	if strings.HasPrefix(c.Owner, earlyOwner) {
		if err := r.opts.Index.ForgetOld(ctx, earlyOwner, 24*time.Hour); err != nil { // of processes that died
			return err
		}
	}
	if err := r.opts.Index.AddSources(ctx, c.Owner, sources...); err != nil {
		return err
	}
	r.mu.Lock()
	if strings.HasPrefix(c.Owner, earlyOwner) {
		r.early = c
	}
	r.use(c)
	r.mu.Unlock()
	return nil
}

// Remove removes a source from the session.
func (r *Room) Remove(ctx context.Context, source string) error {
	r.mu.Lock()
	c := r.own()
	r.mu.Unlock()
	had, err := r.opts.Index.RemoveSource(ctx, c.Owner, source)
	if err != nil {
		return err
	}
	if !had {
		return fmt.Errorf("%s was not added to this session: /docs list shows what was", source)
	}
	c.Sources = slices.DeleteFunc(slices.Clone(c.Sources), func(s string) bool { return s == source })
	r.mu.Lock()
	if strings.HasPrefix(c.Owner, earlyOwner) {
		r.early = c
	}
	if len(c.Sources) > 0 {
		r.use(c)
		r.mu.Unlock()
		return nil
	}
	r.forget(c.Owner)
	r.mu.Unlock()
	r.offer()
	return r.opts.Index.Forget(ctx, c.Owner)
}

// Rebuild reads all documents in use again, and fetches addresses again. What is unchanged keeps
// its passages.
func (r *Room) Rebuild() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.using {
		indexing{r, k}.refresh(true)
	}
}

// Stop ends the runs that bring the index up to date; what is indexed is kept.
func (r *Room) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.using {
		k.stop()
	}
}

// Wait waits until the index is up to date, and calls progress with a line about now and then;
// it may be nil.
func (r *Room) Wait(ctx context.Context, progress func(string)) error {
	for {
		r.mu.Lock()
		var busy *keeper
		for _, k := range r.using {
			if k.done != nil {
				busy = k
			}
		}
		if busy == nil {
			r.mu.Unlock()
			return nil
		}
		done, moved := busy.done, busy.moved
		line := busy.state.progress(busy.Name)
		r.mu.Unlock()
		if progress != nil {
			progress(line)
		}
		select {
		case <-done:
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settleWait bounds how long a step waits for documents that are looked at for the first time.
const settleWait = 250 * time.Millisecond

// Settle waits a moment for the first run over each collection, so that what the tool says of
// the documents is whole from the first request on. Unless changes are watched for, each step looks for them. A longer
// run is not waited for: a search is what waits for it.
func (r *Room) Settle(ctx context.Context) {
	if !r.opts.Watch {
		r.look()
	}
	ctx, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	for {
		r.mu.Lock()
		var done chan struct{}
		for _, k := range r.using {
			if k.done != nil && !k.settled {
				k.settled, done = true, k.done
				break
			}
		}
		r.mu.Unlock()
		if done == nil {
			return
		}
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// owners are the collections in use. It is called under the lock.
func (r *Room) owners() []string {
	return slices.Sorted(maps.Keys(r.using))
}
