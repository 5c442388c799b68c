package tui

import (
	"fmt"
	"slices"
	"strings"

	"jcode/tui/editor"
)

// action is what a key does.
type action string

// scrolls reports whether an action moves the window on the transcript.
func (a action) scrolls() bool {
	switch a {
	case actPageUp, actPageDown, actLineUp, actLineDown, actTop, actBottom, actSelectPrev, actSelectNext:
		return true
	}
	return false
}

// writes reports whether an action is about the text of the input.
func (a action) writes() bool {
	i := slices.IndexFunc(keyTable, func(r keyRow) bool { return r.act == a })
	return i >= 0 && (keyTable[i].group == "Input" || keyTable[i].group == "Editing")
}

// unfolds reports whether an action shows more or less of the transcript's items.
func (a action) unfolds() bool { return a == actExpand || a == actExpandAll }

// The actions. Their names are what a person writes in the config under "keys".
const (
	actSubmit      action = "submit"
	actNewline     action = "newline"
	actInterrupt   action = "interrupt"
	actCancel      action = "cancel"
	actSuspend     action = "suspend"
	actHelp        action = "help"
	actMode        action = "mode"
	actExpand      action = "expand"
	actExpandAll   action = "expand_all"
	actEditor      action = "editor"
	actSearch      action = "history_search"
	actUp          action = "up"
	actDown        action = "down"
	actPageUp      action = "page_up"
	actPageDown    action = "page_down"
	actTop         action = "top"
	actBottom      action = "bottom"
	actLineUp      action = "line_up"
	actLineDown    action = "line_down"
	actLeft        action = action(editor.Left)
	actRight       action = action(editor.Right)
	actWordLeft    action = action(editor.WordLeft)
	actWordRight   action = action(editor.WordRight)
	actHome        action = action(editor.Home)
	actEnd         action = action(editor.End)
	actDeleteBack  action = action(editor.DeleteBack)
	actDelete      action = action(editor.Delete)
	actDeleteWord  action = action(editor.DeleteWord)
	actDeleteNext  action = action(editor.DeleteNext)
	actKillEnd     action = action(editor.KillEnd)
	actKillStart   action = action(editor.KillStart)
	actYank        action = action(editor.Yank)
	actUndo        action = action(editor.Undo)
	actRedo        action = action(editor.Redo)
	actComplete    action = "complete"
	actTimes       action = "timestamps"
	actUnqueue     action = "unqueue"
	actPasteExpand action = "expand_paste"
	actSelectPrev  action = "select_previous"
	actSelectNext  action = "select_next"
	actCopy        action = "copy"
	actRedraw      action = "redraw"
	actAgents      action = "agents"
	actPasteImage  action = "paste_picture"
	actBackground  action = "background"
)

// keyRow is one row of the key table.
type keyRow struct {
	act  action
	keys []string
	help string
	// group is the heading under which help lists it.
	group string
}

