package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/internal/toolcard"
	"jcode/session"
	"jcode/tools"
)

// reads knows what conversations have read that others wrote: pages, results of servers, files outside of the
// project. Whatever such a text says, it must not teach the agent for later sessions unseen.
type reads struct {
	mu sync.Mutex
	// list has what was read by session of a main conversation.
	list map[string][]read
}

// read is something that was read, in a turn; 0 is an earlier run.
type read struct {
	turn int
	what string
}

// mostReads bounds what is kept of a session.
const mostReads = 200

func (r *reads) add(id string, turn int, what string) {
	if id == "" || what == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list == nil {
		r.list = map[string][]read{}
	}
	if it := (read{turn, what}); !slices.Contains(r.list[id], it) {
		r.list[id] = append(r.list[id][max(0, len(r.list[id])-mostReads):], it)
	}
}

// of returns what was read in a turn, and before it.
func (r *reads) of(id string, turn int) (now, before []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, it := range r.list[id] {
		if it.turn == turn {
			now = append(now, it.what)
		} else {
			before = append(before, it.what)
		}
	}
	return now, before
}

// listed names the last of what was read.
func listed(list []string) string {
	const most = 4
	out := strings.Join(list[max(0, len(list)-most):], ", ")
	if more := len(list) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// Read records that the open conversation has read something that others wrote, in its current turn.
func (m *Memory) Read(what string) {
	if conv := m.opts.Open(); conv != nil {
		m.mu.Lock()
		turn := m.turn
		m.mu.Unlock()
		m.reads.add(conv.ID(), turn, text.Ellipsis(text.OneLine(what), 120))
	}
}

// BeforeCall implements tools.Hook and changes nothing.
func (m *Memory) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook: it sees what a call has read, and what the model wrote in it.
func (m *Memory) AfterCall(call tools.Call, out tools.Outcome) {
	if call.Caller.Session == "" || call.Caller.Origin == tools.OriginPerson {
		return
	}
	m.uses.wrote(string(call.Arguments))
	if !out.Ran {
		return
	}
	m.mu.Lock()
	turn := m.turn
	m.mu.Unlock()
	m.reads.add(root(call.Caller), turn, m.foreign(call, out.Result))
}

// foreign says what of others' texts a call has read, "" for nothing.
func (m *Memory) foreign(call tools.Call, res tools.Result) string {
	if what := m.ofTool(call.Name); what != "" {
		return what
	}
	for _, a := range call.Plan.Accesses {
		switch a.Kind {
		case tools.AccessFetch:
			return page(a.URL)
		case tools.AccessMCP:
			return "the MCP tool " + text.OneLine(a.Target)
		case tools.AccessRead:
			if what := m.ofFile(a.Path); what != "" {
				return what
			}
		case tools.AccessExec:
			line := a.Command
			if line == "" {
				line = strings.Join(a.Argv, " ")
			}
			if what := m.ofCommand(line); what != "" {
				return what
			}
		case tools.AccessWrite, tools.AccessDelete, tools.AccessConnect, tools.AccessLua:
		}
	}
	return m.ofHits(res)
}

// ofTool judges a tool by its name.
func (m *Memory) ofTool(name string) string {
	switch {
	case strings.HasPrefix(name, "mcp:"):
		return "the MCP tool " + strings.TrimPrefix(name, "mcp:")
	case m.opts.Foreign != nil:
		return m.opts.Foreign(name)
	}
	return ""
}

// page names a page without what may be secret in its address.
func page(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "a page of the web"
	}
	return "the page " + text.Ellipsis(text.OneLine(u.Host+u.Path), 100)
}

// ofFile judges a file by its resolved path.
func (m *Memory) ofFile(path string) string {
	switch {
	case !m.opts.Inside(path):
		return "the file " + paths.Escape(path) + " outside of the project"
	case !m.opts.Trusted():
		return "files of this project, which is not trusted"
	}
	return ""
}

// fetchers are programs that show what others wrote elsewhere.
const fetchers = ` curl wget gh glab hub tea http https httpie xh lynx w3m links elinks aria2c ftp sftp scp ssh rsync nc ncat netcat telnet lftp `

// ofCommand judges a command line by its words: programs that reach elsewhere, addresses, files outside.
func (m *Memory) ofCommand(line string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n\r;|&()<>\"'`$={},", r) })
	for _, w := range words {
		name := filepath.Base(w)
		switch {
		case strings.Contains(w, "://"):
			return page(w)
		case strings.Contains(fetchers, " "+name+" "):
			return "what the command " + name + " printed"
		case strings.HasPrefix(w, "~/") || filepath.IsAbs(w):
			if !m.program(w) && !m.opts.Inside(paths.Real(w)) {
				return "the file " + paths.Escape(w) + " outside of the project"
			}
		}
	}
	if !m.opts.Trusted() {
		return "files of this project, which is not trusted"
	}
	return ""
}

// program reports whether a path in a command line is that of a program, a device or a passing file of the agent's own.
func (m *Memory) program(path string) bool {
	for _, dir := range []string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/dev/", os.TempDir() + string(filepath.Separator)} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return path == "/" || path == os.TempDir()
}

// ofHits judges what a search of documents found: pages, and files outside.
func (m *Memory) ofHits(res tools.Result) string {
	raw, err := json.Marshal(res.Data)
	if err != nil || res.Data == nil {
		return ""
	}
	var data struct {
		Hits []struct {
			Path string `json:"path"`
		} `json:"hits"`
	}
	if json.Unmarshal(raw, &data) != nil {
		return ""
	}
	for _, h := range data.Hits {
		switch {
		case paths.IsAddress(h.Path):
			return page(h.Path)
		case filepath.IsAbs(h.Path) && !m.opts.Inside(h.Path):
			return "the document " + paths.Escape(h.Path) + " outside of the project"
		}
	}
	return ""
}

// restore finds in a stored history what an earlier run has read.
func (m *Memory) restore(id string, rows []session.Message) {
	for _, row := range rows {
		for _, c := range row.Calls {
			if c.Status == session.StatusDenied {
				continue
			}
			m.reads.add(id, 0, m.stored(c))
		}
	}
}

// stored judges a stored call by its arguments.
func (m *Memory) stored(c session.Call) string {
	if what := m.ofTool(c.Name); what != "" {
		return what
	}
	var args struct {
		Command string `json:"cmd"`
		Path    string `json:"path"`
		Dir     string `json:"dir"`
		URL     string `json:"url"`
	}
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return ""
	}
	switch card := toolcard.Of(c.Name); {
	case args.URL != "":
		return page(args.URL)
	case card.Kind == toolcard.Execute:
		return m.ofCommand(args.Command)
	case card.Kind == toolcard.Read || card.Kind == toolcard.Search:
		for _, path := range []string{args.Path, args.Dir} {
			if filepath.IsAbs(path) && !m.opts.Inside(paths.Real(path)) {
				return "the file " + paths.Escape(path) + " outside of the project"
			}
		}
	}
	return ""
}
