package endpoint

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Reasons for which a Silence ends a request.
var (
	errIdle = errors.New("the server went silent")
	errDone = errors.New("nothing followed the end of the answer")
)

// Silence cancels a request when its server says nothing for too long. The first data may take patience ×
// limit, whether or not headers or comments arrive before: many servers send those at once and read the
// prompt only then. Later, comments count for less than data: they keep a request alive for the same time
// since the last data.
//
// Time is counted in short slices, and a slice counts once however late its timer fires: while the process is
// stopped or the machine sleeps, the server had nobody to talk to, and what it sent waits in the socket.
type Silence struct {
	limit  time.Duration
	slice  time.Duration
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer
	quiet  time.Duration // since anything arrived
	unfed  time.Duration // since data arrived
	begun  bool          // data has arrived
	ending bool          // the finish reason has arrived
	over   bool
}

// patience is how many idle limits the first data may take, and comments may bridge: a local server can take
// minutes to read a long prompt.
const patience = 2.5

// afterFinish is how long to wait for the rest of a stream after its finish reason.
const afterFinish = 3 * time.Second

// A limit is counted in this many slices, none longer than maxSlice.
const (
	sliced   = 16
	maxSlice = time.Second
)

func watchSilence(limit time.Duration, cancel context.CancelCauseFunc) *Silence {
	s := &Silence{limit: limit, slice: min(maxSlice, limit/sliced+1), cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(s.slice, s.tick)
	return s
}

// tick counts one slice of silence.
func (s *Silence) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.quiet += s.slice
	s.unfed += s.slice
	most := time.Duration(float64(s.limit) * patience)
	switch {
	case s.ending && s.quiet >= min(s.limit, afterFinish):
		s.end(errDone)
	case s.begun && !s.ending && s.quiet >= s.limit, !s.ending && s.unfed >= most:
		s.end(errIdle)
	default:
		s.timer.Reset(s.slice)
	}
}

// end cancels the request. The caller holds the lock.
func (s *Silence) end(why error) {
	s.over = true
	s.cancel(why)
}

// Heard records that the server sent something; fed says that it was more than comments.
func (s *Silence) Heard(fed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return
	}
	s.quiet = 0
	if fed {
		s.begun, s.unfed = true, 0
	}
}

// last shortens the limit at the end of an answer.
func (s *Silence) last() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.ending, s.quiet = true, 0
	}
}

func (s *Silence) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.timer.Stop()
}

// Reader reports each read as a sign that the server is alive; Heard decides what is data.
func (s *Silence) Reader(body io.ReadCloser) io.ReadCloser { return heardReader{body, s} }

type heardReader struct {
	io.ReadCloser
	silent *Silence
}

func (h heardReader) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		h.silent.Heard(false)
	}
	return n, err
}
