package stream

import (
	"context"
	"sync"
)

// lane holds lines until their turn.
type lane struct {
	mu     sync.Mutex
	lines  []Line
	closed bool
	more   chan struct{}
}

func newLane() *lane { return &lane{more: make(chan struct{}, 1)} }

func (l *lane) add(line Line) {
	l.mu.Lock()
	l.lines = append(l.lines, line)
	l.mu.Unlock()
	l.ring()
}

// close says that nothing more is added; what is there is still handed out.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.ring()
}

func (l *lane) ring() {
	select {
	case l.more <- struct{}{}:
	default: // it rings already
	}
}

// next returns the next line, false at the end.
func (l *lane) next(ctx context.Context) (Line, bool) {
	for {
		l.mu.Lock()
		if len(l.lines) > 0 && ctx.Err() == nil {
			line := l.lines[0]
			l.lines = l.lines[1:]
			l.mu.Unlock()
			return line, true
		}
		closed := l.closed
		l.mu.Unlock()
		if closed || ctx.Err() != nil {
			return Line{}, false
		}
		select {
		case <-l.more:
		case <-ctx.Done():
		}
	}
}
