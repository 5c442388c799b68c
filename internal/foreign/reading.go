package foreign

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
)

// reading is a session while its file is read.
type reading struct {
	Session
	path   string
	faults []Fault
	calls  map[string]made
}

func newReading(agent, path string) *reading {
	return &reading{path: path, Session: Session{Agent: agent, File: path}, calls: map[string]made{}}
}

// end returns what was read.
func (r *reading) end() (Session, []Fault) {
	r.Messages = slices.DeleteFunc(r.Messages, func(m Message) bool {
		return strings.TrimSpace(m.Text) == "" && m.Thinking == "" && len(m.Pictures) == 0 && len(m.Calls) == 0
	})
	return r.Session, r.faults
}

func (r *reading) fault(line int, format string, args ...any) {
	if len(r.faults) < 20 {
		r.faults = append(r.faults, Fault{r.path, line, fmt.Sprintf(format, args...)})
	}
}

// lines calls take with each line that is a JSON object.
func (r *reading) lines(take func(line []byte) error) {
	f, err := paths.Open(r.path)
	if err != nil {
		r.fault(0, "%v", err)
		return
	}
	defer func() { _ = f.Close() }() // it is only read
	in := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		line, long, err := nextLine(in)
		switch {
		case long:
			r.fault(n, "is left out: it has more than %d MB", maxLine>>20)
		case len(bytes.TrimSpace(line)) > 0:
			if err := take(line); err != nil {
				r.fault(n, "is left out: %v", err)
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.fault(n, "%v", err)
			}
			return
		}
	}
}

// nextLine reads a line; of one that is too long nothing is returned.
func nextLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// whole reads a file that is one JSON value.
func whole(path string, into any) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLine {
		return errors.New("is no file, or too large")
	}
	data, err := paths.ReadFile(path, maxLine)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// at returns the message of a role that is written now: the last one, or a new one after one of the other side, and
// after the result of a call.
func (r *reading) at(role string, when time.Time) *Message {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		last := &r.Messages[n-1]
		answered := slices.ContainsFunc(last.Calls, func(c Call) bool { return c.Done })
		if role == Assistant && !answered || role == User && last.Time.Equal(when) {
			return last
		}
	}
	r.Messages = append(r.Messages, Message{Role: role, Time: when})
	return &r.Messages[len(r.Messages)-1]
}

func (m *Message) say(text string) { m.Text = join(m.Text, text) }

func join(a, b string) string {
	if b = strings.TrimSpace(b); a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// made is where a call is: a message, and its place in the calls of it, -1 if it is text.
type made struct{ message, call int }

// call writes a call of a tool: as one of a tool of this program, if that means the same, or as text. id is what its
// result names.
func (r *reading) call(id, name string, arguments json.RawMessage, when time.Time) {
	m := r.at(Assistant, when)
	place := made{len(r.Messages) - 1, -1}
	if ours, converted, ok := translate(name, arguments); ok {
		m.Calls = append(m.Calls, Call{Name: ours, Arguments: converted})
		place.call = len(m.Calls) - 1
	} else {
		m.say("[called " + name + ": " + cut(asText(arguments), maxResult) + "]")
	}
	if id != "" {
		r.calls[id] = place
	}
}

// asText returns arguments as they are shown.
func asText(arguments json.RawMessage) string {
	var text string
	if json.Unmarshal(arguments, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, arguments) == nil {
		return b.String()
	}
	return string(arguments)
}

// result writes the result of a call. Without the call it is text of the agent.
func (r *reading) result(id, text string, failed bool, pictures []Picture, when time.Time) {
	text = strings.TrimSpace(text)
	place, known := r.calls[id]
	switch {
	case known && place.call >= 0:
		c := &r.Messages[place.message].Calls[place.call]
		c.Result, c.Pictures, c.Done, c.Failed = cut(text, maxOurResult), pictures, true, failed
	case text == "" && len(pictures) == 0:
	default:
		m := r.at(Assistant, when)
		if known {
			m = &r.Messages[place.message]
		}
		if text != "" {
			m.say("[result: " + cut(text, maxResult) + "]")
		}
		m.Pictures = append(m.Pictures, pictures...)
	}
}

func cut(s string, most int) string {
	if len(s) <= most {
		return strings.ToValidUTF8(s, "�")
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("… (%d bytes more)", len(s)-most)
}

// picture adds an image that is written in base64.
func (m *Message) picture(mime, data string) {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime) || len(data) > maxPicture*4/3 {
		m.say("[a file of the type " + cut(mime, 200) + "]")
		return
	}
	if raw, err := base64.StdEncoding.DecodeString(data); err == nil {
		m.Pictures = append(m.Pictures, Picture{mime, raw})
	}
}

// dataURL adds an image of a data: address.
func (m *Message) dataURL(address string) {
	head, data, ok := strings.Cut(strings.TrimPrefix(address, "data:"), ";base64,")
	if ok && strings.HasPrefix(address, "data:") {
		m.picture(head, data)
	}
}

// block is a part of a message's content, in any of the formats.
type block struct {
	Type, Text, Thinking, Name, ID string
	Input, Arguments, Content      json.RawMessage
	Source                         struct {
		MediaType string `json:"media_type"`
		Data      string
	}
	ImageURL string `json:"image_url"`
	MimeType string `json:"mimeType"`
	Data     string
	ToolUse  string `json:"tool_use_id"`
	IsError  bool   `json:"is_error"`
}

// blocks reads content that is a text or a list of parts.
func blocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// plain returns the text of content, for a result.
func plain(raw json.RawMessage) string {
	var b strings.Builder
	for _, p := range blocks(raw) {
		b.WriteString(p.Text)
	}
	if b.Len() == 0 && len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return b.String()
}
