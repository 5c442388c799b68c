package foreign

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func opencodeDatabase(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "opencode") && strings.HasSuffix(name, ".db")
}

// findOpencode lists the files of older versions, then the database: where both have a session, the database has more
// of it.
func findOpencode(p Places, is func(string) bool) (out []string, err error) {
	for _, folder := range p.dataFolders() {
		root := filepath.Join(folder, "opencode")
		older, err := files(filepath.Join(root, "storage", "session"), is)
		if err != nil {
			return nil, err
		}
		out = append(out, older...)
		entries, err := os.ReadDir(root)
		if err != nil {
			continue // it was never used
		}
		for _, e := range entries {
			if e.Type().IsRegular() && opencodeDatabase(e.Name()) {
				out = append(out, filepath.Join(root, e.Name()))
			}
		}
	}
	return out, nil
}

// opencodeMessage is a message, as a file of older versions and the column data of the database hold it.
type opencodeMessage struct {
	ID, Role, ModelID string
	Summary           json.RawMessage
	Time              struct{ Created int64 }
}

// digest reports whether a message was made by a compaction, to stand for those before it.
func (m opencodeMessage) digest() bool { return string(m.Summary) == "true" }

// opencodePart is a part of a message, in both forms.
type opencodePart struct {
	Type, Text, Tool, URL, CallID, ID string
	Synthetic, Ignored                bool
	State                             struct {
		Status, Output, Error string
		Input                 json.RawMessage
		Attachments           []struct{ Type, URL string }
	}
}

func (r *reading) opencodePart(p opencodePart, role string, when time.Time) {
	switch p.Type {
	case "text":
		if !p.Synthetic && !p.Ignored {
			r.at(role, when).say(p.Text)
		}
	case "reasoning":
		if p.Text != "" {
			m := r.at(role, when)
			m.Thinking = join(m.Thinking, p.Text)
		}
	case "tool":
		r.call(p.call(), p.Tool, p.State.Input, when)
	case "file":
		r.at(role, when).dataURL(p.URL)
	}
}

func (p opencodePart) call() string {
	if p.CallID != "" {
		return p.CallID
	}
	return p.ID
}

// opencodeResult adds the result of a call, which is part of it.
func (r *reading) opencodeResult(p opencodePart, when time.Time) {
	if p.Type != "tool" || p.State.Status == "pending" || p.State.Status == "running" {
		return
	}
	var shown Message
	for _, a := range p.State.Attachments {
		shown.dataURL(a.URL)
	}
	r.result(p.call(), p.State.Output+p.State.Error, p.State.Status == "error", shown.Pictures, when)
}

// opencodeMessage adds a message: its calls, then their results, since the calls of one answer belong together.
func (r *reading) opencodeMessage(m opencodeMessage, parts []opencodePart) {
	if m.Role != User && m.Role != Assistant || m.digest() {
		return
	}
	if m.ModelID != "" {
		r.Model = m.ModelID
	}
	when := time.UnixMilli(m.Time.Created)
	for _, p := range parts {
		r.opencodePart(p, m.Role, when)
	}
	for _, p := range parts {
		r.opencodeResult(p, when)
	}
}

// readOpencode reads a session of older versions: its file, the files of its messages in message/SESSION beside the folder of
// sessions, and those of their parts in part/MESSAGE.
func readOpencode(r *reading) {
	var s struct{ ID, Title, Directory, ParentID string }
	if err := whole(r.path, &s); err != nil {
		r.fault(0, "%v", err)
		return
	}
	if s.ParentID != "" || !plainName(s.ID) {
		return
	}
	r.ID, r.Title, r.Folder = s.ID, s.Title, s.Directory
	root := filepath.Dir(filepath.Dir(filepath.Dir(r.path)))
	var all []opencodeMessage
	for _, file := range r.below(filepath.Join(root, "message", s.ID)) {
		var m opencodeMessage
		if err := whole(file, &m); err != nil {
			r.faults = append(r.faults, Fault{File: file, Text: err.Error()})
			continue
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b opencodeMessage) int { return int(a.Time.Created - b.Time.Created) })
	for _, m := range all {
		if !plainName(m.ID) {
			continue
		}
		var parts []opencodePart
		for _, file := range r.below(filepath.Join(root, "part", m.ID)) {
			var p opencodePart
			if err := whole(file, &p); err != nil {
				r.faults = append(r.faults, Fault{File: file, Text: err.Error()})
				continue
			}
			parts = append(parts, p)
		}
		r.opencodeMessage(m, parts)
	}
}

// below lists the JSON files of a folder, by name.
func (r *reading) below(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // a session without messages
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".json") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// plainName reports whether an ID names a file in a folder, and nothing outside it.
func plainName(id string) bool { return id != "" && filepath.IsLocal(id) && filepath.Base(id) == id }

// opencodeSessions lists the sessions of a database, the last used one first; sub-agents have parents.
const opencodeSessions = `SELECT id, directory, title, coalesce(revert, ''), 0 FROM session
	WHERE coalesce(parent_id, '') = '' ORDER BY time_updated DESC, id DESC`

// readOpencodeSession reads the messages of a session of the database. What was reverted there is left out.
func (r *reading) readOpencodeSession(ctx context.Context, db *sql.DB, revert string) {
	var back struct{ MessageID string }
	if revert != "" && json.Unmarshal([]byte(revert), &back) != nil {
		r.fault(0, "session %s: what was reverted is not known", r.ID)
	}
	parts := map[string][]opencodePart{}
	r.rows(ctx, db, `SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY message_id, id`, func(row []string) error {
		p := opencodePart{ID: row[1]}
		if err := json.Unmarshal([]byte(row[2]), &p); err != nil {
			return err
		}
		parts[row[0]] = append(parts[row[0]], p)
		return nil
	})
	reverted := false
	r.rows(ctx, db, `SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id`, func(row []string) error {
		if reverted = reverted || back.MessageID == row[0]; reverted {
			return nil
		}
		var m opencodeMessage
		if err := json.Unmarshal([]byte(row[2]), &m); err != nil {
			return err
		}
		r.opencodeMessage(m, parts[row[0]])
		return nil
	})
}
