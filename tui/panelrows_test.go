//go:build linux || darwin

package tui

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/tuitest"
)

// A list that is read again keeps its preview until the new one is there: otherwise it would blink each second. Only
// the row under the cursor is read.
func TestTheRowUnderTheCursorIsReadAgainWithTheList(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 30, nil)
	rows := []command.Row{{ID: "1", Name: "one"}, {ID: "2", Name: "two"}}
	pk, reads := dialog.NewPicker("Tasks", rows, nil), map[string]int{}
	pk.Live = true
	pk.Preview = func(_ context.Context, r command.Row, _ string) (string, error) {
		reads[r.ID]++
		return fmt.Sprintf("%s, read %d", r.Name, reads[r.ID]), nil
	}
	p.Open(pk)
	list := func(context.Context) ([]command.Row, error) { return rows, nil }
	settleCmd(p, refill(p.loop, pk, list, func() {}))
	pk.Set(rows)
	again := pk.Reread(p)
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "one, read 1") {
		t.Errorf("the preview is gone while the next one is read:\n%s", s)
	}
	settleCmd(p, again)
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "one, read 2") || reads["2"] != 0 {
		t.Errorf("after the list was read again (reads: %v):\n%s", reads, s)
	}
}

// What a search elsewhere has found stays in a list that is read again, until the search is asked again: Enter may come in
// between.
func TestWhatASearchFoundStaysWhileTheListIsReadAgain(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 30, nil)
	chosen := ""
	pk := dialog.NewPicker("Sessions", []command.Row{{ID: "1", Name: "one"}, {ID: "2", Name: "two"}}, func(r command.Row) tea.Cmd {
		chosen = r.ID
		return nil
	})
	p.Open(pk)
	press(p, "z", "e")
	pk.Rows[1].Search = "ze"
	pk.Filter()
	pk.Set([]command.Row{{ID: "1", Name: "one"}, {ID: "2", Name: "renamed"}})
	press(p, "enter")
	if chosen != "2" {
		t.Errorf("chosen %q", chosen)
	}
}

// Page keys move by what is seen, so that no row is passed over and none is read twice but the one to go by.
func TestPageKeysOfAListMoveByWhatIsSeen(t *testing.T) {
	t.Parallel()
	for _, height := range []int{15, 24, 50} {
		p, _ := still(t, 80, height, nil)
		var rows []command.Row
		for i := range 200 {
			rows = append(rows, command.Row{ID: strconv.Itoa(i), Name: fmt.Sprintf("row%03d", i)})
		}
		p.Open(dialog.NewPicker("Rows", rows, nil))
		seen := func() []string {
			return regexp.MustCompile(`row\d+`).FindAllString(tuitest.Stripped(p.frameText()), -1)
		}
		first := seen()
		press(p, "pgdown") // the cursor goes to the last row that is seen
		press(p, "pgdown")
		if second := seen(); len(second) != len(first) || second[0] != first[len(first)-1] {
			t.Errorf("%d rows: after %v come %v", height, first, second)
		}
		press(p, "pgup")
		press(p, "pgup")
		if again := seen(); !slices.Equal(again, first) {
			t.Errorf("%d rows: back at %v", height, again)
		}
	}
}
