package screen

import (
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

// shows returns the text and the styles of all cells of a terminal that received some bytes.
func shows(emu *vt.Emulator) string { return emu.Render() }

func write(t interface{ Fatal(...any) }, emu *vt.Emulator, s string) {
	if _, err := emu.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

func TestDifferencesMakeTheNewScreen(t *testing.T) {
	parts := []string{"word ", "x", " ", "\x1b[1mbold\x1b[m", "\x1b[38;2;1;2;3mcolour \x1b[m", "漢字", "한글", "👩‍👩‍👧", "🇨🇳", "e\u0301", "• ", "\x1b[7mrev\x1b[m", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "─────", "❤️"}
	rapid.Check(t, func(t *rapid.T) {
		const width, height = 30, 10
		line := func() string { return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 7).Draw(t, "line"), "") }
		emu := vt.NewEmulator(width, height)
		var old []string
		margins := 0
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			now := make([]string, height)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0: // anything
				for y := range now {
					now[y] = line()
				}
			case 1: // a few lines change or grow
				if old != nil {
					copy(now, old)
				}
				for range 3 {
					y := rapid.IntRange(0, height-1).Draw(t, "y")
					if rapid.Bool().Draw(t, "grow") {
						now[y] += line()
					} else {
						now[y] = line()
					}
				}
			default: // most of it moves
				n := rapid.IntRange(-4, 4).Draw(t, "move")
				for y := range now {
					if from := y + n; old != nil && from >= 0 && from < height-2 {
						now[y] = old[from]
					} else {
						now[y] = line()
					}
				}
			}
			d := differ{old: old, now: now, width: width, region: rapid.IntRange(0, height).Draw(t, "region"), margins: margins}
			write(t, emu, d.draw())
			old, margins = d.now, d.margins
			fresh := vt.NewEmulator(width, height)
			whole := differ{now: append([]string(nil), now...), width: width}
			write(t, fresh, whole.draw())
			if got, want := shows(emu), shows(fresh); got != want {
				t.Fatalf("the screen shows\n%q\nwant\n%q", got, want)
			}
		}
	})
}

func TestGrowingLineWritesOnlyItsEnd(t *testing.T) {
	t.Parallel()
	old := []string{"a", "some words of \x1b[1man\x1b[m answer", "", ""}
	now := []string{"a", "some words of \x1b[1man\x1b[m answer and more", "", ""}
	d := differ{old: old, now: now, width: 80}
	if got := d.draw(); got != "\x1b[2;24H and more" {
		t.Errorf("wrote %q", got)
	}
}

func TestMovedLinesAreScrolled(t *testing.T) {
	t.Parallel()
	var old, now []string
	for i := range 20 {
		old = append(old, "line "+strconv.Itoa(i))
		now = append(now, "line "+strconv.Itoa(i+2))
	}
	old, now = append(old, "input", "status"), append(now, "input", "status")
	d := differ{old: old, now: now, width: 80, region: 20}
	if got := d.draw(); len(got) > 60 || !strings.Contains(got, "\x1b[2S") {
		t.Errorf("wrote %q", got)
	}
	d = differ{old: now, now: old, width: 80, region: 20}
	if got := d.draw(); len(got) > 60 || !strings.Contains(got, "\x1b[2T") {
		t.Errorf("wrote %q", got)
	}
}
