package look

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"jcode/tui/editor"
)

// Action is what a key does.
type Action string

// Scrolls reports whether an action moves the window on the transcript.
func (a Action) Scrolls() bool {
	switch a {
	case PageUp, PageDown, LineUp, LineDown, Top, Bottom, SelectPrev, SelectNext:
		return true
	}
	return false
}

// Writes reports whether an action is about the text of the input.
func (a Action) Writes() bool {
	i := slices.IndexFunc(keyTable, func(r keyRow) bool { return r.Act == a })
	return i >= 0 && (keyTable[i].Group == "Input" || keyTable[i].Group == "Editing")
}

// Unfolds reports whether an action shows more or less of the transcript's items.
func (a Action) Unfolds() bool { return a == Expand || a == ExpandAll }

// Chosen reports whether an action may be chosen from a list: it asks for nothing, is not about the place of the
// cursor, and ends nothing.
func (a Action) Chosen() bool {
	switch a {
	case Submit, Newline, Complete, PasteExpand, Interrupt, Cancel, Suspend, Help, Live:
		return false
	}
	i := slices.IndexFunc(keyTable, func(r keyRow) bool { return r.Act == a })
	return i >= 0 && keyTable[i].Group != "Editing"
}

// The actions. Their names are what a person writes in the config under "keys".
const (
	Submit      Action = "submit"
	Newline     Action = "newline"
	Interrupt   Action = "interrupt"
	Cancel      Action = "cancel"
	Suspend     Action = "suspend"
	Help        Action = "help"
	Mode        Action = "mode"
	Expand      Action = "expand"
	ExpandAll   Action = "expand_all"
	Editor      Action = "editor"
	Search      Action = "history_search"
	Up          Action = "up"
	Down        Action = "down"
	PageUp      Action = "page_up"
	PageDown    Action = "page_down"
	Top         Action = "top"
	Bottom      Action = "bottom"
	LineUp      Action = "line_up"
	LineDown    Action = "line_down"
	Left        Action = Action(editor.Left)
	Right       Action = Action(editor.Right)
	WordLeft    Action = Action(editor.WordLeft)
	WordRight   Action = Action(editor.WordRight)
	Home        Action = Action(editor.Home)
	End         Action = Action(editor.End)
	DeleteBack  Action = Action(editor.DeleteBack)
	Delete      Action = Action(editor.Delete)
	DeleteWord  Action = Action(editor.DeleteWord)
	DeleteNext  Action = Action(editor.DeleteNext)
	KillEnd     Action = Action(editor.KillEnd)
	KillStart   Action = Action(editor.KillStart)
	Yank        Action = Action(editor.Yank)
	Undo        Action = Action(editor.Undo)
	Redo        Action = Action(editor.Redo)
	Complete    Action = "complete"
	Times       Action = "timestamps"
	Unqueue     Action = "unqueue"
	PasteExpand Action = "expand_paste"
	SelectPrev  Action = "select_previous"
	SelectNext  Action = "select_next"
	Copy        Action = "copy"
	Redraw      Action = "redraw"
	Agents      Action = "agents"
	PasteImage  Action = "paste_picture"
	Model       Action = "model"
	Stash       Action = "stash"
	Effort      Action = "effort"
	Prompts     Action = "prompts"
	Background  Action = "background"
	Live        Action = "live_session"
	Find        Action = "find"
)

// backgroundKey moves a running command to the jobs. While none runs it moves the cursor.
const backgroundKey = "ctrl+b"

// keyRow is one row of the key table.
type keyRow struct {
	Act  Action
	Keys []string
	Help string
	// Group is the heading under which help lists it.
	Group string
}

