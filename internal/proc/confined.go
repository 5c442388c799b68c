package proc

import (
	"os"
	"runtime"
)

// startConfined starts a child from a thread that is confined for it. The thread is used for
// nothing else and lives as long as the child: its confinement can't be undone, and DieWithParent
// refers to its end.
func startConfined(spec Spec) (*Process, error) {
	confine := spec.Confine
	spec.Confine = nil
	reply := make(chan launched, 1)
	var run func()
	run = func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		if threadID() == os.Getpid() {
			// The process's first thread never ends. While this goroutine holds it, another thread is
			// used.
			ended := make(chan struct{})
			go func() { defer close(ended); run() }()
			<-ended
			runtime.UnlockOSThread()
			return
		}
		if err := confine(); err != nil {
			reply <- launched{nil, err}
			return
		}
		p, err := Start(spec)
		reply <- launched{p, err}
		if err == nil {
			<-p.done
		}
	}
	go run()
	r := <-reply
	return r.process, r.err
}
