package wire

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

// Log keeps a server's output besides the protocol: its stderr, lines on stdout that are not
// messages, and log messages. All of it is written to a file that is rotated once; the last 4 kB
// of stderr stay in memory.
type Log struct {
	Path string // empty = no file
	// Private reports whether nothing may be written to the file now; nil: it may.
	Private func() bool

	mu      sync.Mutex
	ring    []byte
	why     reasons // of an exit
	file    *os.File
	size    int64
	failed  error
	skipped int
	last    []string // the last skipped lines
}

// NewLog returns the log of a server, whose file is created in dir at the first line. With an
// empty dir the log has no file.
func NewLog(dir, server string) *Log {
	l := &Log{}
	if dir != "" {
		l.Path = filepath.Join(dir, server+".log")
	}
	return l
}

// Write appends stderr. It never fails: a full disk must not stop a server.
func (l *Log) Write(p []byte) (int, error) {
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

// skip records a line on stdout that is not a message.
func (l *Log) skip(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skipped++
	shown := text.Ellipsis(strings.TrimSpace(text.Clean(string(line[:min(len(line), 400)]))), 200)
	if l.last = append(l.last, shown); len(l.last) > 5 {
		l.last = l.last[1:]
	}
	l.append([]byte("[stdout] " + shown + "\n"))
}

// Note writes a line of jcode's own.
func (l *Log) Note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append([]byte(time.Now().Format(time.DateTime) + " " + fmt.Sprintf(format, args...) + "\n"))
}

// append writes to the file, opening it at first use.
func (l *Log) append(p []byte) {
	if l.Path == "" || l.failed != nil || l.Private != nil && l.Private() {
		return
	}
	if l.file != nil && l.size+int64(len(p)) > maxLogBytes {
		l.failed = l.file.Close()
		l.file = nil
		if err := os.Rename(l.Path, l.Path+".old"); err != nil {
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

func (l *Log) open() {
	if l.failed = os.MkdirAll(filepath.Dir(l.Path), 0o700); l.failed != nil {
		return
	}
	l.file, l.failed = os.OpenFile(l.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if l.failed != nil {
		return
	}
	if info, err := l.file.Stat(); err == nil {
		l.size = info.Size()
	}
}

// Tail returns the last bytes of stderr without control sequences.
func (l *Log) Tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(text.Clean(string(l.ring)))
}

// forget empties the ring: output of an earlier process does not explain the end of this one.
func (l *Log) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring, l.why = nil, reasons{}
}

// Reason returns a line that explains the end of the program.
func (l *Log) Reason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why.text()
}

// Stray returns the number of skipped lines and the last five.
func (l *Log) Stray() (int, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skipped, append([]string(nil), l.last...)
}

// Close ends the log; what comes later is kept in the ring only.
func (l *Log) Close() {
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
