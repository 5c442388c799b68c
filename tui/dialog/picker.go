package dialog

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// Picker is a list with a search field and a detail of the row under the cursor. Enter chooses; other keys
// run actions.
type Picker struct {
	Title, Empty string
	Rows         []command.Row
	shown        []int // indexes of rows that match the search
	at, from     int   // chosen one among shown, first one drawn
	visible      int   // how many were drawn: a page
	Search       field
	Loading      bool
	Failed       string
	Note         string
	NoSearch     bool
	Live         bool            // its rows change while it is open
	infoFirst    bool            // Info matters more than State
	confirm      *command.Action // waits for a second press
	writing      *writing        // nil while nothing is written for a row
	detailFrom   int
	painted      func(th *look.Theme, r *command.Row) []cells.Span // draws a State that is not cut; may be nil

	Choose  func(r command.Row) tea.Cmd // Enter, which also closes the list
	Stays   bool                        // Enter leaves it open
	Actions []command.Action            // additional ones, by key
	Reload  func(then func()) tea.Cmd   // rereads the rows; then runs when they are set
	Move    func(r command.Row)         // called when the cursor moves
	Cancel  func() tea.Cmd
	Typed   func(query string) tea.Cmd // also searches elsewhere
	Toggle  func() tea.Cmd             // Tab
	TabHint string
	Preview func(ctx context.Context, r command.Row, query string) (string, error) // more of a row than its detail, read when the cursor is on it
	seen    map[string]string                                                      // previews by row, of the current search
	Enter   string                                                                 // what Enter does, "" = "choose"
	// What actions need from the program; set if there are any.
	Command func(line string) (cmd tea.Cmd, ok bool)                                                          // runs "/name arguments"
	Lend    func(use func(ctx context.Context, in, out *os.File) error, then func(err error) tea.Cmd) tea.Cmd // lends the terminal
	Editor  func(file string, then func(err error) tea.Cmd) tea.Cmd                                           // opens the person's editor
	Leave   string                                                                                            // what Esc does, "" = "close"
}

func NewPicker(title string, rows []command.Row, choose func(r command.Row) tea.Cmd) *Picker {
	pk := &Picker{Title: title, Search: NewField(), Choose: choose}
	pk.Set(rows)
	return pk
}

// Set replaces the rows. The cursor stays on its row, together with its scroll position and pending
// confirmation.
func (pk *Picker) Set(rows []command.Row) {
	was, had := pk.Current()
	detailFrom := pk.detailFrom
	rows = slices.Clone(rows)
	found := map[string]string{} // what a search elsewhere has found still fits, until it is asked again
	for _, r := range pk.Rows {
		found[r.ID] = r.Search
	}
	for i := range rows {
		rows[i].Search = cmp.Or(rows[i].Search, found[rows[i].ID])
	}
	pk.Rows, pk.Loading, pk.Failed = rows, false, ""
	pk.Filter()
	for i, n := range pk.shown {
		if had && pk.Rows[n].ID == was.ID {
			pk.at, pk.detailFrom = i, detailFrom
			return
		}
	}
	pk.confirm = nil // it was meant for a row that is gone
	for i, n := range pk.shown {
		if !had && pk.Rows[n].Current {
			pk.at = i
			return
		}
	}
}

