package fileview_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"jcode/internal/fileview"
)

type span = fileview.Span

func same(t *testing.T, got fileview.View, text string, hidden ...span) {
	t.Helper()
	if got.Text != text || !slices.Equal(got.Hidden, hidden) {
		t.Errorf("view of %q without %v, want %q without %v", got.Text, got.Hidden, text, hidden)
	}
}

func TestOnlyShownLinesAreSeen(t *testing.T) {
	v := fileview.None("a\nb\nc\nd\n")
	same(t, v, "a\nb\nc\nd\n", span{0, 4})
	v = v.Show("a\nb\nc\nd\n", span{1, 3})
	same(t, v, "a\nb\nc\nd\n", span{0, 1}, span{3, 4})
	v = v.Show("a\nb\nc\nd\n", span{0, 1}, span{3, 4})
	same(t, v, "a\nb\nc\nd\n")
}

func TestWhatOthersChangedElsewhereIsNotKnown(t *testing.T) {
	v := fileview.All("a\nb\nc\nd\ne\n")
	same(t, v.Show("A\nb\nc\nd\nE\nf\n", span{0, 2}), "A\nb\nc\nd\ne\n")
	same(t, v.Show("b\nc\nd\nE\n", span{0, 2}), "b\nc\nd\ne\n")                         // the place where a line is gone
	same(t, v.Show("a\nX\nY\nc\nd\ne\n", span{1, 2}), "a\nX\nY\nc\nd\ne\n", span{2, 3}) // half of a difference
	same(t, v.Show("a\nb\nc\n", span{0, 3}), "a\nb\nc\n")
}

func TestOwnChangesAreKnown(t *testing.T) {
	v := fileview.All("a\nb\nc\nd\n")
	same(t, v.Change("a\nb\nc\nFOREIGN\n", "MINE\nb\nc\nFOREIGN\n"), "MINE\nb\nc\nd\n")
	// The change lies in what another one had changed: their line is not known by that.
	same(t, v.Change("a\nX\nY\nd\n", "a\nX\nMINE\nd\n"), "a\nX\nMINE\nd\n", span{1, 2})
	part := fileview.None("a\nb\nc\nd\n").Show("a\nb\nc\nd\n", span{0, 1})
	same(t, part.Change("a\nb\nc\nd\n", "A\nA2\nb\nc\nd\n"), "A\nA2\nb\nc\nd\n", span{2, 5})
}

func TestLostAreTheLinesNeverShownThatAWriteRemoves(t *testing.T) {
	v := fileview.None("a\nb\nc\nd\n").Show("a\nb\nc\nd\n", span{0, 2})
	if got := v.Lost("a\nB\n"); !slices.Equal(got, []span{{2, 4}}) {
		t.Errorf("lost %v", got)
	}
	if got := v.Lost("x\nc\nd\n"); got != nil {
		t.Errorf("lost %v, which are all there", got)
	}
	if got := fileview.Map([]span{{2, 4}}, "a\nb\nc\nd\n", "new\na\nb\nc\nX\n"); !slices.Equal(got, []span{{3, 4}}) {
		t.Errorf("found at %v", got)
	}
}

// A view never claims that a line was shown which was not, whatever others change in between.
func TestNoLineIsSeenThatWasNotShown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		file := make([]string, 12)
		next := 0
		fresh := func() string { next++; return fmt.Sprintf("%d.%d\n", round, next) }
		for i := range file {
			file[i] = fresh()
		}
		known := map[string]bool{}
		v := fileview.None(strings.Join(file, ""))
		for range 6 {
			before := strings.Join(file, "")
			switch i := rng.IntN(len(file)); rng.IntN(4) {
			case 0: // another one changes, adds and removes lines
				file[i] = fresh()
			case 1:
				file = slices.Insert(file, i, fresh())
			case 2: // an own edit
				file[i] = fresh()
				known[file[i]] = true
				v = v.Change(before, strings.Join(file, ""))
			default:
				end := min(i+1+rng.IntN(4), len(file))
				for _, l := range file[i:end] {
					known[l] = true
				}
				v = v.Show(before, span{i, end})
			}
			hidden := map[int]bool{}
			for _, s := range v.Hidden {
				for i := s.Start; i < s.End; i++ {
					hidden[i] = true
				}
			}
			at := 0
			for line := range strings.Lines(v.Text) {
				if !hidden[at] && !known[line] {
					t.Fatalf("round %d: %q counts as seen", round, line)
				}
				at++
			}
		}
	}
}