// keyTable is the one table that the program obeys and that /help and /keys show. It is never written.
var keyTable = []keyRow{
	{Submit, []string{"enter"}, "send, or queue while a turn runs", "Input"},
	{Newline, []string{"shift+enter", "ctrl+j", "alt+enter"}, "new line", "Input"},
	{Complete, []string{"tab"}, "complete a command, @file or argument", "Input"},
	{Editor, []string{"ctrl+g"}, "write in $EDITOR", "Input"},
	{Search, []string{"ctrl+r"}, "search the history of prompts", "Input"},
	{Stash, []string{"alt+s"}, "put your text aside, or take it back", "Input"},
	{PasteExpand, []string{"ctrl+x"}, "show a folded paste in full", "Input"},
	{PasteImage, []string{"ctrl+v", "alt+v"}, "paste a picture (or text) from the clipboard", "Input"},
	{Left, []string{"left", "ctrl+b"}, "a character left", "Editing"},
	{Right, []string{"right", "ctrl+f"}, "a character right", "Editing"},
	{Up, []string{"up", "ctrl+p"}, "a line up, then older prompts", "Editing"},
	{Down, []string{"down", "ctrl+n"}, "a line down, then newer prompts", "Editing"},
	{WordLeft, []string{"ctrl+left", "alt+left", "alt+b"}, "a word left", "Editing"},
	{WordRight, []string{"ctrl+right", "alt+right", "alt+f"}, "a word right", "Editing"},
	{Home, []string{"home", "ctrl+a"}, "start of the line", "Editing"},
	{End, []string{"end", "ctrl+e"}, "end of the line", "Editing"},
	{DeleteBack, []string{"backspace", "ctrl+h"}, "delete back", "Editing"},
	{Delete, []string{"delete", "ctrl+d"}, "delete forward", "Editing"},
	{DeleteWord, []string{"ctrl+w", "alt+backspace", "ctrl+backspace"}, "delete a word back", "Editing"},
	{DeleteNext, []string{"alt+d", "ctrl+delete"}, "delete a word forward", "Editing"},
	{KillEnd, []string{"ctrl+k"}, "cut to the end of the line", "Editing"},
	{KillStart, []string{"ctrl+u"}, "cut to the start of the line", "Editing"},
	{Yank, []string{"ctrl+y"}, "put back what was cut", "Editing"},
	{Undo, []string{"ctrl+_", "ctrl+shift+_"}, "undo", "Editing"},
	{Redo, []string{"alt+_", "alt+/"}, "redo", "Editing"},
	{PageUp, []string{"pgup"}, "a page up", "Transcript"},
	{PageDown, []string{"pgdown"}, "a page down", "Transcript"},
	{LineUp, []string{"shift+up", "ctrl+up"}, "a line up", "Transcript"},
	{LineDown, []string{"shift+down", "ctrl+down"}, "a line down", "Transcript"},
	{Top, []string{"ctrl+home"}, "to the top", "Transcript"},
	{Bottom, []string{"ctrl+end"}, "to the end, and follow", "Transcript"},
	{SelectPrev, []string{"alt+up"}, "choose the item above", "Transcript"},
	{SelectNext, []string{"alt+down"}, "choose the item below", "Transcript"},
	{Expand, []string{"ctrl+o"}, "unfold the chosen item, or the last", "Transcript"},
	{ExpandAll, []string{"alt+o"}, "unfold or fold everything", "Transcript"},
	{Prompts, []string{"alt+p"}, "list the prompts, and go to one", "Transcript"},
	{Find, []string{"f3"}, "find text above, then its next place", "Transcript"},
	{Copy, []string{"alt+c"}, "copy the chosen item, or the last answer", "Transcript"},
	{Times, []string{"alt+t"}, "show when things happened", "Transcript"},
	{Interrupt, []string{"esc"}, "stop the running turn, close a dialog", "Program"},
	{Unqueue, []string{"alt+q"}, "take queued messages back into the input", "Program"},
	{Model, []string{"alt+m"}, "choose the model", "Program"},
	{Effort, []string{"alt+e"}, "choose how much the model thinks", "Program"},
	{Mode, []string{"shift+tab"}, "next approval mode", "Program"},
	{Help, []string{"f1"}, "this help", "Program"},
	{Cancel, []string{"ctrl+c"}, "clear the input, stop a turn; twice quits", "Program"},
	{Background, nil, "while a command runs: move it to the jobs", "Program"},
	{Live, []string{"alt+1", "alt+2", "alt+3", "alt+4", "alt+5", "alt+6", "alt+7", "alt+8", "alt+9"}, "show the background session of that number", "Program"},
	{Suspend, []string{"ctrl+z"}, "suspend", "Program"},
	{Agents, []string{"ctrl+t"}, "a question that was put aside; the agents", "Program"},
	{Redraw, []string{"ctrl+l"}, "redraw the screen", "Program"},
}