// Filter applies the search.
func (pk *Picker) Filter() {
	query := strings.ToLower(strings.TrimSpace(pk.Search.Editor.Text()))
	pk.shown = pk.shown[:0]
	scores := make([]int, len(pk.Rows))
	for i, r := range pk.Rows {
		if score, ok := Fuzzy(query, strings.ToLower(r.Name)); ok {
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

func (pk *Picker) Current() (command.Row, bool) {
	if pk.at < 0 || pk.at >= len(pk.shown) {
		return command.Row{}, false
	}
	return pk.Rows[pk.shown[pk.at]], true
}

func (pk *Picker) Armed(time.Time) bool { return true }

func (pk *Picker) Moving() bool {
	return pk.Loading || slices.ContainsFunc(pk.Rows, func(r command.Row) bool { return r.Mark == "working" })
}

// Paste searches for the pasted text; a list without a search leaves it to the input.
func (pk *Picker) Paste(s string) bool {
	if pk.writing != nil {
		pk.writing.Paste(s)
		return true
	}
	if pk.NoSearch {
		return false
	}
	pk.Search.Paste(s)
	pk.at = 0
	pk.Filter()
	pk.moved()
	return true
}

func (pk *Picker) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	if pk.writing != nil {
		return pk.writeKey(h, k, act)
	}
	if done, cmd := pk.moveKey(h, act); done {
		return cmd
	}
	switch act {
	case look.Interrupt, look.Cancel:
		h.Close(pk)
		if pk.Cancel != nil {
			return pk.Cancel()
		}
		return nil
	case look.Submit:
		r, ok := pk.Current()
		if !ok || pk.Loading || pk.Choose == nil {
			return nil // there is nothing to choose, as the list shows
		}
		if !pk.Stays {
			h.Close(pk)
		}
		return pk.Choose(r)
	case look.Complete:
		if pk.Toggle != nil {
			return pk.Toggle()
		}
	}
	for i := range pk.Actions {
		if pk.Actions[i].Key == keyboard.Name(k) {
			return pk.Run(h, &pk.Actions[i])
		}
	}
	pk.confirm = nil
	if !pk.NoSearch && pk.Search.key(k, act) {
		pk.at = 0
		pk.Filter()
		pk.moved()
		return pk.Searched(h)
	}
	return nil
}

// Searched follows a new search beyond the rows: it searches elsewhere and reads the preview.
func (pk *Picker) Searched(h background) tea.Cmd {
	pk.seen = nil
	if pk.Typed == nil {
		return pk.Ahead(h)
	}
	return tea.Batch(pk.Typed(pk.Search.Editor.Text()), pk.Ahead(h))
}

// moveKey moves the cursor.
func (pk *Picker) moveKey(h host, act look.Action) (done bool, cmd tea.Cmd) {
	n := len(pk.shown)
	switch act {
	case look.Up:
		pk.at--
	case look.Down:
		pk.at++
	case look.PageUp:
		pk.at -= pk.page()
	case look.PageDown:
		pk.at += pk.page()
	case look.Top:
		pk.at = 0
	case look.Bottom:
		pk.at = n - 1
	case look.LineUp, look.LineDown:
		r, _ := pk.Current()
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
	pk.moved()
	return true, pk.Ahead(h)
}

// page is how many rows a page key moves: those that are seen, but for one to go by.
func (pk *Picker) page() int { return max(pk.visible-1, 1) }

// moved tells which row the cursor is on.
func (pk *Picker) moved() {
	if r, ok := pk.Current(); ok && pk.Move != nil {
		pk.Move(r)
	}
}

// Ahead reads the preview of the row under the cursor if there is none yet.
func (pk *Picker) Ahead(h background) tea.Cmd {
	r, ok := pk.Current()
	if pk.Preview == nil || !ok {
		return nil
	}
	if _, known := pk.seen[r.ID]; known {
		return nil
	}
	query := pk.Search.Editor.Text()
	preview := func(ctx context.Context) (string, error) { return pk.Preview(ctx, r, query) }
	return Fetch(h, preview, func(s string, err error) tea.Cmd {
		if err != nil || pk.Search.Editor.Text() != query {
			return nil // the row's own detail is shown; a newer one is on its way
		}
		if pk.seen == nil {
			pk.seen = map[string]string{}
		}
		pk.seen[r.ID] = s
		return nil
	})
}

// Reread reads the preview of the row under the cursor again; the one before is shown until then.
func (pk *Picker) Reread(h background) tea.Cmd {
	r, _ := pk.Current()
	was, known := pk.seen[r.ID]
	pk.seen = nil
	cmd := pk.Ahead(h)
	if known {
		pk.seen = map[string]string{r.ID: was}
	}
	return cmd
}

// Run performs an action on the row under the cursor, outside the loop.
func (pk *Picker) Run(h desk, a *command.Action) tea.Cmd {
	r, ok := pk.Current()
	if !ok {
		return nil
	}
	if a.Confirm && pk.confirm != a {
		pk.confirm = a
		return nil
	}
	pk.confirm, pk.Note = nil, a.Label+" …"
	switch {
	case a.Edit != nil:
		return pk.edit(h, a, r)
	case a.Write != nil:
		pk.write(a, r)
		return nil
	case a.Command != nil:
		h.Close(pk)
		cmd, _ := pk.Command(a.Command(r))
		return cmd
	}
	if a.Lend != nil {
		if use := a.Lend(r); use != nil {
			return pk.Lend(use, func(err error) tea.Cmd { return pk.done("", err) })
		}
	}
	run := func(ctx context.Context) (string, error) { return a.Run(ctx, r) }
	return Fetch(h, run, func(msg string, err error) tea.Cmd {
		if err != nil && HoldsDiff(err.Error()) {
			first, _, _ := strings.Cut(err.Error(), "\n")
			pg := NewPage(a.Label+" "+r.Name+" failed", err.Error())
			pg.Bad = true
			h.Open(pg)
			err = errors.New(strings.TrimSuffix(first, ":"))
		}
		if err != nil || !a.Close {
			return pk.done(msg, err)
		}
		h.Close(pk)
		if msg != "" {
			h.Say(event.LevelInfo, msg)
		}
		return nil
	})
}

// edit opens a row's file in the person's editor; afterwards the change is applied and the rows are reread.
func (pk *Picker) edit(h desk, a *command.Action, r command.Row) tea.Cmd {
	file, err := a.Edit(r)
	if err != nil {
		pk.say("", err)
		return nil
	}
	return pk.Editor(file, func(err error) tea.Cmd {
		if err != nil || a.Edited == nil {
			return pk.done("", err)
		}
		return Fetch(h, func(ctx context.Context) (string, error) { return a.Edited(ctx, r, file) }, pk.done)
	})
}

// say shows the result of an action.
func (pk *Picker) say(msg string, err error) {
	pk.Note = text.Clean(msg)
	if err != nil {
		pk.Note = "✗ " + text.Clean(err.Error())
	}
}

// done shows the result of an action and the new rows in the same frame: a person who acts on the result must
// not act on old rows.
func (pk *Picker) done(msg string, err error) tea.Cmd {
	show := func() { pk.say(msg, err) }
	if pk.Reload != nil {
		return pk.Reload(show)
	}
	show()
	return nil
}
