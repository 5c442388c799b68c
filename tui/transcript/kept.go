package transcript

import (
	"encoding/json"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// The kinds of stored items, and what is stored of them.
const (
	KindNotice = "notice"
	KindShell  = "shell"
	KindTurn   = "turn"
)

type (
	KeptNotice struct {
		Level event.Level `json:"level"`
		Text  string      `json:"text"`
	}
	KeptShell struct {
		Line   string        `json:"line"`
		Output string        `json:"output"`
		Why    string        `json:"why,omitempty"` // how it failed ("exit 2")
		Failed bool          `json:"failed,omitempty"`
		Took   time.Duration `json:"took"`
	}
	KeptTurn struct {
		Parts []string `json:"parts"`
	}
)

// KeptBytes bounds a stored text, in bytes.
const KeptBytes = 16 << 10

// Shown turns a stored entry into an item; nil if it cannot be read.
func Shown(v session.Shown) Item {
	switch v.Kind {
	case KindNotice:
		var n KeptNotice
		if json.Unmarshal(v.Data, &n) == nil {
			return Notice(n.Level, n.Text)
		}
	case KindShell:
		var s KeptShell
		if json.Unmarshal(v.Data, &s) == nil {
			c := NewCall("", "!", nil, v.At)
			c.Brief, c.Open = text.Clean(s.Line), true
			c.End(event.CallEnd{Status: "done", Result: tools.Result{Text: s.Output, Failed: s.Failed, Display: tools.Display{Summary: s.Why}}, Duration: s.Took})
			return c
		}
	case KindTurn:
		var t KeptTurn
		if json.Unmarshal(v.Data, &t) == nil && len(t.Parts) > 0 {
			return newTurnLine(t.Parts)
		}
	}
	return nil
}
