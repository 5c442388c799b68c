package lua

import (
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/text"
)

// How much of the scripts' output is kept.
const (
	maxLines     = 500
	maxLineBytes = 8 << 10
)

// LogLine is one line that a script, or the room about it, has written.
type LogLine struct {
	At    time.Time
	Name  string // of the tool or plugin
	Level string // print, debug, info, warn, error
	Text  string
}

// logs keeps the last lines of all scripts.
type logs struct {
	mu    sync.Mutex
	lines []LogLine
}

func (l *logs) add(name, level, s string) {
	switch level {
	case "print", "debug", "info", "warn", "error":
	default:
		level = "info"
	}
	s, _ = text.CutMark(text.Clean(s[:min(len(s), 2*maxLineBytes)]), maxLineBytes, " […]")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, LogLine{At: time.Now(), Name: name, Level: level, Text: s})
	if len(l.lines) > maxLines {
		l.lines = slices.Delete(l.lines, 0, len(l.lines)-maxLines)
	}
}

// of returns the lines of one script, or of all when name is empty.
func (l *logs) of(name string) []LogLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []LogLine
	for _, line := range l.lines {
		if name == "" || line.Name == name {
			out = append(out, line)
		}
	}
	return out
}

// cleanLine returns a text of a script as one line without control characters.
func cleanLine(s string) string {
	line, _, _ := strings.Cut(text.Clean(s), "\n")
	return text.Cut(line, 500)
}

// maxResult is the most text that a result carries.
const maxResult = 1 << 20

// capText truncates a result at a character boundary and appends a note.
func capText(s string) string {
	s = text.Valid(s)
	if len(s) <= maxResult {
		return s
	}
	return text.Cut(s, maxResult) + "\n[cut here: a result holds at most 1 MiB]"
}
