package foreign

import (
	"encoding/json"
	"strings"
	"time"
)

// readClaude reads a file of Claude Code: an object a line, of which those of the types user and assistant are messages.
func readClaude(r *reading) {
	r.lines(func(raw []byte) error {
		var l struct {
			Type, SessionID, Cwd, Summary string
			Title                         string `json:"customTitle"`
			Timestamp                     time.Time
			Sidechain                     bool `json:"isSidechain"`
			Meta                          bool `json:"isMeta"`
			Message                       struct {
				Role, Model string
				Content     json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		if l.Cwd != "" && r.Folder == "" {
			r.Folder = l.Cwd
		}
		switch {
		case l.Type == "summary" && l.Summary != "" && r.Title == "":
			r.Title = l.Summary
			return nil
		case l.Title != "":
			r.Title = l.Title
			return nil
		case l.Sidechain || l.Meta || l.Type != User && l.Type != Assistant:
			return nil
		}
		if l.SessionID != "" && r.ID == "" {
			r.ID = l.SessionID
		}
		if l.Message.Model != "" && !strings.HasPrefix(l.Message.Model, "<") {
			r.Model = l.Message.Model
		}
		for _, b := range blocks(l.Message.Content) {
			r.block(b, l.Type, l.Timestamp)
		}
		return nil
	})
}

// block adds a part of a message. The result of a call belongs to the message that made it.
func (r *reading) block(b block, role string, when time.Time) {
	switch b.Type {
	case "text", "input_text", "output_text":
		if role == User && strings.HasPrefix(b.Text, "<") && strings.Contains(b.Text, "</") && machine(b.Text) {
			return
		}
		r.at(role, when).say(b.Text)
	case "thinking":
		m := r.at(Assistant, when)
		m.Thinking = join(m.Thinking, b.Thinking)
	case "tool_use":
		r.at(Assistant, when).call(b.Name, b.Input)
	case "toolCall":
		r.at(Assistant, when).call(b.Name, b.Arguments)
	case "tool_result":
		r.at(Assistant, when).result(plain(b.Content))
	case "image":
		if b.Source.Data != "" {
			r.at(role, when).picture(b.Source.MediaType, b.Source.Data)
		} else {
			r.at(role, when).picture(b.MimeType, b.Data)
		}
	case "input_image":
		r.at(role, when).dataURL(b.ImageURL)
	}
}

// machine reports whether a text under the user's name was written by the agent itself: about its surroundings, or what
// a command printed.
func machine(text string) bool {
	for _, tag := range []string{"<environment_context", "<user_instructions", "<permissions", "<system-reminder", "<command-name", "<command-message", "<local-command", "<turn_aborted"} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}
