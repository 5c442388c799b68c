package tui

import (
	"encoding/json"
	"math"
	"strings"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
)

// addHistory shows the messages of a stored session and what was displayed between them. Nothing is rendered
// before it is seen.
func (t *transcript) addHistory(rows []session.Message, shown []session.Shown) {
	upTo := func(seq int64) {
		for len(shown) > 0 && shown[0].After < seq {
			if it := shownItem(shown[0]); it != nil {
				t.items = append(t.items, it)
			}
			shown = shown[1:]
		}
	}
	if len(rows) > 0 && rows[0].Seq > 1 { // what was displayed before them is not shown either
		for len(shown) > 0 && shown[0].After < rows[0].Seq {
			shown = shown[1:]
		}
	}
	defer func() { upTo(math.MaxInt64) }()
	for _, m := range rows {
		upTo(m.Seq)
		if m.Broken != "" {
			t.items = append(t.items, notice(event.LevelWarn, "A message could not be read and is left out: "+m.Broken))
			continue
		}
		switch m.Role {
		case session.RoleUser:
			if s := shownPrompt(m.Parts); s != "" {
				t.items = append(t.items, newPrompt(s, m.Created, m.Seq, storedChips(s, m.Parts)))
			}
		case session.RoleAssistant:
			t.addAnswer(m)
		case session.RoleSummary:
			s := strings.TrimSpace(partText(m.Parts, session.PartText))
			t.items = append(t.items, notice(event.LevelInfo, "The conversation up to here was summarised.\n"+s))
		}
	}
}

func (t *transcript) addAnswer(m session.Message) {
	if s := partText(m.Parts, session.PartReasoning); s != "" {
		th := &thoughtItem{done: true}
		th.append(s)
		t.items = append(t.items, th)
	}
	if s := partText(m.Parts, session.PartText); s != "" {
		t.items = append(t.items, &answerItem{src: s, raw: len(s), done: true})
	}
	for _, c := range m.Calls {
		t.addCall(storedCall(c))
	}
}

// cut removes everything from the prompt with a sequence number on.
func (t *transcript) cut(from int64) {
	for i, it := range t.items {
		if pr, ok := it.(*promptItem); ok && pr.seq >= from {
			t.items = t.items[:i:i]
			t.chosen, t.marked, t.find = -1, marking{}, finder{}
			t.toBottom()
			return
		}
	}
}

// prompts returns the prompts in the transcript, oldest first.
func (t *transcript) prompts() []*promptItem {
	var out []*promptItem
	for _, it := range t.items {
		if pr, ok := it.(*promptItem); ok && pr.seq > 0 {
			out = append(out, pr)
		}
	}
	return out
}

// answered reports whether the last prompt has an answer, whatever was said since.
func (t *transcript) answered() bool {
	for i := len(t.items) - 1; i >= 0; i-- {
		switch t.items[i].(type) {
		case *answerItem:
			return true
		case *promptItem, *callItem, *groupItem:
			return false
		}
	}
	return false
}

// storedCall turns a stored call into an item.
func storedCall(c session.Call) *callItem {
	it := newCall(c.ID, c.Name, json.RawMessage(c.Arguments), c.Started)
	it.status = string(c.Status)
	if it.status == "" || c.Status == session.StatusPending || c.Status == session.StatusRunning {
		it.status = string(session.StatusInterrupted)
	}
	if !c.Started.IsZero() && !c.Ended.IsZero() {
		it.took = c.Ended.Sub(c.Started)
	}
	it.result = tools.Result{Text: c.Result, Failed: c.Status == session.StatusFailed}
	if len(c.Display) > 0 {
		// What cannot be read is left out: the text is shown.
		if err := json.Unmarshal(c.Display, &it.result.Display); err != nil {
			it.result.Display = tools.Display{}
		}
	}
	it.change(it.result.Display.RanWith(it.args))
	return it
}

// shownPrompt returns a message of the person as it was typed, not as it was expanded.
func shownPrompt(parts []session.Part) string {
	if s := partText(parts, session.PartShown); s != "" {
		return s
	}
	return partText(parts, session.PartText)
}

func partText(parts []session.Part, kind string) string {
	s := ""
	for _, p := range parts {
		if p.Kind == kind {
			s += p.Text
		}
	}
	return s
}
