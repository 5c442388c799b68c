package builtin

import (
	"fmt"
	"slices"
	"strings"

	"jcode/internal/diff"
	"jcode/internal/edit"
	"jcode/internal/text"
	"jcode/tools"
)

// chosenHunks are the hunks of a change that a person took, of all that were shown.
type chosenHunks struct {
	parts []diff.Part
	taken []int
}

// hunksOf returns which hunks a person took of a change with this diff; nil if it is to be made whole.
func hunksOf(call tools.Call, unified, what string) (*chosenHunks, error) {
	h := &chosenHunks{parts: diff.Parts(unified), taken: call.Decision.Hunks}
	switch {
	case h.taken == nil:
		return nil, nil
	case unified != call.Plan.Diff || len(h.parts) <= slices.Max(append(h.taken, 0)):
		return nil, tools.Errorf(tools.KindIO, "%s was not written: it changed after the user chose hunks of this change; make the change again", what)
	}
	return h, nil
}

// text returns a text with the taken hunks only, of the n that belong to it from the given one on.
func (h *chosenHunks) text(old, now string, from, n int) (string, error) {
	taken, ok := diff.Take(old, now, h.parts[from:from+n], func(i int) bool { return slices.Contains(h.taken, from+i) })
	if !ok {
		return "", tools.Errorf(tools.KindIO, "nothing was written: the hunks that the user chose do not fit the file; make the change again")
	}
	return taken, nil
}

// note tells the model which hunks were not taken; "" if all were.
func (h *chosenHunks) note() string {
	var left strings.Builder
	n := 0
	for i, p := range h.parts {
		if !slices.Contains(h.taken, i) {
			fmt.Fprintf(&left, "\n%s %s", p.Name, strings.TrimRight(p.Text, "\n"))
			n++
		}
	}
	if n == 0 {
		return ""
	}
	shown, _ := text.HeadTail(left.String(), maxDiffText, func(_, lines int) string {
		return fmt.Sprintf("\n[… %d lines left out …]\n", lines)
	})
	them := "these were refused and are not written"
	if n == 1 {
		them = "this one was refused and is not written"
	}
	return fmt.Sprintf("the user took %d of %d hunks of this change; %s:%s", len(h.parts)-n, len(h.parts), them, shown)
}

// take leaves out the hunks of a change that the person who was asked did not take.
func (c *change) take(call tools.Call) error {
	h, err := hunksOf(call, c.diff.Text, c.t.shown)
	if h == nil || err != nil {
		return err
	}
	old, enc := "", edit.UTF8
	if c.exists {
		if old, enc, err = edit.Decode(c.before); err != nil {
			return tools.Errorf(tools.KindIO, "%s: %w", c.t.shown, err)
		}
	}
	now, err := enc.Text(c.after)
	if err == nil {
		now, err = h.text(old, now, 0, len(h.parts))
	}
	if err == nil {
		c.after, err = enc.Encode(now)
	}
	if err != nil {
		return err
	}
	if note := h.note(); note != "" {
		c.notes, c.written = append(c.notes, note), nil
	}
	c.compare()
	return nil
}

// take leaves out the hunks of a patch that the person who was asked did not take; the text says which.
func (p *patching) take() (note string, err error) {
	whole, _, _ := p.diffText()
	h, err := hunksOf(p.call, whole, "the patch")
	if h == nil || err != nil {
		return "", err
	}
	at := 0
	for _, file := range p.shown() {
		n := len(diff.Parts(file.diff.Text))
		from := file.taken(h, at, n)
		if from == nil {
			at += n
			continue
		}
		if file.text, err = h.text(*from, file.text, at, n); err != nil {
			return "", err
		}
		at += n
		if err := file.encode(); err != nil {
			return "", err
		}
	}
	return h.note(), nil
}

// taken decides whether a file is created or removed by the taken hunks, and returns its text before the patch if
// they change it; nil leaves the file as the patch has it.
func (p *patchedFile) taken(h *chosenHunks, from, n int) *string {
	some := slices.ContainsFunc(h.taken, func(i int) bool { return i >= from && i < from+n })
	switch {
	case n == 0:
		return nil
	case p.there && p.from != nil && !p.exists:
		return plainText(p.from.before)
	case !p.exists: // it is new
		p.there = some
		return new(string)
	case p.gone():
		if some {
			return nil
		}
		p.there, p.text = true, *plainText(p.before)
		return plainText(p.before)
	}
	return plainText(p.before)
}
