package patch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jcode/internal/edit"
)

// Done is the result of applying hunks to a text.
type Done struct {
	Text string
	// Notes say what was not done literally.
	Notes []string
}

// Apply applies the hunks to a text, all or none. Unchanged lines keep their bytes; new lines get
// the line ending of those around them. An error names the hunk and what to do.
func Apply(text string, hunks []Hunk) (Done, error) {
	t := newText(text)
	var done Done
	at := 0 // the first line that may be changed: hunks come in order
	var b strings.Builder
	copied := 0
	for i := range hunks {
		h := &hunks[i]
		from, how, err := t.find(h, at)
		if err != nil {
			return Done{}, fmt.Errorf("hunk %d of %d (line %d of the patch): %w", i+1, len(hunks), h.Line, err)
		}
		if how != "" {
			done.Notes = append(done.Notes, fmt.Sprintf("hunk %d was found by ignoring %s; lines that stay were kept as they are in the file", i+1, how))
		}
		for ; copied < from; copied++ {
			b.WriteString(t.lines[copied])
		}
		copied = t.put(&b, h, from)
		at = copied
	}
	for ; copied < len(t.lines); copied++ {
		b.WriteString(t.lines[copied])
	}
	done.Text = t.ended(b.String())
	if done.Text == text {
		return Done{}, fmt.Errorf("no change: the file already reads as the patch says")
	}
	return done, nil
}

// text is a file split into lines, each with its ending.
type text struct {
	whole  string
	lines  []string
	bare   []string // without their endings
	ending string   // of most lines
	open   bool     // the last line has no ending
}

func newText(s string) *text {
	t := &text{whole: s, ending: "\n"}
	crlf := 0
	for l := range strings.Lines(s) {
		t.lines = append(t.lines, l)
		bare := strings.TrimSuffix(l, "\n")
		if b, ok := strings.CutSuffix(bare, "\r"); ok && bare != l {
			bare = b
			crlf++
		}
		t.bare = append(t.bare, bare)
	}
	if crlf > len(t.lines)/2 {
		t.ending = "\r\n"
	}
	t.open = s != "" && !strings.HasSuffix(s, "\n")
	return t
}

// ended removes the ending of the last line if the file had none there before.
func (t *text) ended(s string) string {
	if t.open {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
	}
	return s
}

// put writes a hunk whose old lines begin at from, and returns where they end.
func (t *text) put(b *strings.Builder, h *Hunk, from int) int {
	ending := t.ending
	if from < len(t.lines) && len(t.lines[from]) > len(t.bare[from]) {
		ending = t.lines[from][len(t.bare[from]):]
	} else if from > 0 && len(t.lines[from-1]) > len(t.bare[from-1]) {
		ending = t.lines[from-1][len(t.bare[from-1]):]
	}
	if s := b.String(); from == len(t.lines) && s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteString(ending)
	}
	for _, l := range h.lines {
		switch l.op {
		case '+':
			b.WriteString(l.text + ending)
		case ' ':
			b.WriteString(t.lines[from])
			if !strings.HasSuffix(t.lines[from], "\n") {
				b.WriteString(ending) // the last line, which may have others behind it now
			}
			from++
		case '-':
			from++
		}
	}
	return from
}

// looseness is what is ignored to find lines; line endings always are.
type looseness struct {
	what string
	fold func(string) string
}

func degrees() []looseness {
	blanks := func(s string) string { return strings.TrimRight(s, " \t") }
	return []looseness{
		{"", func(s string) string { return s }},
		{"spaces at line ends", blanks},
		{"spaces at line ends and the kind of quotes, dashes and spaces", func(s string) string { return blanks(edit.Fold(s)) }},
	}
}

// find returns the line at which a hunk's old lines begin, from a line on. how says what had to
// be ignored.
func (t *text) find(h *Hunk, at int) (from int, how string, err error) {
	start, err := t.behind(h.Headers, at)
	if err != nil {
		return 0, "", err
	}
	old := h.without('+')
	if len(old) == 0 {
		return t.insertion(h, start)
	}
	for _, d := range degrees() {
		places := t.places(old, start, d.fold)
		if h.AtEnd {
			places = slices.DeleteFunc(places, func(p int) bool { return p+len(old) != len(t.bare) })
		}
		switch {
		case len(places) == 0:
			continue
		case len(places) > 1 && len(h.Headers) == 0:
			return 0, "", fmt.Errorf("its lines are found %d times, at lines %s: add lines around them, or an @@ line with one that comes before (@@ func name)", len(places), numbers(places))
		case len(places) > 1 && d.what != "":
			return 0, "", fmt.Errorf("its lines are not in the file as they are written, and ignoring %s they are found at lines %s: copy them exactly", d.what, numbers(places))
		}
		return places[0], d.what, nil
	}
	return 0, "", t.missing(h, old, at, start)
}

