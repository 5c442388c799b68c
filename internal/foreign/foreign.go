// Package foreign reads the histories of other coding agents. It changes nothing there, and what can't be read is named
// with file and line and left out.
package foreign

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
)

// The limits of what is read of one session.
const (
	maxLine    = 32 << 20
	maxFile    = 512 << 20
	maxResult  = 8 << 10 // of a call's result, in bytes
	maxPicture = 10 << 20
)

// The roles of messages.
const (
	User      = "user"
	Assistant = "assistant"
)

// Picture is an image of a message.
type Picture struct {
	MIME string
	Data []byte
}

// Message is one message. Calls of tools are part of its text: the tools were those of another program.
type Message struct {
	Role, Text, Thinking string
	Pictures             []Picture
	Time                 time.Time
}

// Session is the history of one session.
type Session struct {
	Agent    string // a name of Agents
	ID       string // as its agent knows it
	File     string
	Title    string
	Folder   string // "" if it is not known
	Model    string
	Messages []Message
}

// Fault is something that could not be read.
type Fault struct {
	File string
	Line int // 0 for the file as a whole
	Text string
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// agent is one that is known: where its histories are below the home folder, and how a file is read.
type agent struct {
	name, title string
	folder      string
	is          func(path string) bool
	read        func(r *reading)
}

func agents() []agent {
	lines := func(path string) bool { return strings.HasSuffix(path, ".jsonl") }
	return []agent{
		{"claude", "Claude Code", ".claude/projects", func(p string) bool { return lines(p) && !strings.HasPrefix(filepath.Base(p), "agent-") }, readClaude},
		{"codex", "Codex", ".codex/sessions", lines, readCodex},
		{"gemini", "Gemini CLI", ".gemini/tmp", func(p string) bool {
			return strings.HasSuffix(p, ".json") && filepath.Base(filepath.Dir(p)) == "chats"
		}, readGemini},
		{"pi", "pi", ".pi/agent/sessions", lines, readPi},
		{"opencode", "opencode", ".local/share/opencode/storage/session", func(p string) bool { return strings.HasSuffix(p, ".json") }, readOpencode},
	}
}

// Agents returns the names of the agents whose histories can be read.
func Agents() []string {
	var names []string
	for _, a := range agents() {
		names = append(names, a.name)
	}
	return names
}

// Title returns an agent's own name.
func Title(name string) string {
	for _, a := range agents() {
		if a.name == name {
			return a.title
		}
	}
	return name
}

// Find lists the files of an agent's histories, the one changed last at the end.
func Find(home, name string) ([]string, error) {
	i := slices.IndexFunc(agents(), func(a agent) bool { return a.name == name })
	if i < 0 {
		return nil, fmt.Errorf("the histories of %q are not known: there are @%s", name, strings.Join(Agents(), ", @"))
	}
	return files(filepath.Join(home, filepath.FromSlash(agents()[i].folder)), agents()[i].is)
}

// files lists regular files below a folder; links are not followed.
func files(root string, is func(string) bool) ([]string, error) {
	type found struct {
		path string
		at   time.Time
	}
	var list []found
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !is(path) {
			return nil //nolint:nilerr // what can't be listed has no histories
		}
		if info, err := d.Info(); err == nil {
			list = append(list, found{path, info.ModTime()})
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b found) int { return a.at.Compare(b.at) })
	var out []string
	for _, f := range list {
		out = append(out, f.path)
	}
	return out, err
}

// In lists the files below a folder that any of the agents may have written.
func In(dir string) ([]string, error) {
	return files(dir, func(path string) bool {
		return slices.ContainsFunc(agents(), func(a agent) bool { return a.is(path) }) && guess(path) != ""
	})
}

// Read reads the history of a file. Without an agent's name the content tells it. ok is false if there is no message.
func Read(path, name string) (s Session, faults []Fault, ok bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return s, []Fault{{File: path, Text: err.Error()}}, false
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return s, []Fault{{File: path, Text: "is not read: it is no file, or has more than 512 MB"}}, false
	}
	if name == "" {
		name = guess(path)
	}
	i := slices.IndexFunc(agents(), func(a agent) bool { return a.name == name })
	if i < 0 {
		return s, []Fault{{File: path, Text: "is no history that is known here"}}, false
	}
	r := &reading{path: path, Session: Session{Agent: name, File: path}}
	agents()[i].read(r)
	if r.ID == "" {
		r.ID = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	r.Messages = slices.DeleteFunc(r.Messages, func(m Message) bool {
		return strings.TrimSpace(m.Text) == "" && m.Thinking == "" && len(m.Pictures) == 0
	})
	return r.Session, r.faults, len(r.Messages) > 0
}

// guess returns the agent that wrote a file, by its beginning.
func guess(path string) string {
	f, err := paths.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it is only read
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head) // a short one is whole
	head = head[:n]
	for _, sign := range []struct{ text, name string }{
		{`"session_meta"`, "codex"}, {`"projectHash"`, "gemini"}, {`"type":"session"`, "pi"}, {`"sessionId"`, "claude"}, {`"projectID"`, "opencode"}, {`"instructions"`, "codex"},
	} {
		if bytes.Contains(head, []byte(sign.text)) {
			return sign.name
		}
	}
	return ""
}

// reading is a session while its file is read.
type reading struct {
	Session
	path   string
	faults []Fault
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

// at returns the message of a role that is written now: the last one, or a new one after one of the other side.
func (r *reading) at(role string, when time.Time) *Message {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role && (role == Assistant || r.Messages[n-1].Time.Equal(when)) {
		return &r.Messages[n-1]
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

// call writes a call of a tool as text.
func (m *Message) call(name string, arguments any) {
	var text string
	switch a := arguments.(type) {
	case string:
		text = a
	case json.RawMessage:
		text = string(a)
	default:
		if raw, err := json.Marshal(arguments); err == nil {
			text = string(raw)
		}
	}
	m.say("[called " + name + ": " + cut(text) + "]")
}

// result writes the result of a call as text.
func (m *Message) result(text string) {
	if text = strings.TrimSpace(text); text != "" {
		m.say("[result: " + cut(text) + "]")
	}
}

func cut(s string) string {
	if len(s) <= maxResult {
		return strings.ToValidUTF8(s, "�")
	}
	return strings.ToValidUTF8(s[:maxResult], "") + fmt.Sprintf("… (%d bytes more)", len(s)-maxResult)
}

// picture adds an image that is written in base64.
func (m *Message) picture(mime, data string) {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime) || len(data) > maxPicture*4/3 {
		m.say("[a file of the type " + cut(mime) + "]")
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
