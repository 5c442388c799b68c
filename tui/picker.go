package tui

import (
	"context"
	"errors"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// picker is a list with a search field and a detail of the row under the cursor. Enter chooses; other keys
// run actions.
type picker struct {
	title, empty string
	rows         []command.Row
	shown        []int // indexes of rows that match the search
	at, from     int   // chosen one among shown, first one drawn
	search       field
	loading      bool
	failed       string
	note         string
	noSearch     bool
	live         bool            // its rows change while it is open
	infoFirst    bool            // Info matters more than State
	confirm      *command.Action // waits for a second press
	detailFrom   int

	choose  func(r command.Row) tea.Cmd // Enter, which also closes the list
	stays   bool                        // Enter leaves it open
	actions []command.Action            // additional ones, by key
	reload  func(then func()) tea.Cmd   // rereads the rows; then runs when they are set
	move    func(r command.Row)         // called when the cursor moves
	cancel  func() tea.Cmd
	typed   func(query string) tea.Cmd // also searches elsewhere
	toggle  func() tea.Cmd             // Tab
	tabHint string
	preview func(ctx context.Context, r command.Row, query string) (string, error) // more of a row than its detail, read when the cursor is on it
	seen    map[string]string                                                      // previews by row, of the current search
	enter   string                                                                 // what Enter does, "" = "choose"
	// What actions need from the program; set if there are any.
	command func(line string) (cmd tea.Cmd, ok bool)                // runs "/name arguments"
	editor  func(file string, then func(err error) tea.Cmd) tea.Cmd // opens the person's editor
	leave   string                                                  // what Esc does, "" = "close"
}

func newPicker(title string, rows []command.Row, choose func(r command.Row) tea.Cmd) *picker {
	pk := &picker{title: title, search: newField(), choose: choose}
	pk.set(rows)
	return pk
}

// set replaces the rows. The cursor stays on its row, together with its scroll position and pending
// confirmation.
func (pk *picker) set(rows []command.Row) {
	was, had := pk.current()
	detailFrom := pk.detailFrom
	pk.rows, pk.loading, pk.failed = rows, false, ""
	pk.filter()
	for i, n := range pk.shown {
		if had && pk.rows[n].ID == was.ID {
			pk.at, pk.detailFrom = i, detailFrom
			return
		}
	}
	pk.confirm = nil // it was meant for a row that is gone
	for i, n := range pk.shown {
		if !had && pk.rows[n].Current {
			pk.at = i
			return
		}
	}
}

// filter applies the search.
func (pk *picker) filter() {
	query := strings.ToLower(strings.TrimSpace(pk.search.ed.Text()))
	pk.shown = pk.shown[:0]
	scores := make([]int, len(pk.rows))
	for i, r := range pk.rows {
		if score, ok := fuzzy(query, strings.ToLower(r.Name)); ok {
			scores[i] = score + 500
			pk.shown = append(pk.shown, i)
		} else if query != "" && r.Contains(query) {
			pk.shown = append(pk.shown, i)
		}
	}
	if query != "" {
		sort.SliceStable(pk.shown, func(a, b int) bool { return scores[pk.shown[a]] > scores[pk.shown[b]] })
	}
	pk.at = min(max(pk.at, 0), max(len(pk.shown)-1, 0))
	pk.detailFrom = 0
}

func (pk *picker) current() (command.Row, bool) {
	if pk.at < 0 || pk.at >= len(pk.shown) {
		return command.Row{}, false
	}
	return pk.rows[pk.shown[pk.at]], true
}

func (pk *picker) armed(time.Time) bool { return true }

func (pk *picker) moving() bool { return pk.loading }

// paste searches for the pasted text; a list without a search leaves it to the input.
func (pk *picker) paste(s string) bool {
	if pk.noSearch {
		return false
	}
	pk.search.paste(s)
	pk.at = 0
	pk.filter()
	return true
}

func (pk *picker) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	if done, cmd := pk.moveKey(h, act); done {
		return cmd
	}
	switch act {
	case look.Interrupt, look.Cancel:
		h.close(pk)
		if pk.cancel != nil {
			return pk.cancel()
		}
		return nil
	case look.Submit:
		r, ok := pk.current()
		if !ok || pk.loading || pk.choose == nil {
			return nil // there is nothing to choose, as the list shows
		}
		if !pk.stays {
			h.close(pk)
		}
		return pk.choose(r)
	case look.Complete:
		if pk.toggle != nil {
			return pk.toggle()
		}
	}
	for i := range pk.actions {
		if pk.actions[i].Key == keyboard.Name(k) {
			return pk.run(h, &pk.actions[i])
		}
	}
	pk.confirm = nil
	if !pk.noSearch && pk.search.key(k, act) {
		pk.at = 0
		pk.filter()
		return pk.searched(h)
	}
	return nil
}

