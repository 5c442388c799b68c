package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"jcode/internal/pattern"
	"jcode/internal/text"
)

// blameGrace is how long a request still waits after its answer seems to have arrived
// unreadable: some programs print a message before they send it.
const blameGrace = time.Second

// unreadable is the failure of a request whose answer could not be read.
func unreadable(data []byte) error {
	quote := text.Clean(text.Valid(string(data[:min(len(data), 1000)])))
	return &answerError{"the server's answer can't be read: " + text.Ellipsis(quote, 300)}
}

// suspicion records that one of these requests seems to have an unreadable answer.
type suspicion struct {
	ids map[string]bool // requests that were pending
	err error
	due time.Time
}

// looksLikeAnswer reports whether output that is not a message may be meant as an answer: it
// begins like a JSON value and names the protocol or the members of an answer, but no method, as
// a log line about a request would.
func looksLikeAnswer(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return false
	}
	head := data[:min(len(data), 4<<10)]
	if json.Valid(data) {
		e, _ := readEnvelope(data)
		return e.method == "" && !e.other && (e.id != nil || e.err != nil || e.result != nil)
	}
	return bytes.Contains(head, []byte("jsonrpc")) && !methodMember().Match(head)
}

var (
	methodMember = pattern.Lazy(`["']?method["']?\s*:\s*["']`)
	idMember     = pattern.Lazy(`["']id["']\s*:\s*(\d+|"[^"]{0,100}")`)
)

// suspect records output that may be an unusable answer. After blameGrace the request fails that
// the output names, or the only pending one.
func (t *Tap) suspect(data []byte, err error) {
	if err == nil {
		if !looksLikeAnswer(data) {
			return
		}
		err = unreadable(data)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := suspicion{ids: map[string]bool{}, err: err, due: time.Now().Add(t.grace)}
	for id, p := range t.pending {
		if p.method != "subscriptions/listen" {
			s.ids[id] = true
		}
	}
	for _, m := range idMember().FindAllSubmatch(data[:min(len(data), 64<<10)], 8) {
		if id := IDKey(m[1]); s.ids[id] {
			s.ids = map[string]bool{id: true}
			break
		}
	}
	if len(s.ids) == 0 || t.doom == nil {
		return
	}
	t.suspicions = append(t.suspicions, s)
	time.AfterFunc(t.grace, t.judge)
}

// judge fails the requests that must be the ones with unreadable answers.
func (t *Tap) judge() {
	t.mu.Lock()
	doomed := map[string]error{}
	now := time.Now()
	t.suspicions = slices.DeleteFunc(t.suspicions, func(s suspicion) bool {
		maps.DeleteFunc(s.ids, func(id string, _ bool) bool { _, waits := t.pending[id]; return !waits })
		if len(s.ids) == 1 && !now.Before(s.due) {
			for id := range s.ids {
				doomed[id] = s.err
			}
		}
		return len(s.ids) == 0 || len(s.ids) == 1 && !now.Before(s.due)
	})
	doom := t.doom
	t.mu.Unlock()
	for id, err := range doomed {
		doom(id, err)
	}
}

// stray handles an answer to no pending request. An answer to a request that was cancelled is
// expected.
func (t *Tap) stray(e envelope) {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	var n int64
	if _, err := fmt.Sscan(IDKey(e.id), &n); e.id != nil && err == nil && n <= last {
		return
	}
	why := "the server answered a request that nobody made"
	if e.id == nil {
		why = "the server answered without saying what"
	}
	if e.err != nil {
		why += ": " + ErrorText(wireError(e.err))
	} else {
		why += ": " + text.Ellipsis(text.Clean(text.Valid(string(e.result))), 300)
	}
	t.suspect(e.id, &answerError{why})
}

// answerError is the failure of a request whose answer can't be used.
type answerError struct{ text string }

func (e *answerError) Error() string { return e.text }
