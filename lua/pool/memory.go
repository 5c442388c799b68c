package pool

import (
	"slices"
	"time"
)

// memoryEvery is how often the memory of a host without a limit of its own is measured.
const memoryEvery = 100 * time.Millisecond

// watchMemory kills a host that exceeds the memory limit if the system does not enforce it. The returned
// function ends the watch.
func (c *Conn) watchMemory() (stop func()) {
	if c.Pid == 0 || slices.Contains(c.Layers, "memory limit") {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-c.Exited:
				return
			case <-tick.C:
				if ResidentMemory(c.Pid) > limitData {
					c.memoryKill.Store(true)
					c.KillProcess()
					return
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}
