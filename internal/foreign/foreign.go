// Package foreign reads the histories of other coding agents. It changes nothing there, and what can't be read is named
// with file and line and left out.
package foreign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
)

// The limits of what is read of one session.
const (
	maxLine      = 32 << 20
	maxFile      = 512 << 20
	maxResult    = 8 << 10  // of a call that is text, and of its result, in bytes
	maxOurResult = 50 << 10 // of the result of a call that there is here too
	maxPicture   = 10 << 20
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

// Message is one message. A call of a tool that there isn't here is part of its text.
type Message struct {
	Role, Text, Thinking string
	Pictures             []Picture
	Calls                []Call
	Time                 time.Time
}

// Call is a call of a tool that there is here too, with the name and the arguments that it has here.
type Call struct {
	Name      string
	Arguments json.RawMessage
	Result    string
	Pictures  []Picture // of the result
	Done      bool      // it has a result
	Failed    bool
}

// Session is the history of one session.
type Session struct {
	Agent    string // a name of Agents, or jcode
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

// Places are where histories are looked for.
type Places struct {
	Home string
	Here []string            // folders of projects, for agents that keep histories there
	Env  func(string) string // an environment variable
}

// agent is one that is known: where its histories are, which files are some, and how one is read.
type agent struct {
	name, title string
	find        func(p Places, is func(path string) bool) ([]string, error)
	is          func(path string) bool
	read        func(r *reading)
}

func agents() []agent {
	lines := func(path string) bool { return strings.HasSuffix(path, ".jsonl") }
	return []agent{
		{"claude", "Claude Code", below("CLAUDE_CONFIG_DIR", ".claude", "projects"), func(p string) bool { return lines(p) && !strings.HasPrefix(filepath.Base(p), "agent-") }, readClaude},
		{"codex", "Codex", below("CODEX_HOME", ".codex", "sessions"), lines, readCodex},
		{"gemini", "Gemini CLI", below("", ".gemini", "tmp"), func(p string) bool {
			return (strings.HasSuffix(p, ".json") || lines(p)) && filepath.Base(filepath.Dir(p)) == "chats"
		}, readGemini},
		{"pi", "pi", below("PI_CODING_AGENT_DIR", ".pi/agent", "sessions"), lines, readPi},
		{"opencode", "opencode", findOpencode, func(p string) bool {
			return strings.HasSuffix(p, ".json") && filepath.Base(filepath.Dir(filepath.Dir(p))) == "session" || opencodeDatabase(p)
		}, readOpencode},
		{"crush", "crush", findCrush, func(p string) bool { return filepath.Base(p) == crushDatabase }, nil},
		{"jcode", "jcode", nil, func(p string) bool { return strings.HasSuffix(p, ".json") }, readJcode},
	}
}

// below finds the histories in a folder of an agent's own folder, which a variable may name.
func below(variable, own, folder string) func(Places, func(string) bool) ([]string, error) {
	return func(p Places, is func(string) bool) ([]string, error) {
		root := filepath.Join(p.Home, filepath.FromSlash(own))
		if named := p.env(variable); named != "" {
			root = named
		}
		return files(filepath.Join(root, folder), is)
	}
}

func (p Places) env(name string) string {
	if p.Env == nil || name == "" {
		return ""
	}
	return p.Env(name)
}

// dataFolders returns where programs keep their data, the usual folder first.
func (p Places) dataFolders() []string {
	usual := filepath.Join(p.Home, ".local", "share")
	if named := p.env("XDG_DATA_HOME"); named != "" {
		usual = named
	}
	if windows := p.env("LOCALAPPDATA"); windows != "" {
		return []string{usual, windows}
	}
	return []string{usual}
}

// Agents returns the names of the agents whose histories can be read.
func Agents() []string {
	var names []string
	for _, a := range agents() {
		if a.find != nil { // an export of jcode may be anywhere
			names = append(names, a.name)
		}
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
func Find(p Places, name string) ([]string, error) {
	i := slices.IndexFunc(agents(), func(a agent) bool { return a.name == name && a.find != nil })
	if i < 0 {
		return nil, fmt.Errorf("the histories of %q are not known: there are @%s", name, strings.Join(Agents(), ", @"))
	}
	return agents()[i].find(p, agents()[i].is)
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

// Read reads the sessions of a file, with what could not be read of each; those of a database come the last used one
// first. Without an agent's name the content tells it. A session without messages only has faults.
func Read(ctx context.Context, path, name string) iter.Seq2[Session, []Fault] {
	return func(yield func(Session, []Fault) bool) {
		bad := func(text string) { yield(Session{File: path}, []Fault{{File: path, Text: text}}) }
		info, err := os.Stat(path)
		switch {
		case err != nil:
			bad(err.Error())
			return
		case !info.Mode().IsRegular() || info.Size() > maxFile:
			bad("is not read: it is no file, or has more than 512 MB")
			return
		}
		kind := guess(path)
		if kind == database {
			readDatabase(ctx, path, yield)
			return
		}
		if name == "" {
			name = kind
		}
		i := slices.IndexFunc(agents(), func(a agent) bool { return a.name == name && a.read != nil })
		if i < 0 {
			bad("is no history that is known here")
			return
		}
		r := newReading(name, path)
		agents()[i].read(r)
		if r.ID == "" {
			r.ID = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		yield(r.end())
	}
}

// guess returns the agent that wrote a file, by its beginning; or database.
func guess(path string) string {
	f, err := paths.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it is only read
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head) // a short one is whole
	head = head[:n]
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return database
	}
	if bytes.HasPrefix(head, []byte("{\n  \"version\": 1,\n  \"session\": {")) {
		return "jcode"
	}
	for _, sign := range []struct{ text, name string }{
		{`"session_meta"`, "codex"}, {`"projectHash"`, "gemini"}, {`"type":"session"`, "pi"}, {`"sessionId"`, "claude"}, {`"projectID"`, "opencode"}, {`"instructions"`, "codex"},
	} {
		if bytes.Contains(head, []byte(sign.text)) {
			return sign.name
		}
	}
	return ""
}
