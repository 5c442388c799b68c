package chat

import "time"

// pacer lets a stream of many small pieces accumulate for a moment: reading each piece separately would cost a
// system call, a wake-up and a decode per token. It starts only after a stream has been that fast for a
// while, so short answers never wait.
type pacer struct {
	began  time.Time
	ended  time.Time
	hot    int           // small reads in a row that did not have to wait
	steady int           // small reads in a row, each of which ended soon after the one before
	last   int           // bytes of the last read
	pause  time.Duration // before the last read
}

// A hot stream comes as fast as it is read.
const (
	hotWait  = 500 * time.Microsecond // a read that waited longer is not hot
	hotBytes = 8 << 10                // neither is one that returned more
	hotAfter = 24                     // so many hot reads in a row start the pacing
	gather   = 3 * time.Millisecond
)

// A steady stream comes at the speed at which a fast model writes, in a hundred pieces a second and more, each of
// which wakes the program. Half of the time between two frames of the terminal (33 ms) collects a few of them.
const (
	steadyGap   = 15 * time.Millisecond // pieces that are further apart are not steady
	steadyAfter = 24
	collect     = 16 * time.Millisecond
)

// wait is called before each read.
func (p *pacer) wait() {
	switch {
	case p.hot >= hotAfter && p.last < hotBytes:
		p.pause = gather
	case p.steady >= steadyAfter:
		p.pause = collect
	default:
		p.pause = 0
	}
	time.Sleep(p.pause)
	p.began = time.Now()
}

// got is called after a read of n bytes.
func (p *pacer) got(n int) {
	now := time.Now()
	gap := now.Sub(p.ended) - p.pause
	switch p.last, p.ended = n, now; {
	case gap > steadyGap || n >= hotBytes:
		p.steady = min(p.steady, 0)
	default:
		p.steady++
	}
	switch {
	case now.Sub(p.began) > hotWait:
		p.hot = 0
	case n < hotBytes && p.pause < collect: // after that, something is always there
		p.hot++
	}
}