// without returns a hunk's lines except for the added ones ('+'), which are those that it expects
// in the file, or the removed ones ('-'), which are those that it leaves there.
func (h *Hunk) without(op byte) []string {
	var out []string
	for _, l := range h.lines {
		if l.op != op {
			out = append(out, l.text)
		}
	}
	return out
}

// Added returns the lines that a hunk adds.
func (h *Hunk) Added() string {
	var b strings.Builder
	for _, l := range h.lines {
		if l.op == '+' {
			b.WriteString(l.text + "\n")
		}
	}
	return b.String()
}

// behind returns the line after the headers, which follow one another in the file.
func (t *text) behind(headers []string, at int) (int, error) {
	for _, want := range headers {
		rest := t.bare[at:]
		found := slices.IndexFunc(rest, func(s string) bool { return strings.TrimSpace(s) == want })
		if found < 0 {
			found = slices.IndexFunc(rest, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), want) })
		}
		if found < 0 {
			return 0, t.noHeader(want, at)
		}
		at += found + 1
	}
	return at, nil
}

func (t *text) noHeader(want string, at int) error {
	for i := range min(at, len(t.bare)) {
		if strings.HasPrefix(strings.TrimSpace(t.bare[i]), want) {
			return fmt.Errorf("no line from %d on reads %q (line %d does): hunks must be in the order of the file", at+1, want, i+1)
		}
	}
	msg := fmt.Sprintf("no line reads %q, as its @@ line says", want)
	if near, ok := edit.Nearest(t.whole, want); ok {
		return fmt.Errorf("%s; the nearest is\n%s\ncopy it exactly, or leave the @@ line bare", msg, near)
	}
	return fmt.Errorf("%s: read the file", msg)
}

// insertion finds the place of a hunk that only adds.
func (t *text) insertion(h *Hunk, start int) (int, string, error) {
	switch {
	case h.AtEnd || len(t.lines) == 0:
		return len(t.lines), "", nil
	case len(h.Headers) > 0:
		return start, "", nil
	}
	return 0, "", fmt.Errorf("it only adds lines, and does not say where: begin with a line that stays before them, or end with %q to add them at the end", endOfFile)
}

// places lists the places of lines, from a line on.
func (t *text) places(old []string, start int, fold func(string) string) (out []int) {
	want := make([]string, len(old))
	for i, s := range old {
		want[i] = fold(s)
	}
	same := func(have, want string) bool { return fold(have) == want }
	for i := start; i+len(old) <= len(t.bare); i++ {
		if slices.EqualFunc(t.bare[i:i+len(old)], want, same) {
			out = append(out, i)
		}
	}
	return out
}

func numbers(places []int) string {
	var out []string
	for _, p := range places[:min(len(places), 10)] {
		out = append(out, strconv.Itoa(p+1))
	}
	if len(places) > len(out) {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// missing says why the lines of a hunk were not found.
func (t *text) missing(h *Hunk, old []string, at, start int) error {
	all := t.places(old, 0, degrees()[1].fold)
	switch {
	case len(all) > 0 && h.AtEnd:
		return fmt.Errorf("its lines are not the last of the file, as %q says, but at lines %s: leave that line out", endOfFile, numbers(all))
	case len(all) > 0 && all[0] < at:
		return fmt.Errorf("its lines are at %s, before the end of the hunk before: hunks must be in the order of the file and don't overlap", numbers(all))
	case len(all) > 0 && all[0] < start:
		return fmt.Errorf("its lines are at %s, before the line that its @@ line names", numbers(all))
	}
	now := h.without('-')
	msg := "its lines are not in the file"
	if there := t.places(now, 0, degrees()[0].fold); len(there) > 0 && len(now) > 0 {
		msg += fmt.Sprintf("; its result is already there, at line %s: it may have been applied before", numbers(there))
	}
	if near, ok := edit.Nearest(t.whole, strings.Join(old, "\n")); ok {
		return fmt.Errorf("%s. The nearest lines are (→ is a tab, · a space at an end, ≠ a line that differs):\n%s\ncopy them exactly as the file has them", msg, near)
	}
	return fmt.Errorf("%s, nor anything like them: read the file and copy them exactly", msg)
}