// keyTable is the one table that the program obeys and that /help and /keys show. It is never written.
var keyTable = []keyRow{
	{actSubmit, []string{"enter"}, "send, or queue while a turn runs", "Input"},
	{actNewline, []string{"shift+enter", "ctrl+j", "alt+enter"}, "new line", "Input"},
	{actComplete, []string{"tab"}, "complete a command, @file or argument", "Input"},
	{actEditor, []string{"ctrl+g"}, "write in $EDITOR", "Input"},
	{actSearch, []string{"ctrl+r"}, "search the history of prompts", "Input"},
	{actPasteExpand, []string{"ctrl+x"}, "show a folded paste in full", "Input"},
	{actPasteImage, []string{"ctrl+v", "alt+v"}, "paste a picture (or text) from the clipboard", "Input"},
	{actLeft, []string{"left", "ctrl+b"}, "a character left", "Editing"},
	{actRight, []string{"right", "ctrl+f"}, "a character right", "Editing"},
	{actUp, []string{"up", "ctrl+p"}, "a line up, then older prompts", "Editing"},
	{actDown, []string{"down", "ctrl+n"}, "a line down, then newer prompts", "Editing"},
	{actWordLeft, []string{"ctrl+left", "alt+left", "alt+b"}, "a word left", "Editing"},
	{actWordRight, []string{"ctrl+right", "alt+right", "alt+f"}, "a word right", "Editing"},
	{actHome, []string{"home", "ctrl+a"}, "start of the line", "Editing"},
	{actEnd, []string{"end", "ctrl+e"}, "end of the line", "Editing"},
	{actDeleteBack, []string{"backspace", "ctrl+h"}, "delete back", "Editing"},
	{actDelete, []string{"delete", "ctrl+d"}, "delete forward", "Editing"},
	{actDeleteWord, []string{"ctrl+w", "alt+backspace", "ctrl+backspace"}, "delete a word back", "Editing"},
	{actDeleteNext, []string{"alt+d", "ctrl+delete"}, "delete a word forward", "Editing"},
	{actKillEnd, []string{"ctrl+k"}, "cut to the end of the line", "Editing"},
	{actKillStart, []string{"ctrl+u"}, "cut to the start of the line", "Editing"},
	{actYank, []string{"ctrl+y"}, "put back what was cut", "Editing"},
	{actUndo, []string{"ctrl+_", "ctrl+shift+_"}, "undo", "Editing"},
	{actRedo, []string{"alt+_", "alt+/"}, "redo", "Editing"},
	{actPageUp, []string{"pgup"}, "a page up", "Transcript"},
	{actPageDown, []string{"pgdown"}, "a page down", "Transcript"},
	{actLineUp, []string{"shift+up", "ctrl+up"}, "a line up", "Transcript"},
	{actLineDown, []string{"shift+down", "ctrl+down"}, "a line down", "Transcript"},
	{actTop, []string{"ctrl+home"}, "to the top", "Transcript"},
	{actBottom, []string{"ctrl+end"}, "to the end, and follow", "Transcript"},
	{actSelectPrev, []string{"alt+up"}, "choose the item above", "Transcript"},
	{actSelectNext, []string{"alt+down"}, "choose the item below", "Transcript"},
	{actExpand, []string{"ctrl+o"}, "unfold the chosen item, or the last", "Transcript"},
	{actExpandAll, []string{"alt+o"}, "unfold or fold everything", "Transcript"},
	{actCopy, []string{"alt+c"}, "copy the chosen item, or the last answer", "Transcript"},
	{actTimes, []string{"alt+t"}, "show when things happened", "Transcript"},
	{actInterrupt, []string{"esc"}, "stop the running turn, close a dialog", "Program"},
	{actUnqueue, []string{"alt+q"}, "take queued messages back into the input", "Program"},
	{actMode, []string{"shift+tab"}, "next approval mode", "Program"},
	{actHelp, []string{"f1"}, "this help", "Program"},
	{actCancel, []string{"ctrl+c"}, "clear the input, stop the turn; twice quits", "Program"},
	{actBackground, nil, "move the running command to the jobs (" + backgroundKey + " while one runs)", "Program"},
	{actSuspend, []string{"ctrl+z"}, "suspend", "Program"},
	{actAgents, []string{"ctrl+t"}, "a question that was put aside, then the agents beside this conversation", "Program"},
	{actRedraw, []string{"ctrl+l"}, "redraw the screen", "Program"},
}

// keymap finds actions by key.
type keymap struct {
	byKey map[string]action
	rows  []keyRow
}

// newKeymap builds the key table with a person's changes: action names and their new keys; an empty list
// unbinds. problems names what could not be applied: unknown actions, and keys claimed by two actions.
func newKeymap(changes map[string][]string) (km keymap, problems []string) {
	km = keymap{byKey: map[string]action{}, rows: slices.Clone(keyTable)}
	changed := map[action]bool{}
	for _, name := range sortedKeys(changes) {
		i := slices.IndexFunc(km.rows, func(r keyRow) bool { return string(r.act) == name })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("keys: unknown action %q (%s)", name, knownActions()))
			continue
		}
		km.rows[i].keys = normalKeys(changes[name])
		changed[km.rows[i].act] = true
	}
	for pass := range 2 { // a person's keys take precedence over the table's
		for i := range km.rows {
			r := &km.rows[i]
			if changed[r.act] != (pass == 0) {
				continue
			}
			var kept []string
			for _, k := range r.keys {
				if other, taken := km.byKey[k]; taken {
					problems = append(problems, fmt.Sprintf("keys: %s is bound to both %s and %s; it does %s", k, other, r.act, other))
					continue
				}
				km.byKey[k] = r.act
				kept = append(kept, k)
			}
			r.keys = kept
		}
	}
	return km, problems
}

func knownActions() string {
	var names []string
	for _, r := range keyTable {
		names = append(names, string(r.act))
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

// of returns the action of a key press, or "".
func (km keymap) of(key string) action { return km.byKey[key] }

// first returns the first key of an action for hints, or "".
func (km keymap) first(a action) string {
	for _, r := range km.rows {
		if r.act == a && len(r.keys) > 0 {
			return r.keys[0]
		}
	}
	return ""
}