// searched follows a new search beyond the rows: it searches elsewhere and reads the preview.
func (pk *picker) searched(h host) tea.Cmd {
	pk.seen = nil
	if pk.typed == nil {
		return pk.ahead(h)
	}
	return tea.Batch(pk.typed(pk.search.ed.Text()), pk.ahead(h))
}

// moveKey moves the cursor.
func (pk *picker) moveKey(h host, act look.Action) (done bool, cmd tea.Cmd) {
	n := len(pk.shown)
	switch act {
	case look.Up:
		pk.at--
	case look.Down:
		pk.at++
	case look.PageUp:
		pk.at -= 8
	case look.PageDown:
		pk.at += 8
	case look.Top:
		pk.at = 0
	case look.Bottom:
		pk.at = n - 1
	case look.LineUp, look.LineDown:
		r, _ := pk.current()
		if (act == look.LineDown) == r.Tail { // of a tail, it is the distance from the end
			pk.detailFrom = max(pk.detailFrom-1, 0)
		} else {
			pk.detailFrom++
		}
		return true, nil
	default:
		return false, nil
	}
	switch {
	case act == look.Up && pk.at < 0:
		pk.at = n - 1
	case act == look.Down && pk.at >= n:
		pk.at = 0
	}
	pk.at = min(max(pk.at, 0), max(n-1, 0))
	pk.detailFrom, pk.confirm = 0, nil
	if r, ok := pk.current(); ok && pk.move != nil {
		pk.move(r)
	}
	return true, pk.ahead(h)
}

// ahead reads the preview of the row under the cursor if there is none yet.
func (pk *picker) ahead(h host) tea.Cmd {
	r, ok := pk.current()
	if pk.preview == nil || !ok {
		return nil
	}
	if _, known := pk.seen[r.ID]; known {
		return nil
	}
	query := pk.search.ed.Text()
	preview := func(ctx context.Context) (string, error) { return pk.preview(ctx, r, query) }
	return fetch(h, preview, func(s string, err error) tea.Cmd {
		if err != nil || pk.search.ed.Text() != query {
			return nil // the row's own detail is shown; a newer one is on its way
		}
		if pk.seen == nil {
			pk.seen = map[string]string{}
		}
		pk.seen[r.ID] = s
		return nil
	})
}

// run performs an action on the row under the cursor, outside the loop.
func (pk *picker) run(h host, a *command.Action) tea.Cmd {
	r, ok := pk.current()
	if !ok {
		return nil
	}
	if a.Confirm && pk.confirm != a {
		pk.confirm = a
		return nil
	}
	pk.confirm, pk.note = nil, a.Label+" …"
	switch {
	case a.Edit != nil:
		return pk.edit(h, a, r)
	case a.Command != nil:
		h.close(pk)
		cmd, _ := pk.command(a.Command(r))
		return cmd
	}
	run := func(ctx context.Context) (string, error) { return a.Run(ctx, r) }
	return fetch(h, run, func(msg string, err error) tea.Cmd {
		if err != nil && holdsDiff(err.Error()) {
			first, _, _ := strings.Cut(err.Error(), "\n")
			pg := newPage(a.Label+" "+r.Name+" failed", err.Error())
			pg.bad = true
			h.open(pg)
			err = errors.New(strings.TrimSuffix(first, ":"))
		}
		if err != nil || !a.Close {
			return pk.done(msg, err)
		}
		h.close(pk)
		if msg != "" {
			h.say(event.LevelInfo, msg)
		}
		return nil
	})
}

// edit opens a row's file in the person's editor; afterwards the change is applied and the rows are reread.
func (pk *picker) edit(h host, a *command.Action, r command.Row) tea.Cmd {
	file, err := a.Edit(r)
	if err != nil {
		pk.say("", err)
		return nil
	}
	return pk.editor(file, func(err error) tea.Cmd {
		if err != nil || a.Edited == nil {
			return pk.done("", err)
		}
		return fetch(h, func(ctx context.Context) (string, error) { return a.Edited(ctx, r, file) }, pk.done)
	})
}

// say shows the result of an action.
func (pk *picker) say(msg string, err error) {
	pk.note = text.Clean(msg)
	if err != nil {
		pk.note = "✗ " + text.Clean(err.Error())
	}
}

// done shows the result of an action and the new rows in the same frame: a person who acts on the result must
// not act on old rows.
func (pk *picker) done(msg string, err error) tea.Cmd {
	show := func() { pk.say(msg, err) }
	if pk.reload != nil {
		return pk.reload(show)
	}
	show()
	return nil
}
