package chat

import "time"

// pacer lets a stream of many small pieces accumulate for a moment: reading each piece separately would cost a
// system call, a wake-up and a decode per token. It starts only after a stream has come as fast as it is read for a
// while. One that comes at the speed at which a model writes is read at once: its last piece would be late otherwise.
type pacer struct {
	began time.Time
	hot   int // small reads in a row that did not have to wait
	last  int // bytes of the last read
}

// A hot stream comes as fast as it is read.
const (
	hotWait  = 500 * time.Microsecond // a read that waited longer is not hot
	hotBytes = 8 << 10                // neither is one that returned more
	hotAfter = 24                     // so many hot reads in a row start the pacing
	gather   = 3 * time.Millisecond
)

// wait is called before each read.
func (p *pacer) wait() {
	if p.hot >= hotAfter && p.last < hotBytes {
		time.Sleep(gather)
	}
	p.began = time.Now()
}

// got is called after a read of n bytes.
func (p *pacer) got(n int) {
	p.last = n
	switch {
	case time.Since(p.began) > hotWait:
		p.hot = 0
	case n < hotBytes:
		p.hot++
	}
}
