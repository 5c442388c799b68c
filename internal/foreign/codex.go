package foreign

import (
	"encoding/json"
	"strings"
	"time"
)

// codexItem is what is said and done in a session of Codex.
type codexItem struct {
	Type, Role, Name, Arguments, Input string
	ID, Cwd, Model                     string
	CallID                             string `json:"call_id"`
	Content, Output                    json.RawMessage
	Action                             json.RawMessage
	Summary                            json.RawMessage
}

// readCodex reads a file of Codex: an object a line with its kind and payload, in old files the payload alone.
func readCodex(r *reading) {
	r.lines(func(raw []byte) error {
		var l struct {
			Type      string
			Timestamp time.Time
			Payload   json.RawMessage
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		if l.Payload != nil && l.Type != "session_meta" && l.Type != "turn_context" && l.Type != "response_item" {
			return nil // of no conversation
		}
		body := l.Payload
		if body == nil {
			body = raw
		}
		var it codexItem
		if err := json.Unmarshal(body, &it); err != nil {
			return err
		}
		switch {
		case l.Type == "session_meta" || l.Payload == nil && l.Type == "":
			if r.ID == "" {
				r.ID, r.Folder = it.ID, it.Cwd
			}
		case l.Type == "turn_context":
			if it.Model != "" {
				r.Model = it.Model
			}
		case l.Type == "response_item" || l.Payload == nil:
			r.codex(it, l.Timestamp)
		}
		return nil
	})
}

func (r *reading) codex(it codexItem, when time.Time) {
	switch it.Type {
	case "message":
		if it.Role != User && it.Role != Assistant {
			return
		}
		for _, b := range blocks(it.Content) {
			if it.Role == User && strings.HasPrefix(b.Text, "# AGENTS.md instructions") {
				continue
			}
			r.block(b, it.Role, when)
		}
	case "reasoning":
		m := r.at(Assistant, when)
		for _, s := range blocks(it.Summary) {
			m.Thinking = join(m.Thinking, s.Text)
		}
	case "function_call":
		r.call(it.CallID, it.Name, codexText(it.Arguments), when)
	case "custom_tool_call":
		r.call(it.CallID, it.Name, codexText(it.Input), when)
	case "local_shell_call":
		r.call(it.CallID, "shell", it.Action, when)
	case "function_call_output", "custom_tool_call_output":
		text, failed := codexOutput(it.Output)
		r.result(it.CallID, text, failed, pictures(it.Output), when)
	}
}

func codexText(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}

// codexOutput returns the text of a result, which older versions write as an object with the exit code.
func codexOutput(raw json.RawMessage) (text string, failed bool) {
	text = plain(raw)
	var o struct {
		Output   *string
		Metadata struct {
			ExitCode int `json:"exit_code"`
		}
	}
	if json.Unmarshal([]byte(text), &o) == nil && o.Output != nil {
		return *o.Output, o.Metadata.ExitCode != 0
	}
	return text, false
}
