package session

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"jcode/session/db"
)

// Memory keeps private sessions: nothing of them, or of their forks, reaches the disk. What
// takes a session's ID finds them like all others; only Documents refuses them.
type Memory struct{ s *Store }

// Memory returns the store's private sessions.
func (s *Store) Memory() Memory { return Memory{s} }

// private are the sessions of this process that are kept in memory only: those of a store of their own, whose
// database has the same schema.
type private struct {
	// moving is held for reading while a session in memory is used, and for writing while one
	// is moved to the file.
	moving sync.RWMutex
	ids    sync.Map // of session IDs
}

func (p *private) has(id string) bool {
	_, has := p.ids.Load(id)
	return has
}

func (p *private) add(id string) { p.ids.Store(id, nil) }

func (p *private) remove(id string) { p.ids.Delete(id) }

// inMemory reports whether this is the store of the sessions in memory.
func (s *Store) inMemory() bool { return s.ids != nil }

// of returns the store that has a session: this one, or the one in memory. The caller calls
// done when it has finished with it.
func (s *Store) of(id string) (store *Store, done func()) {
	mem := s.memory.Load()
	if mem == nil {
		return s, func() {}
	}
	p := mem.ids
	p.moving.RLock()
	if p.has(id) {
		return mem, p.moving.RUnlock
	}
	p.moving.RUnlock()
	return s, func() {}
}

// of is Store.of for checkpoints.
func (c *Checkpoints) of(id string) (*Checkpoints, func()) {
	s, done := c.s.of(id)
	if s == c.s {
		return c, done
	}
	return &Checkpoints{s: s, limits: c.limits, locks: c.locks, busy: c.busy}, done
}

// store returns the store in memory, nil if there is none yet.
func (m Memory) store() *Store {
	return m.s.memory.Load()
}

// Keep has a session that has no row yet kept in memory only. It ends with the process unless
// Persist writes it to the file.
func (m Memory) Keep(ctx context.Context, id string) error {
	mem, err := m.open(ctx)
	if err != nil {
		return err
	}
	mem.ids.add(id)
	return nil
}

// Has reports whether a session is kept in memory only.
func (m Memory) Has(id string) bool {
	mem := m.s.memory.Load()
	return mem != nil && mem.ids.has(id)
}

// forget has a session that has no row yet kept in the file.
func (m Memory) forget(id string) {
	if mem := m.s.memory.Load(); mem != nil {
		mem.ids.remove(id)
	}
}

// open opens the database in memory on first use.
func (m Memory) open(ctx context.Context) (*Store, error) {
	s := m.s
	s.memMu.Lock()
	defer s.memMu.Unlock()
	if mem := s.memory.Load(); mem != nil {
		return mem, nil
	}
	if s.closed {
		return nil, fmt.Errorf("open database in memory: %w", sql.ErrConnDone)
	}
	name, err := NewID()
	if err != nil {
		return nil, err
	}
	tables, err := schema()
	if err != nil {
		return nil, err
	}
	held, err := db.OpenMemory(ctx, "jcode-"+name, tables)
	if err != nil {
		return nil, err
	}
	mem := &Store{db: held, now: s.now, ids: &private{}, outside: s.outside}
	s.memory.Store(mem)
	return mem, nil
}

// Persist moves a session from memory to the file, from its beginning and with its sub-agents,
// in one transaction. From then on it is like all others. One that is in the file already is
// left as it is.
func (m Memory) Persist(ctx context.Context, id string) error {
	s := m.s
	mem := s.memory.Load()
	if mem == nil || !mem.ids.has(id) {
		return nil
	}
	p := mem.ids
	p.moving.Lock()
	defer p.moving.Unlock()
	tree, err := mem.tree(ctx, id)
	if err != nil {
		return fmt.Errorf("save session %s: %w", id, err)
	}
	if err := s.db.WithAttached(ctx, mem.db, "private", func() error {
		return s.write(ctx, func(t *tx) error {
			for _, id := range tree {
				if err := t.moveIn(id, tree); err != nil {
					return err
				}
			}
			return nil
		})
	}); err != nil {
		return fmt.Errorf("save session %s: %w", id, err)
	}
	for _, id := range tree {
		p.remove(id)
	}
	if err := mem.Delete(ctx, id); err != nil {
		return fmt.Errorf("session %s is saved; forget its copy in memory: %w", id, err)
	}
	return nil
}
