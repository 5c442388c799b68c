package chat

import (
	"strings"
)

// thinkFilter separates thinking from the answer for models that write both into the content:
// <think>…</think> at the very beginning. Later tags are plain text, since an answer may be about such tags.
// Tags may be split across deltas.
type thinkFilter struct {
	inside bool
	begun  bool   // the beginning is decided
	closed bool   // a block has ended: white space after it is not part of the answer
	tag    string // a block has ended: white space after it is not part of the answer
	held   string // what may be the first part of a tag
}

// split separates the next piece of content.
func (t *thinkFilter) split(s string) (thought, text string) {
	if t.begun && !t.inside && !t.closed {
		return "", s
	}
	s = t.held + s
	t.held = ""
	if !t.begun {
		if s = t.begin(s); s == "" {
			return "", ""
		}
	}
	if t.inside {
		if thought, s = t.within(s); t.inside {
			return thought, ""
		}
	}
	if t.closed {
		if s = strings.TrimLeft(s, " \t\r\n"); s != "" {
			t.closed = false
		}
	}
	return thought, s
}

// begin decides whether the answer starts with a block; it holds back what is not enough to tell.
func (t *thinkFilter) begin(s string) string {
	lead := strings.TrimLeft(s, " \t\r\n")
	for _, tag := range []string{"<think>", "<thinking>"} {
		if rest, ok := strings.CutPrefix(lead, tag); ok {
			t.begun, t.inside, t.tag = true, true, "</"+tag[1:]
			return t.enter(rest)
		}
		if strings.HasPrefix(tag, lead) {
			t.held = s
			return ""
		}
	}
	t.begun = true
	return s
}

// enter drops the line break after an opening tag.
func (t *thinkFilter) enter(s string) string { return strings.TrimPrefix(s, "\n") }

// within looks for the end of the block.
func (t *thinkFilter) within(s string) (thought, rest string) {
	if t.tag == "" {
		t.tag = "</think>"
	}
	if before, after, ok := strings.Cut(s, t.tag); ok {
		t.inside, t.closed = false, true
		return strings.TrimRight(before, "\n"), after
	}
	keep := 0
	for n := min(len(t.tag)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, t.tag[:n]) {
			keep = n
			break
		}
	}
	t.held = s[len(s)-keep:]
	return s[:len(s)-keep], ""
}

// rest returns what was held back, at the end of the answer.
func (t *thinkFilter) rest() (thought, text string) {
	held := t.held
	t.held = ""
	if t.inside {
		return held, ""
	}
	return "", held
}
