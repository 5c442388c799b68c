package transcript

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
	"jcode/tui/look"
)

// AddHistory shows the messages of a stored session and what was displayed between them. Nothing is rendered
// before it is seen.
func (t *View) AddHistory(rows []session.Message, shown []session.Shown) {
	upTo := func(seq int64) {
		for len(shown) > 0 && shown[0].After < seq {
			if it := Shown(shown[0]); it != nil {
				t.Items = append(t.Items, it)
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
			t.Items = append(t.Items, Notice(event.LevelWarn, "A message could not be read and is left out: "+m.Broken))
			continue
		}
		switch m.Role {
		case session.RoleUser:
			if s := shownPrompt(m.Parts); s != "" {
				t.Items = append(t.Items, NewPrompt(s, m.Created, m.Seq, storedChips(s, m.Parts)))
			}
		case session.RoleAssistant:
			t.addAnswer(m)
		case session.RoleSummary:
			s := strings.TrimSpace(partText(m.Parts, session.PartText))
			t.Items = append(t.Items, Notice(event.LevelInfo, "The conversation up to here was summarised.\n"+s))
		}
	}
}

func (t *View) addAnswer(m session.Message) {
	if s := partText(m.Parts, session.PartReasoning); s != "" {
		th := &Thought{Done: true}
		th.Append(s)
		t.Items = append(t.Items, th)
	}
	if s := partText(m.Parts, session.PartText); s != "" {
		t.Items = append(t.Items, &Answer{Src: s, Raw: len(s), Done: true})
	}
	for _, c := range m.Calls {
		t.AddCall(storedCall(c))
	}
}

// Cut removes everything from the prompt with a sequence number on.
func (t *View) Cut(from int64) {
	for i, it := range t.Items {
		if pr, ok := it.(*Prompt); ok && pr.Seq >= from {
			t.Items = t.Items[:i:i]
			t.Chosen, t.Marked, t.Find = -1, Marking{}, Finder{}
			t.ToBottom()
			return
		}
	}
}

// Prompts returns the prompts in the transcript, oldest first.
func (t *View) Prompts() []*Prompt {
	var out []*Prompt
	for _, it := range t.Items {
		if pr, ok := it.(*Prompt); ok && pr.Seq > 0 {
			out = append(out, pr)
		}
	}
	return out
}

// Answered reports whether the last prompt has an answer, whatever was said since.
func (t *View) Answered() bool {
	for i := len(t.Items) - 1; i >= 0; i-- {
		switch t.Items[i].(type) {
		case *Answer:
			return true
		case *Prompt, *Call, *Group:
			return false
		}
	}
	return false
}

// storedCall turns a stored call into an item.
func storedCall(c session.Call) *Call {
	it := NewCall(c.ID, c.Name, json.RawMessage(c.Arguments), c.Started)
	it.Status = string(c.Status)
	if it.Status == "" || c.Status == session.StatusPending || c.Status == session.StatusRunning {
		it.Status = string(session.StatusInterrupted)
	}
	if !c.Started.IsZero() && !c.Ended.IsZero() {
		it.Took = c.Ended.Sub(c.Started)
	}
	it.Result = tools.Result{Text: c.Result, Failed: c.Status == session.StatusFailed}
	if len(c.Display) > 0 {
		// What cannot be read is left out: the text is shown.
		if err := json.Unmarshal(c.Display, &it.Result.Display); err != nil {
			it.Result.Display = tools.Display{}
		}
	}
	it.change(it.Result.Display.RanWith(it.args))
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

// PromptOf names the turn of a prompt as the person knows it: its number and how it begins.
func (t *View) PromptOf(seq int64) string {
	for i, pr := range t.Prompts() {
		if pr.Seq == seq {
			return "turn #" + strconv.Itoa(i+1) + " (" + text.Cut(look.OneLine(pr.Prompt), 40) + ")"
		}
	}
	return "an earlier turn"
}
