package queue

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"jcode/tasks"
)

// driver is River's for SQLite, but for news: instead of asking the file 20 times a second, it is told.
type driver struct {
	*riversqlite.Driver
	news *listener
}

// shared is River's driver for Postgres over database/sql. What it is told of comes from the tasks' own notifications,
// so that one connection of a worker listens, and one notification says that tasks came.
type shared struct {
	*riverdatabasesql.Driver
	news *listener
}

// GetListener implements riverdriver.Driver.
func (d shared) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.news
}

// SupportsListener implements riverdriver.Driver.
func (d shared) SupportsListener() bool { return true }

// SupportsListenNotify implements riverdriver.Driver: River need not notify.
func (d shared) SupportsListenNotify() bool { return false }

// driverOf returns the driver for the tasks' database. wake tells that jobs may have come to some queues.
func driverOf(store *tasks.Store, wake <-chan struct{}, queues ...string) (riverdriver.Driver[*sql.Tx], *listener) {
	news := &listener{wake: wake, queues: queues}
	if store.Shared() {
		return shared{riverdatabasesql.New(store.DB()), news}, news
	}
	return driver{riversqlite.New(store.DB()), news}, news
}

// GetListener implements riverdriver.Driver.
func (d driver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.news
}

// listener says that jobs may have come whenever it is woken.
type listener struct {
	wake   <-chan struct{}
	mu     sync.Mutex
	queues []string // guarded by mu
	next   []string // that are told next
}

// add adds a queue to those that are told.
func (l *listener) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queues = append(l.queues, name)
}

// Close implements riverdriver.Listener.
func (*listener) Close(context.Context) error { return nil }

// Connect implements riverdriver.Listener.
func (*listener) Connect(context.Context) error { return nil }

// Listen implements riverdriver.Listener.
func (*listener) Listen(context.Context, string) error { return nil }

// Ping implements riverdriver.Listener.
func (*listener) Ping(context.Context) error { return nil }

// Schema implements riverdriver.Listener.
func (*listener) Schema() string { return "" }

// SetAfterConnectExec implements riverdriver.Listener.
func (*listener) SetAfterConnectExec(string) {}

// Unlisten implements riverdriver.Listener.
func (*listener) Unlisten(context.Context, string) error { return nil }

// WaitForNotification implements riverdriver.Listener.
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	if len(l.next) == 0 {
		select {
		case <-l.wake:
			l.mu.Lock()
			l.next = slices.Clone(l.queues)
			l.mu.Unlock()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	name := l.next[0]
	l.next = l.next[1:]
	return &riverdriver.Notification{Topic: "river_insert", Payload: fmt.Sprintf(`{"queue":%q}`, name)}, nil
}
