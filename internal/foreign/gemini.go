package foreign

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
)

// geminiFile is what is said of a session as a whole: in the first line, in changes of it, and in the one object of an
// older file.
type geminiFile struct {
	SessionID, Summary, Kind string
	Directories              []string
	Messages                 []geminiMessage
}

type geminiMessage struct {
	ID, Type, Model string
	Timestamp       time.Time
	Content         json.RawMessage
	Thoughts        []struct{ Subject, Description string }
	ToolCalls       []struct {
		ID, Name, Status string
		Args             json.RawMessage
		Result           json.RawMessage
	}
}

// geminiLine is a line of a file: a message, which replaces the one of the same ID, a change of what is said of all, or
// a return to before a message.
type geminiLine struct {
	geminiMessage
	geminiFile
	Set      *geminiFile `json:"$set"`
	RewindTo *string     `json:"$rewindTo"`
}

// readGemini reads a file of Gemini CLI: lines of changes, or one object with all messages as older versions write it.
func readGemini(r *reading) {
	var f geminiFile
	if strings.HasSuffix(r.path, ".jsonl") {
		r.lines(f.change)
	} else if err := whole(r.path, &f); err != nil {
		r.fault(0, "%v", err)
		return
	}
	if f.Kind == "subagent" {
		return
	}
	r.ID, r.Title = f.SessionID, f.Summary
	// The folder is named beside the folder of histories; older versions have it in the file or not at all.
	if root, err := paths.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(r.path)), ".project_root"), 4096); err == nil {
		r.Folder = strings.TrimSpace(string(root))
	} else if len(f.Directories) > 0 {
		r.Folder = f.Directories[0]
	}
	for _, m := range f.Messages {
		role := map[string]string{"user": User, "gemini": Assistant}[m.Type]
		if role == "" {
			continue
		}
		if m.Model != "" {
			r.Model = m.Model
		}
		for _, t := range m.Thoughts {
			msg := r.at(role, m.Timestamp)
			msg.Thinking = join(msg.Thinking, join(t.Subject, t.Description))
		}
		for _, b := range geminiParts(m.Content) {
			r.block(b, role, m.Timestamp)
		}
		for _, c := range m.ToolCalls {
			r.call(c.ID, c.Name, c.Args, m.Timestamp)
		}
		for _, c := range m.ToolCalls {
			if text, ok := geminiResult(c.Result); ok || c.Status == "error" || c.Status == "cancelled" {
				r.result(c.ID, text, c.Status != "success", nil, m.Timestamp)
			}
		}
	}
}

// change takes a line into what is known so far.
func (f *geminiFile) change(raw []byte) error {
	var l geminiLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	switch {
	case l.RewindTo != nil:
		at := slices.IndexFunc(f.Messages, func(m geminiMessage) bool { return m.ID == *l.RewindTo })
		f.Messages = f.Messages[:max(at, 0)]
	case l.Set != nil:
		f.take(*l.Set)
	case l.ID != "":
		if at := slices.IndexFunc(f.Messages, func(m geminiMessage) bool { return m.ID == l.ID }); at >= 0 {
			f.Messages[at] = l.geminiMessage
		} else {
			f.Messages = append(f.Messages, l.geminiMessage)
		}
	default:
		f.take(l.geminiFile)
	}
	return nil
}

func (f *geminiFile) take(from geminiFile) {
	for _, p := range []struct{ to, from *string }{{&f.SessionID, &from.SessionID}, {&f.Summary, &from.Summary}, {&f.Kind, &from.Kind}} {
		if *p.from != "" {
			*p.to = *p.from
		}
	}
	if from.Directories != nil {
		f.Directories = from.Directories
	}
	if from.Messages != nil {
		f.Messages = from.Messages
	}
}

// geminiParts reads content that is a text or parts of its own form.
func geminiParts(raw json.RawMessage) (out []block) {
	var parts []struct {
		Text       string
		InlineData struct{ MimeType, Data string }
	}
	if json.Unmarshal(raw, &parts) != nil {
		return blocks(raw)
	}
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, block{Type: "text", Text: p.Text})
		}
		if p.InlineData.Data != "" {
			out = append(out, block{Type: "image", MimeType: p.InlineData.MimeType, Data: p.InlineData.Data})
		}
	}
	return out
}

// geminiResult returns the text of a call's result. ok is false if there is none.
func geminiResult(raw json.RawMessage) (text string, ok bool) {
	var parts []struct {
		Text             string
		FunctionResponse struct{ Response json.RawMessage }
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		var out struct{ Output, Error string }
		switch err := json.Unmarshal(p.FunctionResponse.Response, &out); {
		case err == nil && out.Output+out.Error != "":
			text += out.Output + out.Error
		default:
			text += p.Text + string(p.FunctionResponse.Response)
		}
	}
	return text, len(parts) > 0
}
