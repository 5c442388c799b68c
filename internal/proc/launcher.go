package proc

import (
	"errors"
	"runtime"
	"sync"
)

// errClosed is returned by a Launcher after Close.
var errClosed = errors.New("start process: launcher is closed")

// Launcher starts children that end with this process, however that ends. It starts them
// from one thread that lives until Close: Linux ends a child with DieWithParent when the
// *thread* that forked it ends. What those children started is ended by a watchdog.
type Launcher struct {
	requests chan launch
	quit     chan struct{}
	once     sync.Once
	ended    chan struct{}
	// owner is the beginning of the marks of the children; reaps says that all processes with such a mark end
	// with this process.
	owner string
	reaps bool
}

type launch struct {
	spec  Spec
	reply chan<- launched
}

type launched struct {
	process *Process
	err     error
}

// NewLauncher starts the thread.
func NewLauncher() *Launcher { return newLauncher(false) }

// NewServerLauncher is NewLauncher for servers: if this process is killed, processes that left the group and
// session of the child end too (Linux, by a mark in their environment).
func NewServerLauncher() *Launcher { return newLauncher(true) }

func newLauncher(reaps bool) *Launcher {
	l := &Launcher{
		requests: make(chan launch), quit: make(chan struct{}), ended: make(chan struct{}),
		owner: newMarker(), reaps: reaps,
	}
	go l.run()
	return l
}

// Reach says which processes that a server launcher started end with this one, however it ends.
func Reach() string { return reach }

func (l *Launcher) run() {
	defer close(l.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var dog *watchdog
	defer func() { dog.close() }()
	for started := false; ; {
		select {
		case r := <-l.requests:
			if !started {
				mark := ""
				if l.reaps {
					mark = markerName + "=" + l.owner
				}
				dog, started = startWatchdog(mark), true
			}
			r.spec.mark = newMarker()
			dog.starting(markerName + "=" + l.owner + "." + r.spec.mark)
			p, err := Start(r.spec)
			if err == nil {
				dog.add(p)
			} else {
				dog.failed()
			}
			r.reply <- launched{p, err}
		case <-l.quit:
			return
		}
	}
}

// Start starts a child from the launcher's thread, with DieWithParent set.
func (l *Launcher) Start(spec Spec) (*Process, error) {
	spec.DieWithParent, spec.owner = true, l.owner
	reply := make(chan launched, 1)
	select {
	case l.requests <- launch{spec, reply}:
		r := <-reply
		return r.process, r.err
	case <-l.ended:
		return nil, errClosed
	}
}

// Close ends the launcher and everything that still runs in the groups of its children.
func (l *Launcher) Close() {
	l.once.Do(func() { close(l.quit) })
	<-l.ended
}
