package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/internal/text"
)

const (
	stderrRing  = 4 << 10
	maxLogBytes = 5 << 20
)

// serverLog keeps what a server says beside the protocol: its stderr, lines on stdout
// that are no messages, and log messages. The whole goes to a file that is turned over
// once, the last 4 kB of stderr stay in memory.
type serverLog struct {
	path string // empty = no file

	mu      sync.Mutex
	ring    []byte
	why     reasons // of an exit
	file    *os.File
	size    int64
	failed  error
	skipped int
	last    []string // the last skipped lines
}

func newServerLog(dir, server string) *serverLog {
	l := &serverLog{}
	if dir != "" {
		l.path = filepath.Join(dir, server+".log")
	}
	return l
}

// Write takes stderr as it comes. It never fails: a full disk must not stop a server.
func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring = append(l.ring, p...)
	if over := len(l.ring) - stderrRing; over > 0 {
		l.ring = append(l.ring[:0], l.ring[over:]...)
	}
	l.why.write(p)
	l.append(p)
	return len(p), nil
}

// skip notes a line on stdout that is no message.
func (l *serverLog) skip(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skipped++
	shown := text.Ellipsis(strings.TrimSpace(text.Clean(string(line[:min(len(line), 400)]))), 200)
	if l.last = append(l.last, shown); len(l.last) > 5 {
		l.last = l.last[1:]
	}
	l.append([]byte("[stdout] " + shown + "\n"))
}

// note writes a line of jcode's own.
func (l *serverLog) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append([]byte(time.Now().Format(time.DateTime) + " " + fmt.Sprintf(format, args...) + "\n"))
}

// append writes to the file, opening it at first use.
func (l *serverLog) append(p []byte) {
	if l.path == "" || l.failed != nil {
		return
	}
	if l.file != nil && l.size+int64(len(p)) > maxLogBytes {
		l.failed = l.file.Close()
		l.file = nil
		if err := os.Rename(l.path, l.path+".old"); err != nil {
			l.failed = err
		}
	}
	if l.file == nil {
		l.open()
	}
	if l.failed != nil {
		return
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	l.failed = err
}

func (l *serverLog) open() {
	if l.failed = os.MkdirAll(filepath.Dir(l.path), 0o700); l.failed != nil {
		return
	}
	l.file, l.failed = os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if l.failed != nil {
		return
	}
	if info, err := l.file.Stat(); err == nil {
		l.size = info.Size()
	}
}

// tail returns the last bytes of stderr without control sequences.
func (l *serverLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(text.Clean(string(l.ring)))
}

// forget empties the ring: what an earlier process said is not this one's reason.
func (l *serverLog) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring, l.why = nil, reasons{}
}

// reason is what explains the end of the program in a line.
func (l *serverLog) reason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why.text()
}

// stray counts the skipped lines and returns the last five.
func (l *serverLog) stray() (int, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skipped, append([]string(nil), l.last...)
}

// close ends the log; what comes later is kept in the ring only.
func (l *serverLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.failed = l.file.Close()
		l.file = nil
	}
	if l.failed == nil {
		l.failed = os.ErrClosed
	}
}