// Keymap finds actions by key.
type Keymap struct {
	byKey map[string]Action
	Rows  []keyRow
}

// NewKeymap builds the key table with a person's changes: action names and their new keys; an empty list
// unbinds. problems names what could not be applied: unknown actions, and keys claimed by two actions.
func NewKeymap(changes map[string][]string) (km Keymap, problems []string) {
	km = Keymap{byKey: map[string]Action{}, Rows: slices.Clone(keyTable)}
	changed := map[Action]bool{}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		i := slices.IndexFunc(km.Rows, func(r keyRow) bool { return string(r.Act) == name })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("keys: unknown action %q (%s)", name, knownActions()))
			continue
		}
		km.Rows[i].Keys = normalKeys(changes[name])
		changed[km.Rows[i].Act] = true
	}
	for pass := range 2 { // a person's keys take precedence over the table's
		for i := range km.Rows {
			r := &km.Rows[i]
			if changed[r.Act] != (pass == 0) {
				continue
			}
			var kept []string
			for _, k := range r.Keys {
				if other, taken := km.byKey[k]; taken {
					problems = append(problems, fmt.Sprintf("keys: %s is bound to both %s and %s; it does %s", k, other, r.Act, other))
					continue
				}
				km.byKey[k] = r.Act
				kept = append(kept, k)
			}
			r.Keys = kept
		}
	}
	if i := km.index(Background); !changed[Background] && km.byKey[backgroundKey] == Left {
		km.Rows[i].Keys = []string{backgroundKey} // shared with the cursor's, which has it while no command runs
	}
	return km, problems
}

func (km Keymap) index(a Action) int {
	return slices.IndexFunc(km.Rows, func(r keyRow) bool { return r.Act == a })
}

func knownActions() string {
	var names []string
	for _, r := range keyTable {
		names = append(names, string(r.Act))
	}
	return strings.Join(names, ", ")
}

// normalKeys writes keys as the terminal library does: modifiers in a fixed order.
func normalKeys(keys []string) []string {
	var out []string
	for _, k := range keys {
		parts := strings.Split(strings.ToLower(strings.TrimSpace(k)), "+")
		last := parts[len(parts)-1]
		mods := ""
		for _, m := range []string{"ctrl", "alt", "shift", "meta", "hyper", "super"} {
			if slices.Contains(parts[:len(parts)-1], m) {
				mods += m + "+"
			}
		}
		if last == "escape" {
			last = "esc"
		}
		out = append(out, mods+last)
	}
	return out
}

// Of returns the action of a key press, or "".
func (km Keymap) Of(key string) Action { return km.byKey[key] }

// Place returns which of an action's keys one is, from 1 on; 0 for none of them.
func (km Keymap) Place(a Action, key string) int {
	i := km.index(a)
	if i < 0 {
		return 0
	}
	return slices.Index(km.Rows[i].Keys, key) + 1
}

// Named returns keys as help shows them, a row of digits by its ends.
func Named(keys []string) []string {
	last := len(keys) - 1
	if last < 3 {
		return keys
	}
	for i, k := range keys {
		if before, digit := strings.CutSuffix(k, strconv.Itoa(i+1)); !digit || before != strings.TrimSuffix(keys[0], "1") {
			return keys
		}
	}
	return []string{keys[0] + "…" + strconv.Itoa(last+1)}
}

// First returns the first key of an action for hints, or "".
func (km Keymap) First(a Action) string {
	for _, r := range km.Rows {
		if r.Act == a && len(r.Keys) > 0 {
			return r.Keys[0]
		}
	}
	return ""
}
