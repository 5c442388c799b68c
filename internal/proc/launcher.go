package proc

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
)

// errClosed is given by a Launcher after Close.
var errClosed = errors.New("start process: launcher is closed")

// Launcher starts children that end with this process, however that ends. It starts them
// from one thread that lives until Close: Linux ends a child with DieWithParent when the
// *thread* that forked it ends. What those children started is ended by a watchdog.
type Launcher struct {
	requests chan launch
	quit     chan struct{}
	once     sync.Once
	ended    chan struct{}
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
func NewLauncher() *Launcher {
	l := &Launcher{requests: make(chan launch), quit: make(chan struct{}), ended: make(chan struct{})}
	go l.run()
	return l
}

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
				dog, started = startWatchdog(), true
			}
			p, err := Start(r.spec)
			if err == nil {
				dog.add(p)
			}
			r.reply <- launched{p, err}
		case <-l.quit:
			return
		}
	}
}

// Start starts a child from the launcher's thread, with DieWithParent set.
func (l *Launcher) Start(spec Spec) (*Process, error) {
	spec.DieWithParent = true
	reply := make(chan launched, 1)
	select {
	case l.requests <- launch{spec, reply}:
		r := <-reply
		return r.process, r.err
	case <-l.ended:
		return nil, errClosed
	}
}

// Close ends the launcher and what still runs in the groups of its children.
func (l *Launcher) Close() {
	l.once.Do(func() { close(l.quit) })
	<-l.ended
}

func randomID() uint64 { return rand.Uint64() }
