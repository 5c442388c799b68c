package tasklist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"jcode/tasks"
)

// Line is a task as a line of a file has it.
type Line struct {
	tasks.New
	Number int `json:"-"` // of the line
	// Base is the branch, tag or commit of a repository that is named by its address.
	Base    string `json:"base,omitempty"`
	At      string `json:"at,omitempty"`
	MaxTime string `json:"max_time,omitempty"`
}

// maxLine bounds a line of a file of tasks.
const maxLine = 2 << 20

// Read reads tasks from a file with one JSON object a line. Empty lines are left out; a key that it does not know is
// an error, since what it would have said would be missed.
func Read(r io.Reader, name string) (out []Line, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for n := 1; in.Scan(); n++ {
		raw := bytes.TrimSpace(bytes.TrimPrefix(in.Bytes(), []byte("\xef\xbb\xbf")))
		if len(raw) == 0 {
			continue
		}
		line := Line{Number: n}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&line); err != nil {
			return nil, fmt.Errorf("%s:%d: %s (a line is one object with prompt, and any of folder, repo, base, role, model, mode, max_steps, max_cost, max_time, no_ask, priority, at, after, key)",
				name, n, strings.TrimPrefix(err.Error(), "json: "))
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:%d: there is more than one object on the line", name, n)
		}
		out = append(out, line)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no tasks", name)
	}
	return out, nil
}

// modes are the approval modes, the most careful first.
var modes = [...]string{"plan", "ask", "edits", "auto", "yolo"}

// Bolder reports whether a mode allows more than another one.
func Bolder(mode, than string) bool {
	return slices.Index(modes[:], mode) > slices.Index(modes[:], than)
}

// At reads a time: 22:00 is the next one, 2026-12-01 08:00 that one, 90m or 2h from now.
func At(word string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(word); err == nil {
		if d < 0 {
			return time.Time{}, fmt.Errorf("%q lies in the past", word)
		}
		return now.Add(d), nil
	}
	if t, err := time.ParseInLocation("15:04", word, now.Location()); err == nil {
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, word, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write 22:00, 2026-12-01 08:00 or, from now, 90m", word)
}
