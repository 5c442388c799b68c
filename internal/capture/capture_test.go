package capture

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jcode/internal/text"
)

func noLog() (Output, error) { return nil, errors.New("no log here") }

// TestCaptureDoesNotDependOnHowOutputIsCut checks that pieces lead to the same result as the whole,
// wherever they are cut: in a rune, in a control sequence, between CR and LF.
func TestCaptureDoesNotDependOnHowOutputIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "line\n", "\r", "\r\n", "\n", "漢", "\xff", "\xe6\xbc", "\x1b[31m", "\x1b]0;title\x07", "\x1b[2J", "\x1b", "\t", "\x00", "50%\r", "👩‍👩‍👧", "\u202e",
		}), 0, 40).Draw(t, "parts")
		whole := strings.Join(parts, "")
		c := New(noLog)
		var shown strings.Builder
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			c.take(0, []byte(rest[:n]))
			rest = rest[n:]
			added, _ := c.Report()
			shown.WriteString(added)
		}
		c.Finish()
		added, _ := c.Report()
		shown.WriteString(added)
		got := string(c.Snapshot().text.head)
		runs := regexp.MustCompile("\x00+").ReplaceAllString(whole, "␀\n")
		if want := text.Clean(runs); oneMark(got) != oneMark(want) {
			t.Fatalf("%q gives %q, want %q", whole, got, want)
		}
		if shown.String() != got {
			t.Fatalf("%q was shown as %q", got, shown.String())
		}
		if raw := c.Snapshot().Stdout; string(raw.head) != whole {
			t.Fatalf("raw %q, want %q", raw.head, whole)
		}
	})
}

func TestBytesThatAreNoTextAreOneMarkInEveryPiece(t *testing.T) {
	t.Parallel()
	for _, pieces := range [][]string{{"line\n\xff\r\xe6\xbc\xe6\xbc"}, {"line\n\xff\r\xe6\xbc", "\xe6\xbc"}, {"line\n\xff", "\r\xe6", "\xbc\xe6", "\xbc"}} {
		c := New(noLog)
		for _, piece := range pieces {
			c.take(0, []byte(piece))
		}
		c.Finish()
		if got := strings.TrimSpace(string(c.Snapshot().text.head)); got != "line\n\uFFFD" {
			t.Errorf("%q gives %q", pieces, got)
		}
	}
}

// oneMark keeps one mark of each run of invalid bytes: the number of marks depends on the cuts.
func oneMark(s string) string {
	for strings.Contains(s, "\uFFFD\uFFFD") {
		s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
	}
	return strings.TrimRight(s, "\n")
}

func TestEndsKeepTheFirstAndTheLastBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(1, 20).Draw(t, "room")
		e := ends{room: room}
		var all []byte
		for _, piece := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 60)).Draw(t, "pieces") {
			e.add(piece)
			all = append(all, piece...)
		}
		head := all[:min(room, len(all))]
		tail := all[max(len(head), len(all)-room):]
		if string(e.head) != string(head) || string(e.last()) != string(tail) || e.total != int64(len(all)) || e.Missing() != int64(len(all)-len(head)-len(tail)) {
			t.Fatalf("%d bytes, room %d: head %q tail %q missing %d, want %q %q", len(all), room, e.head, e.last(), e.Missing(), head, tail)
		}
		if cap(e.tail) > 8*room+128 {
			t.Fatalf("the tail holds %d bytes of room %d", cap(e.tail), room)
		}
	})
}
