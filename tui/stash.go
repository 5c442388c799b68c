package tui

import (
	"strings"

	"jcode/tui/editor"
)

// stash holds what was being written and was put aside for another message.
type stash struct {
	content editor.Content // nil without one
	text    string
}

// swap puts what the input holds aside, takes back what was put aside before, and says what it did.
func (s *stash) swap(in *editor.Editor, key string) string {
	was := *s
	*s = stash{}
	if !in.Empty() {
		*s = stash{in.Content(), in.Text()}
	}
	switch {
	case was.content != nil:
		in.SetContent(was.content)
	case s.content == nil:
		return "nothing is written and nothing is put aside"
	default:
		in.SetText("")
		return "put aside: " + key + " takes it back"
	}
	if s.content != nil {
		return "exchanged with what was put aside"
	}
	return "taken back"
}

// with returns a draft with what is put aside, so that neither is lost when the program ends.
func (s *stash) with(draft string) string {
	if strings.TrimSpace(draft) == "" || s.text == "" {
		return draft + s.text
	}
	return draft + "\n\n" + s.text
}
