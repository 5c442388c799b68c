package memory

import (
	"slices"
	"strings"
	"sync"

	"jcode/agent/event"
	"jcode/internal/ranking"
	"jcode/internal/text"
	"jcode/notes"
)

// uses collects in a turn what tells which notes were used in it.
type uses struct {
	mu      sync.Mutex
	prompt  string
	written strings.Builder // by the model: arguments of its calls
	recall  []notes.Note
	last    []notes.Note // of the last turn that used any
	all     map[string]bool
}

// mostWritten bounds what is kept of a turn, in bytes.
const mostWritten = 256 << 10

func (u *uses) begin(prompt string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.prompt, u.recall = prompt, nil
	u.written.Reset()
}

func (u *uses) wrote(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.written.Len()+len(s) < mostWritten {
		u.written.WriteString(" " + s)
	}
}

func (u *uses) found(list []notes.Note) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, n := range list {
		if !slices.ContainsFunc(u.recall, func(k notes.Note) bool { return k.ID == n.ID }) {
			u.recall = append(u.recall, n)
		}
	}
}

// usedShare is how many of a note's words, that the user did not say, the model must have written for the note to count
// as used.
const usedShare = 0.75

// end returns the notes that a turn used: those that a search gave to the model, and those of the index whose words are in
// what the model wrote.
func (u *uses) end(answer string, index []notes.Note) []notes.Note {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := slices.Clone(u.recall)
	if len(index) > 0 {
		wrote, asked := set(u.written.String()+" "+answer), set(u.prompt)
		for _, n := range index {
			if !slices.ContainsFunc(out, func(k notes.Note) bool { return k.ID == n.ID }) && reflects(n.Text, wrote, asked) {
				out = append(out, n)
			}
		}
	}
	if len(out) > 0 {
		u.last = out
		if u.all == nil {
			u.all = map[string]bool{}
		}
		for _, n := range out {
			u.all[n.ID] = true
		}
	}
	return out
}

// names returns the notes that were used in this process, and those of the last turn that used any.
func (u *uses) names() (all, last map[string]bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all, last = map[string]bool{}, map[string]bool{}
	for id := range u.all {
		all[id] = true
	}
	for _, n := range u.last {
		last[n.ID] = true
	}
	return all, last
}

func set(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range ranking.Terms(s) {
		out[w] = true
	}
	return out
}

// reflects reports whether a text has the words of a note that the question did not have.
func reflects(note string, wrote, asked map[string]bool) bool {
	words := set(note)
	new, had := 0, 0
	for w := range words {
		if asked[w] {
			continue
		}
		if new++; wrote[w] {
			had++
		}
	}
	return had >= 2 && float64(had) >= usedShare*float64(new)
}

// used returns the notes that a turn used, as its end names them.
func (m *Memory) used(end event.TurnEnd) []event.Note {
	var index []notes.Note
	if conv := m.opts.Open(); conv != nil {
		index = m.offered(conv.ID())
	}
	var out []event.Note
	for _, n := range m.uses.end(end.Text, index) {
		out = append(out, event.Note{ID: n.ID, Text: text.OneLine(n.Text), From: n.Written()})
	}
	return out
}
