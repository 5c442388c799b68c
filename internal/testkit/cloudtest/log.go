package cloudtest

import (
	"io"
	"net/http"
	"sync"
)

// Log is what a cloud let through and what it refused. The zero value is ready.
type Log struct {
	mu       sync.Mutex
	passed   []string // addresses
	refusals []int    // statuses
}

// Passed returns the addresses of the requests that were let through.
func (l *Log) Passed() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.passed...)
}

// Refusals returns the statuses of those that were not.
func (l *Log) Refusals() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int(nil), l.refusals...)
}

func (l *Log) pass(r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed = append(l.passed, r.RequestURI)
}

func (l *Log) refuse(w http.ResponseWriter, status int, body string) {
	l.mu.Lock()
	l.refusals = append(l.refusals, status)
	l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that has gone needs no answer
}
