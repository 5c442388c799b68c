package mcptest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Event is one line of a server's log.
type Event struct {
	At     time.Time       `json:"at"`
	Pid    int             `json:"pid"`
	Kind   string          `json:"kind"` // start, receive, eof, end
	Method string          `json:"method,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

type eventLog struct {
	mu   sync.Mutex
	file *os.File
}

func openLog() *eventLog {
	path := os.Getenv(LogVariable)
	if path == "" {
		return &eventLog{}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return &eventLog{}
	}
	return &eventLog{file: f}
}

func (l *eventLog) add(kind, method string, raw []byte) {
	if l.file == nil {
		return
	}
	e := Event{At: time.Now(), Pid: os.Getpid(), Kind: kind, Method: method}
	if json.Valid(raw) {
		e.Raw = raw
	}
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.file.Write(append(line, '\n')) // a test that needs the line fails without it
}

// ReadLog reads a server's log; a file that does not exist yet has no events.
func ReadLog(path string) ([]Event, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	var events []Event
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			events = append(events, e)
		}
	}
	return events, lines.Err()
}

// Pids lists the processes in a log, in start order.
func Pids(events []Event) []int {
	var pids []int
	for _, e := range events {
		if e.Kind == "start" {
			pids = append(pids, e.Pid)
		}
	}
	return pids
}

// Received lists the messages of a method, in order.
func Received(events []Event, method string) []json.RawMessage {
	var out []json.RawMessage
	for _, e := range events {
		if e.Kind == "receive" && e.Method == method {
			out = append(out, e.Raw)
		}
	}
	return out
}
