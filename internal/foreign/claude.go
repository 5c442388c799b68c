package foreign

import (
	"encoding/json"
	"strings"
	"time"
)

// claudeLine is a line of Claude Code: an entry of the conversation, or something about it.
type claudeLine struct {
	Type, SessionID, Cwd, Summary string
	CustomTitle, AITitle          string
	UUID, ParentUUID              string
	Logical                       string `json:"logicalParentUuid"` // before a compaction
	Source                        string `json:"sourceToolAssistantUUID"`
	Timestamp                     time.Time
	Sidechain                     bool `json:"isSidechain"`
	Meta                          bool `json:"isMeta"`
	Digest                        bool `json:"isCompactSummary"`
	Message                       struct {
		ID, Role, Model string
		Content         json.RawMessage
	}
}

func (l claudeLine) said() bool {
	return !l.Sidechain && !l.Meta && !l.Digest && (l.Type == User || l.Type == Assistant)
}

// readClaude reads a file of Claude Code: an object a line, of which those of the types user and assistant are messages.
// They form a tree; the branch of the last one counts.
func readClaude(r *reading) {
	var all []claudeLine
	var titles [3]string // by the user, by a model, of old versions
	r.lines(func(raw []byte) error {
		var l claudeLine
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		if l.Cwd != "" && r.Folder == "" {
			r.Folder = l.Cwd
		}
		for i, title := range []string{l.CustomTitle, l.AITitle, l.Summary} {
			if title != "" && (i < 2 || l.Type == "summary") {
				titles[i] = title
			}
		}
		if l.UUID != "" || l.said() {
			all = append(all, l)
		}
		return nil
	})
	for _, title := range titles {
		if r.Title == "" {
			r.Title = title
		}
	}
	used := claudeBranch(all)
	for i, l := range all {
		if !l.said() || !used[i] {
			continue
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
	}
}

// claudeBranch says which lines belong to the branch of the last one. The parts of one answer are lines of their own,
// each the parent of the next, and the results of their calls hang on them: all of an answer counts where a part does.
func claudeBranch(all []claudeLine) (used []bool) {
	used = make([]bool, len(all))
	at := map[string]int{}
	for i, l := range all {
		at[l.UUID] = i
		used[i] = l.UUID == "" // of a version without a tree
	}
	i := len(all) - 1
	for i >= 0 && (!all[i].said() || all[i].UUID == "") {
		i--
	}
	answers := map[string]bool{}
	for i >= 0 && !used[i] {
		used[i] = true
		if id := all[i].Message.ID; id != "" {
			answers[id] = true
		}
		parent := all[i].ParentUUID
		if parent == "" {
			parent = all[i].Logical
		}
		if parent == "" {
			break
		}
		next, known := at[parent]
		if !known { // its line is not readable: what is before it counts
			for j := range i {
				used[j] = true
			}
			break
		}
		i = next
	}
	for i, l := range all {
		source, known := at[l.Source]
		if answers[l.Message.ID] || l.Source != "" && known && answers[all[source].Message.ID] {
			used[i] = true
		}
	}
	return used
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
		if b.Thinking != "" {
			m := r.at(Assistant, when)
			m.Thinking = join(m.Thinking, b.Thinking)
		}
	case "tool_use":
		r.call(b.ID, b.Name, b.Input, when)
	case "toolCall":
		r.call(b.ID, b.Name, b.Arguments, when)
	case "tool_result":
		r.result(b.ToolUse, plain(b.Content), b.IsError, pictures(b.Content), when)
	case "image", "input_image":
		r.at(role, when).pictureOf(b)
	}
}

// pictureOf adds the image of a block.
func (m *Message) pictureOf(b block) {
	switch {
	case b.Source.Data != "":
		m.picture(b.Source.MediaType, b.Source.Data)
	case b.Data != "":
		m.picture(b.MimeType, b.Data)
	case b.ImageURL != "":
		m.dataURL(b.ImageURL)
	}
}

// pictures returns the images of a result's content.
func pictures(content json.RawMessage) []Picture {
	var m Message
	for _, b := range blocks(content) {
		m.pictureOf(b)
	}
	return m.Pictures
}

// machine reports whether a text under the user's name was written by the agent itself: about its surroundings, or what
// a command printed.
func machine(text string) bool {
	for _, tag := range []string{"<environment_context", "<user_instructions", "<permissions", "<system-reminder", "<command-name", "<command-message", "<local-command", "<turn_aborted", "<session_context"} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}
